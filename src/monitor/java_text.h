// SPDX-License-Identifier: Apache-2.0
//
// Numbers and dates as Java prints them, because existing parsers were written for Java's text.
#pragma once

#include <string>

#include "base/time.h"

namespace drover::server {

// Double.toString(): "0.0", "0.9145", "5.0E-4", "1.0E7".
std::string java_double(double value);

// Date.toString() in UTC: "Sun Nov 15 08:23:38 UTC 2026".
std::string java_date(WallTime time);

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// Which version the server says it is.
#pragma once

#include "drover/version.h"

namespace drover::server {

using drover::kFullVersion;
using drover::kVersion;

}  // namespace drover::server

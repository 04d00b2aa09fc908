// SPDX-License-Identifier: Apache-2.0
//
// A new connection on a port that can serve both HTTP and HTTPS: its first bytes show which.
#pragma once

#include "http/connection.h"

namespace drover::server {

void start_http(HttpAccepted accepted, const HttpPortParts& port);

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// Allowed `Host` headers (defence against DNS rebinding). The only list, for every path that has secrets.
//
// With DNS rebinding an attacker makes the host name of a web page point to this server. For a browser the
// page and the server then have the same origin, and the page can send every request that this machine's user
// can. So host names that are not configured are rejected.
#pragma once

#include <string_view>

#include "config/config.h"

namespace drover::server {

// The `Host` header, with or without a port. A missing header is accepted: browsers always send one.
bool is_our_host(std::string_view host_header, const ServerConfig& config);

}  // namespace drover::server

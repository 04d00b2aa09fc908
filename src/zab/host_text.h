// SPDX-License-Identifier: Apache-2.0
//
// Hosts as they are written in a membership: names, IPv4 and IPv6 addresses. Nothing is resolved.
#pragma once

#include <string>
#include <string_view>

namespace drover::zab {

// The form that Java prints: an IPv6 address is written in full ("::1" becomes "0:0:0:0:0:0:0:1"), one that
// maps an IPv4 address becomes that address. Everything else stays as it is.
std::string java_host_text(std::string_view host);

// True for wildcard and loopback addresses, which mean another machine to each reader. (Of the names, only
// "localhost" is known to be one.)
bool is_local_host(std::string_view host);

}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
//
// Groups addresses by client, for limits that count connections or sessions per address.
#pragma once

#include <string_view>

namespace drover {

// A host with an IPv6 address usually owns the whole /64 network (2^64 addresses), so one client is one /64
// network. `address` is text as servers print it, without "::" and without a port. An address that is not
// IPv6 is returned unchanged.
inline std::string_view client_network(std::string_view address) {
  std::size_t end = 0;
  for (int groups = 0; groups < 4; ++groups) {
    end = address.find(':', end);
    if (end == std::string_view::npos) return address;
    ++end;
  }
  return address.substr(0, end);
}

}  // namespace drover

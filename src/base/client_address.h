// SPDX-License-Identifier: Apache-2.0
//
// Which addresses are one client, where connections or sessions are counted by address.
#pragma once

#include <string_view>

namespace drover {

// Whoever has an IPv6 address usually has the 2^64 beside it too: one client is one network of 64 bits. The
// address is in text as servers print it, without "::" and port; what is no IPv6 address is itself.
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

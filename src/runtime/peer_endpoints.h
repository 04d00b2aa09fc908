// SPDX-License-Identifier: Apache-2.0
//
// The addresses of a member, as the sockets take them.
#pragma once

#include <vector>

#include "net/resolver.h"
#include "zab/membership.h"

namespace drover::server {

inline std::vector<net::Endpoint> endpoints(const std::vector<zab::PeerAddress>& addresses,
                                            std::uint16_t zab::PeerAddress::* port) {
  std::vector<net::Endpoint> all;
  for (const zab::PeerAddress& address : addresses) all.push_back({address.host, address.*port});
  return all;
}

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// Which clients move when the list of servers changes (ZOOKEEPER-1355, as in the C and Java clients)?
//
// If every client stayed, new servers would stay idle; if every client reconnected, all would reach the same
// few servers at once. So each client decides by chance. If clients were even over the old list, they are
// even over the new list afterwards, on average, and no more of them move than necessary.
//
// Example: three servers with 100 clients each, and two are added. Each client leaves with probability
// 1 - 3/5 and goes to one of the two: 60 stay at each old server, and each new one gets 60.
#pragma once

#include <cstddef>

namespace drover::client {

struct ListChange {
  std::size_t before = 0;  // servers of the old list
  std::size_t kept = 0;    // of the new list, those that were in the old one
  std::size_t added = 0;   // the others
  bool current_kept = false;
};

// The chance that the client leaves its server.
double chance_to_leave(const ListChange& change);
// For a client that leaves: the chance that it tries an added server next, rather than a kept one.
double chance_of_added(const ListChange& change);

}  // namespace drover::client

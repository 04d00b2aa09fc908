// SPDX-License-Identifier: Apache-2.0
//
// A membership as servers send it to each other: the text of /zookeeper/config.
//
//   server.1=10.0.0.1:2888:3888:participant;0.0.0.0:2181
//   server.2=10.0.0.2:2888:3888:observer;0.0.0.0:2181
//   group.1=1:2    weight.1=3      (hierarchical quorums only)
//   version=100000004              (hexadecimal: the zxid of the reconfig that made it; 0: from a file)
//
// Reads only what decides elections and quorums. Addresses are ignored: two files may name one server in two
// ways.
#pragma once

#include <optional>
#include <string_view>

#include "zab/membership.h"

namespace drover::zab {

// nullopt if the text names no server, or is no membership.
std::optional<Membership> parse_membership(std::string_view text);

// The same servers vote, with the same weights, and the same servers observe.
bool is_same_membership(const Membership& a, const Membership& b);

}  // namespace drover::zab

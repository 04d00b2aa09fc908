// SPDX-License-Identifier: Apache-2.0
//
// Which servers vote, with what weight, and which sets of servers form a quorum.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"

namespace drover::zab {

using ServerSet = std::set<ServerId>;

// One committed membership. Without groups a majority decides; with groups, a majority of the groups in
// each of which a majority of the weight agrees (ZooKeeper's hierarchical quorums).
struct Membership {
  ServerSet voters;
  ServerSet observers;
  std::map<std::int64_t, std::vector<ServerId>> groups;  // empty: majority
  std::map<ServerId, std::int64_t> weights;              // a voter not listed weighs 1
  std::int64_t version = 0;
  std::string text;  // ZooKeeper's canonical text of it: sent to others, never parsed here

  bool is_voter(ServerId server) const { return voters.contains(server); }
  bool is_member(ServerId server) const { return is_voter(server) || observers.contains(server); }
  // Without groups every voter weighs 1. A server that does not vote weighs nothing, unless `weights` lists
  // it: then it makes its group heavier, and as in Java it has no vote of its own to make up for that.
  std::int64_t weight_of(ServerId server) const;
  // Counts only the voters in the set.
  bool is_quorum(const ServerSet& servers) const;
};

}  // namespace drover::zab

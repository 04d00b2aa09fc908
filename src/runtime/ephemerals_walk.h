// SPDX-License-Identifier: Apache-2.0
//
// Going through ephemeral nodes by their owners without keeping writers away for long.
//
// A session may own a million nodes, and the index of them cannot be walked while the tree changes. So the
// nodes' numbers are copied, which is quick, and the nodes are looked at in steps, with the lock given back
// and a rest between two. A node that has gone meanwhile is left out, also when another one has its number.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "runtime/tree_lock.h"
#include "state/machine.h"

namespace drover::server {

struct TreeReader {
  const state::Machine& machine;
  TreeLock& lock;
  std::size_t slot;
};

struct OwnedNode {
  SessionId owner{};
  state::NodeRef node{};
};

inline constexpr std::size_t kEphemeralsPerStep = 500;

std::vector<SessionId> owners_of_ephemerals(const TreeReader& tree);
// Those of the owners, `most` at the most.
std::vector<OwnedNode> ephemerals_of(const TreeReader& tree, std::span<const SessionId> owners,
                                     std::size_t most);

// Without a rest this thread would have the lock again before a waiting writer has woken up.
inline void rest_between_steps() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

// Of the nodes those that are still there and their owner's. The tree is being read.
std::vector<state::NodeRef> still_owned(const state::Tree& tree, std::span<const OwnedNode> nodes);

// visit(std::span<const state::NodeRef>) sees a step's nodes while the tree is being read; false ends it.
template <class Visit>
void visit_in_steps(const TreeReader& tree, std::span<const OwnedNode> nodes, Visit visit) {
  while (!nodes.empty()) {
    const auto step = nodes.first(std::min(kEphemeralsPerStep, nodes.size()));
    nodes = nodes.subspan(step.size());
    {
      TreeLock::Reading reading(tree.lock, tree.slot);
      const std::vector<state::NodeRef> there = still_owned(tree.machine.tree, step);
      if (!visit(std::span(there))) return;
    }
    if (!nodes.empty()) rest_between_steps();
  }
}

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// Walks ephemeral nodes by owner without blocking writers for long.
//
// A session can own a million nodes, and their index cannot be walked while the tree changes. So the node
// numbers are copied, which is quick. Then the nodes are read in steps; between steps the lock is released
// and the thread pauses. A node that is deleted meanwhile is skipped, also if another node has its number
// now.
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
};

struct OwnedNode {
  SessionId owner{};
  state::NodeRef node{};
};

inline constexpr std::size_t kEphemeralsPerStep = 500;

std::vector<SessionId> owners_of_ephemerals(const TreeReader& tree);
// Returns at most `most` ephemeral nodes of the owners.
std::vector<OwnedNode> ephemerals_of(const TreeReader& tree, std::span<const SessionId> owners,
                                     std::size_t most);

// Without a pause this thread would take the lock again before a waiting writer wakes up.
inline void rest_between_steps() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

// Returns the nodes that still exist and still belong to their owner. The caller holds the tree's lock for
// reading.
std::vector<state::NodeRef> still_owned(const state::Tree& tree, std::span<const OwnedNode> nodes);

// Calls visit(std::span<const state::NodeRef>) for the nodes of each step under the reader lock; false ends
// the walk.
template <class Visit>
void visit_in_steps(const TreeReader& tree, std::span<const OwnedNode> nodes, Visit visit) {
  while (!nodes.empty()) {
    const auto step = nodes.first(std::min(kEphemeralsPerStep, nodes.size()));
    nodes = nodes.subspan(step.size());
    {
      TreeLock::Reading reading(tree.lock, TreeSlot::kHttp);
      const std::vector<state::NodeRef> there = still_owned(tree.machine.tree, step);
      if (!visit(std::span(there))) return;
    }
    if (!nodes.empty()) rest_between_steps();
  }
}

}  // namespace drover::server

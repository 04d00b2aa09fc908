// SPDX-License-Identifier: Apache-2.0
#include "runtime/ephemerals_walk.h"

namespace drover::server {
namespace {

// Copying a number takes a few nanoseconds, looking up an owner a little more.
constexpr std::size_t kOwnersPerStep = 2'000;
constexpr std::size_t kCopiedPerStep = 20'000;

std::size_t ephemeral_count(const TreeReader& tree) {
  TreeLock::Reading reading(tree.lock, TreeSlot::kHttp);
  return tree.machine.tree.ephemeral_count();
}

}  // namespace

std::vector<SessionId> owners_of_ephemerals(const TreeReader& tree) {
  std::vector<SessionId> owners;
  TreeLock::Reading reading(tree.lock, TreeSlot::kHttp);
  owners.reserve(tree.machine.tree.ephemerals().size());
  for (const auto& [session, nodes] : tree.machine.tree.ephemerals()) owners.push_back(session);
  return owners;
}

std::vector<OwnedNode> ephemerals_of(const TreeReader& tree, std::span<const SessionId> owners,
                                     std::size_t most) {
  std::vector<OwnedNode> out;
  out.reserve(std::min(most, ephemeral_count(tree)));  // so that it does not grow under the lock
  for (std::size_t next = 0; next < owners.size() && out.size() < most;) {
    if (next > 0) rest_between_steps();
    TreeLock::Reading reading(tree.lock, TreeSlot::kHttp);
    const std::size_t last = std::min(owners.size(), next + kOwnersPerStep);
    const std::size_t enough = out.size() + kCopiedPerStep;
    for (; next < last && out.size() < enough; ++next) {
      const state::NodeSet* owned = tree.machine.tree.ephemerals_of(owners[next]);
      if (!owned) continue;
      for (const state::NodeRef node : *owned) {
        if (out.size() >= most) break;
        out.push_back({owners[next], node});
      }
    }
  }
  return out;
}

std::vector<state::NodeRef> still_owned(const state::Tree& tree, std::span<const OwnedNode> nodes) {
  std::vector<state::NodeRef> out;
  out.reserve(nodes.size());
  for (const OwnedNode& each : nodes) {
    const state::NodeSet* owned = tree.ephemerals_of(each.owner);
    if (owned && owned->contains(each.node)) out.push_back(each.node);
  }
  return out;
}

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// An election among the present processes: one leads until it leaves, then the next in line.
//
//   LeaderLatch latch(client, "/services/indexer/leader", "host-7");      // a candidate from now on
//   Leadership term = unwrap(sync_wait(latch.await(Wait::within(60s))));
//   while (!term.lost.stop_requested()) ...                               // latch.await() again afterwards
//   // the destructor resigns
//
// Guarantees: at most one latch leads, if clocks run equally fast. Terms of one latch do not overlap, and
// changes() reports them in order. A resignation wakes one other.
//
// Failures: a lost connection ends the term (LossPolicy::kOnSuspend), but the node is kept, and a new term
// begins if the session survives. A lost session or a deleted node means a new place at the end of the line.
// A temporary error (no permission, another library's node in the directory) is returned by await(); the
// latch keeps trying at growing intervals. A closed client ends it.
//
// Curator: LeaderLatch (same nodes; ids are read by both). kazoo: Election, by a lock (other names).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/layout.h"
#include "drover/recipes/leadership.h"
#include "drover/stream.h"

namespace drover::recipes {

struct LeaderLatchOptions {
  LossPolicy loss = LossPolicy::kOnSuspend;
  std::vector<Acl> acl = {};
  Layout layout = Layout::kCurator;
};

struct Participant {
  std::string id;
  std::string node;
  bool is_leader = false;
};

class LeaderLatch {
 public:
  LeaderLatch(Client client, std::string path, std::string id, LeaderLatchOptions options = {});
  LeaderLatch(LeaderLatch&&) noexcept = default;
  LeaderLatch& operator=(LeaderLatch&& other) noexcept;
  // Resigns in the background.
  ~LeaderLatch();

  // True if it leads, and is sure of it now.
  bool is_leader() const;
  // Waits until it leads; returns the term.
  Task<Result<Leadership>> await(Wait wait = {}) const;
  // True when a term begins and false when it ends, starting with the current state.
  Stream<bool> changes() const;
  // Resigns for good, and waits until its node is gone.
  Task<Result<void>> resign(Wait wait = {});

  // All candidates; the first one leads.
  Task<Result<std::vector<Participant>>> participants(Wait wait = {}) const;
  // Empty: there is no leader.
  Task<Result<std::optional<Participant>>> leader(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// An election among those who are there: one leads until it goes, then the next in line.
//
//   LeaderLatch latch(client, "/services/indexer/leader", "host-7");      // stands for election from here on
//   Leadership term = unwrap(sync_wait(latch.await(Wait::within(60s))));
//   while (!term.lost.stop_requested()) ...                               // latch.await() again afterwards
//   // the destructor stands down
//
// Guarantees: at most one of all latches leads, as long as clocks run equally fast; terms of one latch do not
// overlap, and changes() tells of them in order. Who stands down wakes one other.
//
// Failures: a lost connection ends the term (LossPolicy::kOnSuspend) but not the place in line: the node is
// kept, and a new term begins when the session turns out to have survived. A lost session or a node that was
// deleted means a new place at the end. An error that may pass (no permission, another library's node in the
// directory) is returned by await(); the latch goes on trying, less and less often. A closed client ends it.
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
  // Stands down in the background.
  ~LeaderLatch();

  // Leads, and is certain of it right now.
  bool is_leader() const;
  // Until it leads: the term it is in.
  Task<Result<Leadership>> await(Wait wait = {}) const;
  // True when it begins to lead and false when it ceases, in turn, beginning with what is.
  Stream<bool> changes() const;
  // Stands down, and waits until its node is gone. It does not stand again.
  Task<Result<void>> resign(Wait wait = {});

  // Everybody who stands, as the tree shows it; the first one leads.
  Task<Result<std::vector<Participant>>> participants(Wait wait = {}) const;
  // None: nobody does.
  Task<Result<std::optional<Participant>>> leader(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

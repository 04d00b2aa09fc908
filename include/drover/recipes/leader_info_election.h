// SPDX-License-Identifier: Apache-2.0
//
// An election by one node: the process that creates it leads, and all clients can read its data.
//
//   LeaderInfoElection election(client, "/indexer/leader-info", "host-7:9000");   // a candidate from now on
//   Leadership term = unwrap(sync_wait(election.await()));
//   // others: client.get("/indexer/leader-info"), or LeaderObserver(..., ElectionKind::kInfo)
//
// Guarantees: as LeaderLatch, but without an order: the fastest leads next. When the leader leaves, all are
// notified and all try, so it is for few candidates; LeaderLatch is for many.
//
// Failures: as LeaderLatch. A node that was deleted and created again belongs to another leader, although it
// looks the same. So each new leader also changes "<path>.epoch" in the same transaction. Leadership::check
// checks its version and fails as soon as another process leads.
//
// Curator, kazoo: none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/leadership.h"
#include "drover/stream.h"

namespace drover::recipes {

struct LeaderInfoOptions {
  LossPolicy loss = LossPolicy::kOnSuspend;
  std::vector<Acl> acl = {};
};

class Election;

class LeaderInfoElection {
 public:
  LeaderInfoElection(Client client, std::string path, std::string info, LeaderInfoOptions options = {});
  LeaderInfoElection(LeaderInfoElection&&) noexcept = default;
  LeaderInfoElection& operator=(LeaderInfoElection&& other) noexcept;
  // Resigns in the background.
  ~LeaderInfoElection();

  // True if it leads, and is sure of it now.
  bool is_leader() const;
  // Waits until it leads; returns the term.
  Task<Result<Leadership>> await(Wait wait = {}) const;
  // True when a term begins and false when it ends, starting with the current state.
  Stream<bool> changes() const;
  // Resigns for good, and waits until its node is gone.
  Task<Result<void>> resign(Wait wait = {});

 private:
  std::shared_ptr<Election> election_;
};

}  // namespace drover::recipes

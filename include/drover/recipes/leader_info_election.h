// SPDX-License-Identifier: Apache-2.0
//
// An election by one node: whoever makes it leads, and what it says there everybody can read.
//
//   LeaderInfoElection election(client, "/indexer/leader-info", "host-7:9000");   // stands from here on
//   Leadership term = unwrap(sync_wait(election.await()));
//   // others: client.get("/indexer/leader-info"), or LeaderObserver(..., ElectionKind::kInfo)
//
// Guarantees: as LeaderLatch, except that there is no order: whoever is quickest leads next. When the leader
// goes, everybody is told and everybody tries, so it is for a few; LeaderLatch is for many.
//
// Failures: as LeaderLatch. A node that was deleted and made anew meanwhile is another leader's, although it
// looks the same. Beside it there is "<path>.epoch", which every new leader changes in the same transaction;
// Leadership::check is about that: it fails as soon as another one leads.
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
  // Stands down in the background.
  ~LeaderInfoElection();

  // Leads, and is certain of it right now.
  bool is_leader() const;
  // Until it leads: the term it is in.
  Task<Result<Leadership>> await(Wait wait = {}) const;
  // True when it begins to lead and false when it ceases, in turn, beginning with what is.
  Stream<bool> changes() const;
  // Stands down, and waits until its node is gone. It does not stand again.
  Task<Result<void>> resign(Wait wait = {});

 private:
  std::shared_ptr<Election> election_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// A number of parties begin something together and end it together.
//
//   recipes::DoubleBarrier barrier(client, "/jobs/17/phase", {.parties = 8});
//   unwrap(sync_wait(barrier.enter(Wait::within(30s))));     // until all 8 have arrived
//   compute();
//   unwrap(sync_wait(barrier.leave(Wait::within(30s))));     // until all 8 are done, or dead
//
// No party passes enter() before `parties` have arrived, and none passes leave() before all others have left
// or their sessions have ended. kShared has the same nodes as Curator's DistributedDoubleBarrier and kazoo's
// DoubleBarrier.
//
// If a wait ends early, our node is removed in the background and is no longer counted; maybe_applied() says
// that it may have been counted just before. If the session ends, both calls fail with kSessionExpired, and
// for the others we have left.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

enum class DoubleBarrierLayout : std::uint8_t {
  // <path>/<uuid> and <path>/ready. A party that arrives during a round waits until all parties of that round
  // have left or died, and belongs to the next one. All rounds use the same name `ready`, and the old node is
  // removed with Client::remove_surely(). If the next round creates its `ready` between the last check and
  // the removal, that one is removed, too, and a party that has not seen it keeps waiting. With kRounds this
  // cannot happen.
  kShared,
  // A directory for each round. All parties of a round exist at the moment it opens; a party too many is the
  // first of the next round; rounds may overlap.
  kRounds,
};

struct DoubleBarrierOptions {
  int parties = 1;
  DoubleBarrierLayout layout = DoubleBarrierLayout::kShared;
  // A unique name of this party, the same after a restart of its process; not "ready". enter() removes what
  // an earlier process with this name left behind; for the others, that process has left.
  // Empty: a new name each time. Then a party that crashes and returns before its old session has expired is
  // counted twice.
  std::string party = {};
};

// One party, with one call at a time. Destroying it after enter() leaves the barrier.
class DoubleBarrier {
 public:
  DoubleBarrier(Client client, std::string path, DoubleBarrierOptions options);

  Task<Result<void>> enter(Wait wait = {});
  // kNotOwner if it has not entered. However the call ends, this party has left.
  Task<Result<void>> leave(Wait wait = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

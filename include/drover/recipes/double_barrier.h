// SPDX-License-Identifier: Apache-2.0
//
// So many parties begin something together and end it together.
//
//   recipes::DoubleBarrier barrier(client, "/jobs/17/phase", {.parties = 8});
//   unwrap(sync_wait(barrier.enter(Wait::within(30s))));     // until all 8 are here
//   compute();
//   unwrap(sync_wait(barrier.leave(Wait::within(30s))));     // until all 8 are done, or dead
//
// Nobody passes enter() before `parties` have come, and nobody passes leave() before all others have left or
// their sessions have ended. Curator's DistributedDoubleBarrier, kazoo's DoubleBarrier; kShared works
// together with both.
//
// When a wait ends early, our node is removed in the background and not counted any more; that it may have
// been counted just before is what the error's maybe_applied() says. When the session ends, both calls fail
// with kSessionExpired: for the others we have left.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

enum class DoubleBarrierLayout : std::uint8_t {
  // <path>/<uuid> and <path>/ready. A party that comes while a round is going on waits until all of that
  // round have left or died, and belongs to the next one. Each round has a `ready` of the same name, and the
  // old one is removed as far as Client::remove_surely() promises it: one that a next round creates in the
  // round trip between the last look and the removal goes too, and a party that has not seen it waits on.
  // With kRounds this cannot happen.
  kShared,
  // A directory for each round: at the instant it opens all its members are there, one too many is the first
  // of the next round, and rounds may follow each other as they like.
  kRounds,
};

struct DoubleBarrierOptions {
  int parties = 1;
  DoubleBarrierLayout layout = DoubleBarrierLayout::kShared;
  // A name that this party keeps when its process is started again, and that no other party has; not "ready".
  // enter() removes what an earlier process of this name left behind, which has left for the others then.
  // Empty: a new name each time. A party that crashes and comes back before its old session has expired is
  // then counted twice.
  std::string party = {};
};

// One party. Not for two calls at a time. When it is destroyed inside, it has left.
class DoubleBarrier {
 public:
  DoubleBarrier(Client client, std::string path, DoubleBarrierOptions options);

  Task<Result<void>> enter(Wait wait = {});
  // kNotOwner without having entered. However it ends, this party has left.
  Task<Result<void>> leave(Wait wait = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

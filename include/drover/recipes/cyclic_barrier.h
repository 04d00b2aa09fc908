// SPDX-License-Identifier: Apache-2.0
//
// A number of parties wait for each other, round after round.
//
//   recipes::CyclicBarrier barrier(client, "/simulation/step", {.parties = 8});
//   for (;;) {
//     compute();
//     int index = unwrap(sync_wait(barrier.arrive_and_wait(Wait::within(30s))));  // 0 came first, 7 last
//   }
//
// A round opens when `parties` are waiting and all of them are alive at that moment; a late party is among
// the first of the next round. All parties of a round agree about it. It is
// java.util.concurrent.CyclicBarrier for processes. Curator, kazoo: none.
//
// A party that leaves while waiting (deadline, stop, session) is replaced by the next one, or breaks the
// round: all waiters get kBrokenBarrier, and the next arrival begins a new round. The party that left gets
// its own error; maybe_applied() says that it may have been counted. A round with N parties costs N
// notifications.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "drover/client.h"

namespace drover::recipes {

enum class PartyLoss : std::uint8_t { kWaitForReplacement, kBreak };

struct CyclicBarrierOptions {
  int parties = 1;
  PartyLoss on_loss = PartyLoss::kWaitForReplacement;  // the same for all parties
};

// Any number of concurrent calls; each is a party.
class CyclicBarrier {
 public:
  CyclicBarrier(Client client, std::string path, CyclicBarrierOptions options)
      : client_(std::move(client)), path_(std::move(path)), options_(options) {}

  // Returns the place in the order of arrival, from 0.
  Task<Result<int>> arrive_and_wait(Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
  CyclicBarrierOptions options_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// So many parties wait for each other, again and again.
//
//   recipes::CyclicBarrier barrier(client, "/simulation/step", {.parties = 8});
//   for (;;) {
//     compute();
//     int index = unwrap(sync_wait(barrier.arrive_and_wait(Wait::within(30s))));  // 0 came first, 7 last
//   }
//
// A round opens when `parties` are waiting, all of them alive at that instant; whoever came too late is among
// the first of the next one. Everybody of a round has the same picture of it. Neither Curator nor kazoo has
// it; it is java.util.concurrent.CyclicBarrier for processes.
//
// One who goes away while waiting (deadline, stop, session) is replaced by the next who comes, or breaks the
// round for all who wait in it: kBrokenBarrier, and the next arrival begins a new round. The one who went
// gets its own error; maybe_applied() says that it may have been counted. N parties get N notifications a
// round.
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

// Any number of calls at a time; each is a party.
class CyclicBarrier {
 public:
  CyclicBarrier(Client client, std::string path, CyclicBarrierOptions options)
      : client_(std::move(client)), path_(std::move(path)), options_(options) {}

  // The place among those of the round, in the order of arrival from 0.
  Task<Result<int>> arrive_and_wait(Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
  CyclicBarrierOptions options_;
};

}  // namespace drover::recipes

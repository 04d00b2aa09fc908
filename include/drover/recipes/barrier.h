// SPDX-License-Identifier: Apache-2.0
//
// A barrier that anybody sets and anybody removes; while it is there, all who come to it wait.
//
//   recipes::Barrier barrier(client, "/jobs/17/go");
//   unwrap(sync_wait(barrier.set()));                                   // one process
//   unwrap(sync_wait(barrier.wait(Wait::within(30s))));                 // many
//   unwrap(sync_wait(barrier.remove()));                                // all of them go on
//
// It is one persistent node; it outlives whoever set it. Curator's DistributedBarrier and kazoo's Barrier,
// and it works together with both.
//
// wait() returns when the barrier was seen not to be there. A barrier that is removed and set again while the
// connection is lost was open unseen: kLevel waits on, since it is closed; kEdge goes, since it has been
// open. Lost connections and expired sessions do not end a wait: nothing is held that could be lost.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "drover/client.h"

namespace drover::recipes {

enum class BarrierTrigger : std::uint8_t {
  kLevel,  // it is open
  kEdge,   // it has been open since the wait began
};

class Barrier {
 public:
  Barrier(Client client, std::string path, BarrierTrigger trigger = BarrierTrigger::kLevel)
      : client_(std::move(client)), path_(std::move(path)), trigger_(trigger) {}

  // That it is set already is success. After a lost answer it is set again only if it is certain that it was
  // not: when it is not there and its parent's children have changed meanwhile, the error is maybe_applied().
  Task<Result<void>> set(Wait wait = {}) const;
  // That there is none is success. Only the barrier that was there when the call began is removed, however
  // often the connection is lost meanwhile: each try looks first. One that is set anew in the round trip
  // between that look and the removal goes too (Client::remove_surely()). When the wait ends before it is
  // known, it goes on in the background.
  Task<Result<void>> remove(Wait wait = {}) const;
  // kDeadline at once for Wait::poll() at a closed barrier.
  Task<Result<void>> wait(Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
  BarrierTrigger trigger_;
};

}  // namespace drover::recipes

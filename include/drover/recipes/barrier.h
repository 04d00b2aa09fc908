// SPDX-License-Identifier: Apache-2.0
//
// A barrier that any client can set and remove. While it exists, clients wait at it.
//
//   recipes::Barrier barrier(client, "/jobs/17/go");
//   unwrap(sync_wait(barrier.set()));                                   // one process
//   unwrap(sync_wait(barrier.wait(Wait::within(30s))));                 // many
//   unwrap(sync_wait(barrier.remove()));                                // releases all of them
//
// It is one persistent node, which outlives the client that set it. It has the same nodes as Curator's
// DistributedBarrier and kazoo's Barrier.
//
// wait() returns when it has seen that the barrier does not exist. If the barrier is removed and set again
// while the connection is lost, kLevel keeps waiting, because the barrier is closed now; kEdge returns,
// because it was open. Lost connections and expired sessions do not end a wait: a waiter holds nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "drover/client.h"

namespace drover::recipes {

enum class BarrierTrigger : std::uint8_t {
  kLevel,  // wait until it is open
  kEdge,   // wait until it was open at some time since the wait began
};

class Barrier {
 public:
  Barrier(Client client, std::string path, BarrierTrigger trigger = BarrierTrigger::kLevel)
      : client_(std::move(client)), path_(std::move(path)), trigger_(trigger) {}

  // Success if it is set already. After a lost reply it is set again only if the first try was certainly not
  // applied. If the node does not exist and its parent's children have changed, the error is maybe_applied().
  Task<Result<void>> set(Wait wait = {}) const;
  // Success if it does not exist. Removes only the barrier that existed when the call began: each try checks
  // this first. A barrier that is set again between that check and the removal (one round trip) is removed,
  // too (Client::remove_surely()). If the wait ends early, the removal continues in the background.
  Task<Result<void>> remove(Wait wait = {}) const;
  // With Wait::poll(): kDeadline at once if the barrier is closed.
  Task<Result<void>> wait(Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
  BarrierTrigger trigger_;
};

}  // namespace drover::recipes

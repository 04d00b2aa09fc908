// SPDX-License-Identifier: Apache-2.0
//
// What somebody holds: a lock, a lease, a turn. It lasts as long as its node, and that at most as long as the
// session that it was made in; so it can be lost, and a guard says so.
//
//   Guard guard = unwrap(sync_wait(mutex.acquire()));
//   std::vector<Op> ops;
//   ops.push_back(guard.check_op());                     // the write fails if the lock is gone
//   ops.push_back(Op::set("/report/state", "done"));
//   auto done = sync_wait(client.multi(std::move(ops), Wait::forever(guard.lost())));
//
// There is no lock() and unlock() on purpose: std::lock_guard would hide the loss.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

struct Holding;

// Move-only. May be used from any thread, by one at a time.
class Guard {
 public:
  Guard() = default;
  explicit Guard(std::shared_ptr<Holding> holding) : holding_(std::move(holding)) {}
  Guard(Guard&&) noexcept = default;
  Guard& operator=(Guard&& other) noexcept;
  // Gives it back in the background: does not block, and leaves no node behind.
  ~Guard() { let_go(); }

  explicit operator bool() const { return holding_ != nullptr; }
  // Still held, as far as can be known here. Nothing but check_op() makes a write safe.
  bool is_held() const;
  // It is gone: the session, or the node itself where the recipe watches it. Stops before a server gives it
  // to somebody else, as far as clocks run equally fast: only what a quorum has confirmed counts as a sign of
  // life. A Java leader answers for up to syncLimit after it has lost its quorum, so with Java servers it can
  // come that much too late.
  std::stop_token lost() const;
  // The connection is lost, and nobody can tell at the moment. Once there is one again, and it is still held,
  // this gives a new token.
  std::stop_token suspect() const;
  // Somebody asked for it to be given back. Only of recipes that are made revocable.
  std::stop_token revoked() const;
  // Until then it is certain to be held, if nothing more is heard; min() when it is not.
  Clock::time_point valid_until() const;
  // Grows from holder to holder: for storage that refuses a smaller one than it has seen.
  Zxid fence() const;
  // Fails a transaction when it is no longer held.
  Op check_op() const;
  const std::string& node() const;
  SessionId session() const;

  // Gives it back, and waits until that is done. kLockLost: it was lost before. When the wait ends earlier,
  // or the task is never run, it is done in the background; the guard is empty in any case.
  Task<Result<void>> release(Wait wait = {});

  // Of the library itself.
  const std::shared_ptr<Holding>& holding() const { return holding_; }

 private:
  void let_go();

  std::shared_ptr<Holding> holding_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// A held lock, lease or turn. It lasts as long as its node, and the node at most as long as its session. So
// it can be lost, and the guard says so.
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

// Move-only. May be used from any thread, one at a time.
class Guard {
 public:
  Guard() = default;
  explicit Guard(std::shared_ptr<Holding> holding) : holding_(std::move(holding)) {}
  Guard(Guard&&) noexcept = default;
  Guard& operator=(Guard&& other) noexcept;
  // Releases it in the background: does not block, and leaves no node behind.
  ~Guard() { let_go(); }

  explicit operator bool() const { return holding_ != nullptr; }
  // Still held, as far as is known here. Only check_op() makes a write safe.
  bool is_held() const;
  // It is lost: the session is gone, or the node, if the recipe watches it. The stop comes before a server
  // gives it to another client, if clocks run equally fast: only replies that prove a quorum count as signs
  // of life. A Java leader answers for up to syncLimit after it has lost its quorum, so with Java servers the
  // stop may come that much too late.
  std::stop_token lost() const;
  // The connection is lost, so it is unknown whether it is held. After a reconnect, if it is still held, this
  // returns a new token.
  std::stop_token suspect() const;
  // Another client asked for it. Only with revocable recipes.
  std::stop_token revoked() const;
  // It is held at least until then; min() if it is not held.
  Clock::time_point valid_until() const;
  // Grows with every holder: storage can refuse a smaller one than it has seen.
  Zxid fence() const;
  // Makes a transaction fail if it is no longer held.
  Op check_op() const;
  const std::string& node() const;
  SessionId session() const;

  // Releases it and waits for that. kLockLost: it was lost before. If the wait ends early, or the task is
  // never run, it is done in the background; the guard is empty in any case.
  Task<Result<void>> release(Wait wait = {});

  // For the library itself.
  const std::shared_ptr<Holding>& holding() const { return holding_; }

 private:
  void let_go();

  std::shared_ptr<Holding> holding_;
};

}  // namespace drover::recipes

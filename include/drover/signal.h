// SPDX-License-Identifier: Apache-2.0
//
// A wake-up for a coroutine that reads the tree, waits for a change, and reads again.
//
//   Signal changed(client.scheduler());
//   Watch watch = changed.watch();
//   for (;;) {
//     auto node = co_await client.get(path, watch, wait);   // read, and watch from now on
//     if (...) co_return ...;
//     if (auto woken = co_await changed.wait(wait); !woken) co_return std::unexpected(woken.error());
//   }
//
// A notify() between two waits is not lost: the next wait() returns at once. Several count as one.
#pragma once

#include <memory>

#include "drover/scheduler.h"
#include "drover/watch.h"

namespace drover {

// Use it only on the scheduler's executor, with one waiter at a time.
class Signal {
 public:
  explicit Signal(Scheduler scheduler);
  Signal(Signal&&) noexcept = default;
  Signal& operator=(Signal&&) noexcept = default;

  void notify();
  // Waits for notify(). Errors: kDeadline, kStopped, or kClosed if the client has ended.
  Task<Result<void>> wait(Wait wait);
  bool is_set() const;
  // A watch that notifies; it may outlive the signal.
  Watch watch() const;
  const Scheduler& scheduler() const;

 private:
  struct State;
  struct Awaiter;
  static Task<Result<void>> wait_for(std::shared_ptr<State> state, Wait wait);

  std::shared_ptr<State> state_;
};

}  // namespace drover

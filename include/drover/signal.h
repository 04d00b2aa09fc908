// SPDX-License-Identifier: Apache-2.0
//
// "Look again": what a coroutine waits for between two looks at the tree.
//
//   Signal changed(client.scheduler());
//   Watch watch = changed.watch();
//   for (;;) {
//     auto node = co_await client.get(path, watch, wait);   // look, and watch from this look on
//     if (...) co_return ...;
//     if (auto woken = co_await changed.wait(wait); !woken) co_return std::unexpected(woken.error());
//   }
//
// A notify() between two waits is not lost: the next wait() returns at once. Several are one.
#pragma once

#include <memory>

#include "drover/scheduler.h"
#include "drover/watch.h"

namespace drover {

// Used on the scheduler's executor only. One waits at a time.
class Signal {
 public:
  explicit Signal(Scheduler scheduler);
  Signal(Signal&&) noexcept = default;
  Signal& operator=(Signal&&) noexcept = default;

  void notify();
  // Until notify(), or kDeadline, kStopped, kClosed when the client has ended.
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

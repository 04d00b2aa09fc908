// SPDX-License-Identifier: Apache-2.0
//
// How often to retry, and how long to wait in between. The client uses it for reads. A write that may have
// been applied is never retried automatically.
#pragma once

#include <cstdint>
#include <optional>

#include "drover/wait.h"

namespace drover {

struct RetryPolicy {
  int tries_max = 1;  // in total; 0: no limit but the deadline
  Clock::duration base{};
  Clock::duration cap{};

  static RetryPolicy none() { return {}; }
  static RetryPolicy times(int tries, Clock::duration pause = {}) { return {tries, pause, pause}; }
  // Random pauses of up to base, 2 base, 4 base... and at most cap, so that clients that failed together do
  // not retry together.
  static RetryPolicy exponential(Clock::duration base, Clock::duration cap, int tries_max) {
    return {tries_max, base, cap};
  }
  static RetryPolicy until_deadline(Clock::duration base = std::chrono::milliseconds(50),
                                    Clock::duration cap = std::chrono::seconds(2)) {
    return {0, base, cap};
  }

  // The pause after failed try number `tries` (from 1); empty if it was the last. `random` is any
  // number.
  std::optional<Clock::duration> pause_after(int tries, std::uint64_t random) const;
};

}  // namespace drover

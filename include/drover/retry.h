// SPDX-License-Identifier: Apache-2.0
//
// How often to try again, and how long to wait in between: a value. The client uses it for reads; a write
// that may have been done is never repeated by itself.
#pragma once

#include <cstdint>
#include <optional>

#include "drover/wait.h"

namespace drover {

struct RetryPolicy {
  int tries_max = 1;  // in all; 0: without end, until the deadline
  Clock::duration base{};
  Clock::duration cap{};

  static RetryPolicy none() { return {}; }
  static RetryPolicy times(int tries, Clock::duration pause = {}) { return {tries, pause, pause}; }
  // Pauses of up to base, 2 base, 4 base... and at most cap, each chosen at random: those who failed together
  // do not come back together.
  static RetryPolicy exponential(Clock::duration base, Clock::duration cap, int tries_max) {
    return {tries_max, base, cap};
  }
  static RetryPolicy until_deadline(Clock::duration base = std::chrono::milliseconds(50),
                                    Clock::duration cap = std::chrono::seconds(2)) {
    return {0, base, cap};
  }

  // The pause after the try of this number (from 1) has failed, or none if it was the last. `random` is any
  // number.
  std::optional<Clock::duration> pause_after(int tries, std::uint64_t random) const;
};

}  // namespace drover

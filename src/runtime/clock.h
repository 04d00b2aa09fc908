// SPDX-License-Identifier: Apache-2.0
//
// The process's two clocks. The core reads them only through this file.
#pragma once

#include <time.h>

#include "base/time.h"

namespace drover::server {

inline std::int64_t read_clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline Instant monotonic_now() { return Instant{read_clock_ns(CLOCK_MONOTONIC) / 1'000'000}; }
inline WallTime wall_now() { return WallTime{read_clock_ns(CLOCK_REALTIME) / 1'000'000}; }

}  // namespace drover::server

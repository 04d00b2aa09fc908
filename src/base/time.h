// SPDX-License-Identifier: Apache-2.0
//
// Two clocks that must never be mixed. The core never reads a clock; both times are passed in.
#pragma once

#include <compare>
#include <cstdint>

namespace drover {

// Milliseconds of a monotonic clock: timeouts, expiry, latencies.
struct Instant {
  std::int64_t ms = 0;
  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, std::int64_t milliseconds) { return {t.ms + milliseconds}; }
  friend constexpr std::int64_t operator-(Instant a, Instant b) { return a.ms - b.ms; }
};

// Milliseconds since 1970, as in the ctime and mtime of Stat. May jump.
struct WallTime {
  std::int64_t ms = 0;
  friend constexpr auto operator<=>(WallTime, WallTime) = default;
};

}  // namespace drover

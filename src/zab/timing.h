// SPDX-License-Identifier: Apache-2.0
//
// Settings of zoo.cfg for how long servers wait for each other.
#pragma once

#include <algorithm>
#include <cstdint>

namespace drover::zab {

struct Timing {
  std::int64_t tick_ms = 2000;
  std::int64_t init_limit_ticks = 10;
  std::int64_t sync_limit_ticks = 5;
  std::int64_t connect_limit_ticks = 0;  // 0: init_limit_ticks
  // A leader that promises to ping often, and then is silent for this long, counts as stuck. 0: only
  // syncLimit counts.
  std::int64_t silence_limit_ms = 0;

  // Pings per silence limit: several in a row must be missing.
  static constexpr std::int64_t kPingsInSilence = 4;

  std::int64_t ping_ms() const {
    const std::int64_t usual = std::max<std::int64_t>(1, tick_ms / 2);
    if (silence_limit_ms == 0) return usual;
    return std::clamp<std::int64_t>(silence_limit_ms / kPingsInSilence, 1, usual);
  }
  // Limit until a learner is synced with its leader, and until a leader has its quorum.
  std::int64_t init_ms() const { return tick_ms * init_limit_ticks; }
  // The part of it that a learner may take to reach its leader.
  std::int64_t connect_ms() const {
    return connect_limit_ticks > 0 ? tick_ms * connect_limit_ticks : init_ms();
  }
  // Afterwards: silence for this long ends the link.
  std::int64_t sync_ms() const { return tick_ms * sync_limit_ticks; }
};

}  // namespace drover::zab

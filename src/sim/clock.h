// SPDX-License-Identifier: Apache-2.0
//
// One machine's two clocks: a steady one that may run a little too fast or slow, and a wall clock that may be
// set to any time.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "sim/world.h"

namespace drover::sim {

struct Clock {
  const World* world = nullptr;
  std::int64_t drift_ppm = 0;
  std::int64_t wall_offset_ms = 0;

  static constexpr std::int64_t kBootMs = 1'000'000;          // no clock begins at 0
  static constexpr std::int64_t kWallMs = 1'700'000'000'000;  // 2023

  Instant now() const { return {kBootMs + (world->now() + world->now() * drift_ppm / 1'000'000) / 1000}; }
  WallTime wall() const { return {kWallMs + now().ms + wall_offset_ms}; }
  // How long, in the world's time, until this clock shows `then`; at least a microsecond.
  Micros until(Instant then) const {
    const std::int64_t local = (then - now()) * 1000;
    const std::int64_t world_time = local - local * drift_ppm / 1'000'000;
    return world_time > 0 ? world_time : 1;
  }
};

}  // namespace drover::sim

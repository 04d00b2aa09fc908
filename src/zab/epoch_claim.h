// SPDX-License-Identifier: Apache-2.0
//
// Which epochs of others a server believes.
//
// Epochs are counted up by one for each leader, and what a learner says that it has promised lifts the epoch
// of the next leader above it. There are only 2^31 of them: one false claim could use them all up, for good,
// because promises are durable. So a claim counts only if it is not far above everything that this server
// itself has promised or logged. What is refused here never reaches the choice of an epoch, and never makes a
// leader step down for a voter that has promised more.
#pragma once

#include <cstdint>

#include "zab/history.h"

namespace drover::zab {

// An honest server is ahead by promises to leaders that never came to lead: one for each failed attempt,
// which takes a second or so. That is most of a day of nothing else. For a stranger it means tens of
// thousands of elections.
inline constexpr std::uint32_t kEpochJumpMax = 1 << 16;

// `known`: the highest epoch that this server has promised or logged, on its disk. Not what others said
// before: claims must not carry each other.
constexpr bool is_believable_epoch(std::uint32_t claimed, std::uint32_t known) {
  return claimed < kEpochMax && (claimed <= known || claimed - known <= kEpochJumpMax);
}

}  // namespace drover::zab

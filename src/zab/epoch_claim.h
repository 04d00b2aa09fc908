// SPDX-License-Identifier: Apache-2.0
//
// Decides which epochs of other servers are believed.
//
// Each leader increments the epoch by one. If a learner reports a promised epoch, the next leader's epoch is
// above it. There are only 2^31 epochs, and promises are durable, so one false claim could use them all up
// for good. Therefore a claim counts only if it is not far above everything that this server itself has
// promised or logged. A refused claim never affects the choice of an epoch, and never makes a leader step
// down for a voter that has promised more.
#pragma once

#include <cstdint>

#include "zab/history.h"

namespace drover::zab {

// An honest server is ahead by promises to leaders that were never established: one for each failed attempt,
// which takes about a second. This limit is most of a day of failed attempts. A malicious claim can skip no
// more than tens of thousands of elections.
inline constexpr std::uint32_t kEpochJumpMax = 1 << 16;

// `known`: the highest epoch that this server has promised or logged, on its disk. Earlier claims of others
// are not included: one claim must not make the next one believable.
constexpr bool is_believable_epoch(std::uint32_t claimed, std::uint32_t known) {
  return claimed < kEpochMax && (claimed <= known || claimed - known <= kEpochJumpMax);
}

}  // namespace drover::zab

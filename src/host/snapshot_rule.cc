// SPDX-License-Identifier: Apache-2.0
#include "host/snapshot_rule.h"

#include <algorithm>

namespace drover::host {

SnapshotRule::SnapshotRule(const SnapshotTrigger& trigger, std::uint64_t seed)
    : trigger_(trigger), random_(seed) {
  begin_anew();
}

std::int64_t SnapshotRule::draw(std::int64_t trigger) {
  const std::int64_t half = trigger / 2;
  return half + static_cast<std::int64_t>(
                    random_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, half))));
}

void SnapshotRule::begin_anew() {
  txns_ = 0;
  bytes_ = 0;
  due_.txns = draw(trigger_.txns);
  due_.bytes = trigger_.bytes > 0 ? draw(trigger_.bytes) : 0;
}

void SnapshotRule::count(std::size_t txns, std::size_t bytes) {
  txns_ += static_cast<std::int64_t>(txns);
  bytes_ += static_cast<std::int64_t>(bytes);
}

bool SnapshotRule::is_due(std::uint64_t newest_bytes) const {
  if (due_.bytes > 0 && bytes_ > due_.bytes) return true;
  // Replaying a log that is shorter than half of the snapshot takes less time than writing a large tree again
  // and again.
  return txns_ > due_.txns && bytes_ >= static_cast<std::int64_t>(newest_bytes) / 2;
}

}  // namespace drover::host

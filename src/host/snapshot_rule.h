// SPDX-License-Identifier: Apache-2.0
//
// When has the log grown enough for a new snapshot?
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace drover::host {

struct SnapshotTrigger {
  std::int64_t txns = 100'000;  // zookeeper.snapCount
  std::int64_t bytes = 0;       // zookeeper.snapSizeLimitInKb; 0: no trigger by size
};

class SnapshotRule {
 public:
  SnapshotRule(const SnapshotTrigger& trigger, std::uint64_t seed);

  // Transactions that were logged.
  void count(std::size_t txns, std::size_t bytes);
  // `newest_bytes`: the size of the newest snapshot.
  bool is_due(std::uint64_t newest_bytes) const;
  // A snapshot was requested.
  void begin_anew();

 private:
  // The servers of an ensemble must not all write a snapshot at the same time: each waits for a random part
  // of the second half.
  std::int64_t draw(std::int64_t trigger);

  SnapshotTrigger trigger_;
  Random random_;
  SnapshotTrigger due_;
  std::int64_t txns_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace drover::host

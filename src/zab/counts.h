// SPDX-License-Identifier: Apache-2.0
//
// What a server has been through since it started, for the monitor: nothing here decides anything.
#pragma once

#include <cstdint>

#include "base/measures.h"

namespace drover::zab {

// Of the times that it led.
struct LeaderCounts {
  std::uint64_t proposals = 0;
  std::uint64_t commits = 0;
  std::uint64_t diffs = 0;  // learners brought level by transactions, cut back before or not
  std::uint64_t snaps = 0;  // and by the whole state

  void add(const LeaderCounts& other) {
    proposals += other.proposals;
    commits += other.commits;
    diffs += other.diffs;
    snaps += other.snaps;
  }
};

struct PeerCounts {
  std::uint64_t looking = 0;       // elections begun
  Extremes election_ms;            // until a leader was chosen
  Extremes unavailable_ms;         // from looking for one until clients could be served
  Extremes leader_unavailable_ms;  // the same, when it ended with this server leading
  LeaderCounts led;
};

}  // namespace drover::zab

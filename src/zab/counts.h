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
  std::uint64_t diffs = 0;              // learners brought level by transactions, cut back before or not
  std::uint64_t snaps = 0;              // and by the whole state
  std::uint64_t greetings_refused = 0;  // of learners that cannot be ours
  // How many learners were being brought level so when one more began to be, itself included.
  Extremes diffs_under_way;
  Extremes snaps_under_way;

  void add(const LeaderCounts& other) {
    proposals += other.proposals;
    commits += other.commits;
    diffs += other.diffs;
    snaps += other.snaps;
    greetings_refused += other.greetings_refused;
    diffs_under_way.add(other.diffs_under_way);
    snaps_under_way.add(other.snaps_under_way);
  }
};

// Of the times that it followed or observed, level with its leader.
struct LearnerCounts {
  std::uint64_t proposals = 0;  // an observer gets none
  std::uint64_t commits = 0;

  void add(const LearnerCounts& other) {
    proposals += other.proposals;
    commits += other.commits;
  }
};

struct PeerCounts {
  std::uint64_t looking = 0;       // elections begun
  Extremes election_ms;            // until a leader was chosen
  Extremes unavailable_ms;         // from looking for one until clients could be served
  Extremes leader_unavailable_ms;  // the same, when it ended with this server leading
  // From the link to the leader until level with it.
  Extremes follower_sync_ms;
  Extremes observer_sync_ms;
  LeaderCounts led;
  LearnerCounts learned;
};

}  // namespace drover::zab

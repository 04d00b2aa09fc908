// SPDX-License-Identifier: Apache-2.0
//
// Counters of a server since it started, for the monitor. Nothing here decides anything.
#pragma once

#include <cstdint>

#include "base/measures.h"

namespace drover::zab {

// Counters of the times that this server led.
struct LeaderCounts {
  std::uint64_t proposals = 0;
  std::uint64_t commits = 0;
  std::uint64_t diffs = 0;              // learners synced with transactions, with or without a TRUNC before
  std::uint64_t snaps = 0;              // learners synced with the whole state
  std::uint64_t greetings_refused = 0;  // learners that cannot be ours
  // How many learners were being synced this way when one more began, itself included.
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

// Counters of the times that this server followed or observed, synced with its leader.
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
  Extremes election_ms;            // until a leader was elected
  Extremes unavailable_ms;         // from the start of an election until clients could be served
  Extremes leader_unavailable_ms;  // the same, when it ended with this server leading
  // From the link to the leader until synced with it.
  Extremes follower_sync_ms;
  Extremes observer_sync_ms;
  LeaderCounts led;
  LearnerCounts learned;
};

}  // namespace drover::zab

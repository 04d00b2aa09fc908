// SPDX-License-Identifier: Apache-2.0
//
// Counters of a server since it started, and the metrics that show them. Nothing here decides anything.
#pragma once

#include <cstdint>

#include "base/metric.h"

namespace drover::zab {

// Counters of the times that this server led.
struct LeaderCounts {
  std::uint64_t proposals = 0;
  std::uint64_t commits = 0;
  std::uint64_t diffs = 0;              // learners synced with transactions, with or without a TRUNC before
  std::uint64_t snaps = 0;              // learners synced with the whole state
  std::uint64_t greetings_refused = 0;  // learners that cannot be ours
  std::uint64_t syncs_refused = 0;      // observers, because too many were being synced
  // How many learners were being synced this way when one more began, itself included.
  Extremes diffs_under_way;
  Extremes snaps_under_way;

  void add(const LeaderCounts& other);
};
inline constexpr MetricOf<LeaderCounts> kLeaderMetrics[] = {
    {"proposal_count", &LeaderCounts::proposals},
    {"commit_count", &LeaderCounts::commits},
    {"diff_count", &LeaderCounts::diffs},
    {"snap_count", &LeaderCounts::snaps},
    {"", &LeaderCounts::greetings_refused},  // learner_greetings_rejected, only shown by members
    {"", &LeaderCounts::syncs_refused},      // learner_syncs_rejected, likewise
    {"inflight_diff_count", &LeaderCounts::diffs_under_way},
    {"inflight_snap_count", &LeaderCounts::snaps_under_way},
};
inline void LeaderCounts::add(const LeaderCounts& other) { add_fields(kLeaderMetrics, *this, other); }

// Counters of the times that this server followed or observed, synced with its leader.
struct LearnerCounts {
  std::uint64_t proposals = 0;  // an observer gets none
  std::uint64_t commits = 0;

  void add(const LearnerCounts& other);
};
inline constexpr MetricOf<LearnerCounts> kLearnerMetrics[] = {
    {"learner_proposal_received_count", &LearnerCounts::proposals},
    {"learner_commit_received_count", &LearnerCounts::commits},
};
inline void LearnerCounts::add(const LearnerCounts& other) { add_fields(kLearnerMetrics, *this, other); }

struct PeerCounts {
  std::uint64_t looking = 0;       // elections begun
  Extremes election_ms;            // until a leader was elected
  Extremes unavailable_ms;         // from the start of an election until clients could be served
  Extremes leader_unavailable_ms;  // the same, when it ended with this server leading
  // Time from the link to the leader until synced with it.
  Extremes follower_sync_ms;
  Extremes observer_sync_ms;
  LeaderCounts led;
  LearnerCounts learned;
};
inline constexpr MetricOf<PeerCounts> kPeerMetrics[] = {
    {"looking_count", &PeerCounts::looking},
    {"election_time", &PeerCounts::election_ms},
    {"unavailable_time", &PeerCounts::unavailable_ms},
    {"leader_unavailable_time", &PeerCounts::leader_unavailable_ms},
    {"follower_sync_time", &PeerCounts::follower_sync_ms},
    {"observer_sync_time", &PeerCounts::observer_sync_ms},
};

}  // namespace drover::zab

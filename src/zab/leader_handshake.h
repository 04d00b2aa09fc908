// SPDX-License-Identifier: Apache-2.0
//
// The leader's view of one learner, from its first packet until it is synced.
//
//   kGreeting     the link is open                           <- FOLLOWERINFO / OBSERVERINFO
//   kWaiting      its accepted epoch counts towards ours     -> LEADERINFO, once a quorum has reported
//   kPromising    it makes the epoch durable                 <- ACKEPOCH with its last zxid
//   kPromised     waits until a quorum has promised          -> DIFF | TRUNC | SNAP
//   kSending      our state or our log is on its way to it   -> transactions, NEWLEADER
//   kSyncing      it makes our history durable               <- ACK of NEWLEADER
//   kSynced       waits until a quorum is synced             -> UPTODATE
//   kActive       proposals, acknowledgements, pings
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/time.h"
#include "zab/effects.h"

namespace drover::zab {

struct LearnerLink {
  enum class Stage : std::uint8_t {
    kGreeting,
    kWaiting,
    kPromising,
    kPromised,
    kSending,
    kSyncing,
    kSynced,
    kActive
  };

  enum class Way : std::uint8_t { kNone, kDiff, kSnap };

  LinkId link{};
  Stage stage = Stage::kGreeting;
  ServerId server{};
  bool observer = false;  // gets INFORM instead of PROPOSAL and COMMIT
  bool voter = false;
  Zxid reported_last{};  // in ACKEPOCH
  // The learner has everything up to here on disk. One number is enough: learners log in order, so an
  // acknowledgement covers everything before it.
  Zxid acked{};
  Instant stage_began;
  Instant last_heard;
  // Since `expected_since` we wait for the learner's acknowledgement of everything up to `expected`.
  Zxid expected{};
  Instant expected_since;
  std::uint64_t pings_sent = 0;
  std::uint64_t pings_answered = 0;

  // For monitoring. packets_sent counts all but LEADERINFO, answers to REVALIDATE, and what is read from the
  // log files.
  struct Traffic {
    Instant since;
    std::uint64_t packets_received = 0;
    std::uint64_t packets_sent = 0;
    std::uint64_t requests = 0;
  };
  Traffic traffic;

  Way way = Way::kNone;    // how it is or was synced
  bool log_begun = false;  // it was sent DIFF, and the log files follow
  Zxid sent{};             // the state or the log that is on its way holds at least everything up to here
  Zxid early_acked{};      // acknowledged before NEWLEADER, as servers of 3.8 may do

  // From this stage on it gets every proposal and commit.
  bool is_forwarded_to() const { return stage >= Stage::kSyncing; }
  // Our history is on its way to it.
  bool is_synchronising() const { return stage == Stage::kSending || stage == Stage::kSyncing; }
};

const char* name_of(LearnerLink::Stage stage);

}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
//
// Counts what happened in a run: the faults, and the paths that the protocol took.
//
// A simulator that has silently stopped doing something still finds no bugs. So it counts what it did, prints
// it, and a test expects everything at least once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace drover::sim {

enum class Did : std::uint8_t {
  // processes and machines
  kCrash,
  kPowerLoss,
  kCrashAtDisk,
  kCrashAtSend,
  kPause,
  kWallJump,
  kDrift,
  kSpoiled,
  // disks
  kUnsyncedLost,
  kUnsyncedKept,
  kUnsyncedTorn,
  kEntryLost,
  kIoError,
  kSyncError,
  kDiskFull,
  kSlowDisk,
  kBitFlip,
  kZeroSector,
  kOperatorHelped,
  kBadSector,
  kWipe,
  // the network
  kReset,
  kResetClient,
  kHalfOpen,
  kInTheDark,
  kCutShort,
  kPartition,
  kOneWayPartition,
  kRefused,
  kSplit,
  kVoteLost,
  kVoteDoubled,
  kLinksCrossed,
  kForeignLearner,
  kGreetingRefused,
  kForeignVote,
  // agreement
  kElected,
  kEstablished,
  kDiff,
  kTrunc,
  kSnap,
  kLogDiff,
  kNoLog,
  kSecondLink,
  kEpochOver,
  kMadeWay,
  kContested,
  kReconfigProposed,
  kReconfigActivated,
  kHandedOver,
  kQuorumLost,
  kReload,
  kDiscard,
  kRecovering,
  kBeginsAnew,
  kParted,
  // files
  kSnapshot,
  kLogRoll,
  kPurge,
  kDamageFound,
  // sessions
  kSession,
  kExpiry,
  kMove,
  kLeftOpen,
  kLateClose,
  kReap,
  kRefusedFull,
  kRefusedLarge,
  kSweep,
  kLongList,
  kEnd  // how many there are
};

class Tally {
 public:
  void add(Did what, std::uint64_t times = 1) { counts_[static_cast<std::size_t>(what)] += times; }
  void add(const Tally& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  std::uint64_t of(Did what) const { return counts_[static_cast<std::size_t>(what)]; }
  // Names of events that never happened.
  std::string missing() const;
  // "crash 12, power loss 3, ...", including those that never happened.
  std::string text() const;

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(Did::kEnd)> counts_{};
};

const char* name_of(Did what);

}  // namespace drover::sim

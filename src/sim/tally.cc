// SPDX-License-Identifier: Apache-2.0
#include "sim/tally.h"

namespace drover::sim {

const char* name_of(Did what) {
  switch (what) {
    case Did::kCrash: return "crash";
    case Did::kPowerLoss: return "power loss";
    case Did::kCrashAtDisk: return "crash at a disk step";
    case Did::kCrashAtSend: return "crash at a send";
    case Did::kPause: return "pause";
    case Did::kWallJump: return "wall clock jump";
    case Did::kDrift: return "drifting clock";
    case Did::kSpoiled: return "state spoiled";
    case Did::kUnsyncedLost: return "unsynced write lost";
    case Did::kUnsyncedKept: return "unsynced write kept";
    case Did::kUnsyncedTorn: return "unsynced write torn";
    case Did::kEntryLost: return "directory entry lost";
    case Did::kIoError: return "failed disk operation";
    case Did::kSyncError: return "failed fsync";
    case Did::kDiskFull: return "full disk";
    case Did::kSlowDisk: return "slow disk";
    case Did::kBitFlip: return "bit flip";
    case Did::kZeroSector: return "zeroed sector";
    case Did::kOperatorHelped: return "files put away by the operator";
    case Did::kBadSector: return "unreadable sector";
    case Did::kWipe: return "wiped disk";
    case Did::kReset: return "link reset";
    case Did::kResetClient: return "client reset";
    case Did::kHalfOpen: return "half-open link";
    case Did::kInTheDark: return "leader that does not know";
    case Did::kCutShort: return "stream cut at a byte";
    case Did::kPartition: return "partition";
    case Did::kOneWayPartition: return "one-way partition";
    case Did::kRefused: return "refused connection";
    case Did::kSplit: return "split delivery";
    case Did::kVoteLost: return "vote lost";
    case Did::kVoteDoubled: return "vote doubled";
    case Did::kLinksCrossed: return "election links crossed";
    case Did::kForeignLearner: return "foreign learner";
    case Did::kGreetingRefused: return "greeting refused";
    case Did::kForeignVote: return "foreign vote";
    case Did::kElected: return "elected";
    case Did::kEstablished: return "established";
    case Did::kDiff: return "DIFF";
    case Did::kTrunc: return "TRUNC";
    case Did::kSnap: return "SNAP";
    case Did::kLogDiff: return "DIFF from the log";
    case Did::kNoLog: return "log of no use for a DIFF";
    case Did::kSecondLink: return "crossing links";
    case Did::kEpochOver: return "epoch without zxids";
    case Did::kMadeWay: return "leader that makes way";
    case Did::kContested: return "leader contested";
    case Did::kReconfigProposed: return "reconfiguration";
    case Did::kReconfigActivated: return "membership activated";
    case Did::kHandedOver: return "leader that hands over";
    case Did::kQuorumLost: return "quorum of new members lost";
    case Did::kReload: return "state read anew";
    case Did::kDiscard: return "history put away";
    case Did::kRecovering: return "history unknown";
    case Did::kBeginsAnew: return "a new history";
    case Did::kParted: return "two histories";
    case Did::kSnapshot: return "snapshot";
    case Did::kLogRoll: return "log file";
    case Did::kPurge: return "purge";
    case Did::kDamageFound: return "damage found";
    case Did::kSession: return "session";
    case Did::kExpiry: return "expiry";
    case Did::kMove: return "session moved";
    case Did::kLeftOpen: return "connection left half-open";
    case Did::kLateClose: return "closeSession from a server that was left";
    case Did::kReap: return "container reaped";
    case Did::kRefusedFull: return "write refused, disk full";
    case Did::kRefusedLarge: return "write refused, transaction too large";
    case Did::kSweep: return "session end with a sweep";
    case Did::kLongList: return "list of children in pieces";
    case Did::kEnd: break;
  }
  return "?";
}

// These need damage between a start and a TRUNC, a voter whose promises went to no leader, or a wrong state
// in memory. Seeds have that too rarely or never; scripts show it (damaged-leader-gets-trunc,
// promise-to-nobody, wrong-follower, wrong-leader). A lost quorum is nothing to wish for.
static bool is_rare(Did what) {
  return what == Did::kQuorumLost || what == Did::kDiscard || what == Did::kMadeWay ||
         what == Did::kSpoiled || what == Did::kContested;
}

std::string Tally::missing() const {
  std::string names;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (is_rare(static_cast<Did>(i))) continue;
    if (counts_[i] == 0) names += (names.empty() ? "" : ", ") + std::string(name_of(static_cast<Did>(i)));
  }
  return names;
}

std::string Tally::text() const {
  std::string text;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    text +=
        (i == 0 ? "" : ", ") + std::string(name_of(static_cast<Did>(i))) + " " + std::to_string(counts_[i]);
  }
  return text;
}

}  // namespace drover::sim

// SPDX-License-Identifier: Apache-2.0
//
// How far behind is this learner, and what is the cheapest way to sync it?
//
// A pure function from (the learner's last zxid, what we still hold in memory and in the log files) to DIFF,
// TRUNC and DIFF, a DIFF that begins in the log files, or SNAP. The leader executes the plan; nothing here
// sends anything.
//
// A DIFF is sent only if the learner's history provably is a prefix of ours, or becomes one by cutting off a
// tail whose start we know. In all other cases the learner gets a snapshot. Java decides some of them by
// comparing zxids across epochs, which can leave an uncommitted transaction behind (ZOOKEEPER-2832), and from
// log files that may have holes or hold what was never committed.
//
// What is before the window in memory is committed. So a DIFF from the log needs no other argument: the part
// of our log files that is known to be ours (History::begun_at) holds the learner's last transaction, and is
// read from there to where the window begins. The plan checks the first half of that, and host/log_stream
// looks for the transaction itself.
#pragma once

#include <cstddef>
#include <optional>

#include "base/ids.h"
#include "zab/history.h"

namespace drover::zab {

struct SyncSettings {
  bool force_snapshot = false;  // zookeeper.forceSnapshotSync
  bool use_log = false;         // zookeeper.snapshotSizeFactor is not negative
  // Learners that may be synced at a time. One more observer is refused. Followers count, but are never
  // refused, because the ensemble may need them.
  std::size_t snaps_max = 10;   // zookeeper.leader.maxConcurrentSnapSyncs
  std::size_t diffs_max = 100;  // zookeeper.leader.maxConcurrentDiffSyncs
};

struct SyncPlan {
  enum class Kind { kDiff, kTrunc, kSnap, kLogDiff };
  Kind kind{};
  Zxid from{};  // transactions after this are sent; for TRUNC also where the learner cuts
};

struct SyncQuestion {
  Zxid learner_last{};          // -1: it does not know its own history
  std::uint32_t our_epoch = 0;  // the epoch in which our history was last synchronised, before we led
  bool force_snapshot = false;
  bool use_log = false;
};

SyncPlan plan_sync(const History& history, const SyncQuestion& question);

}  // namespace drover::zab

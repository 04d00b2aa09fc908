// SPDX-License-Identifier: Apache-2.0
//
// How far behind is this learner, and what is the cheapest way to sync it?
//
// A pure function from (the learner's last zxid, what we still hold in memory) to DIFF, TRUNC and DIFF, or
// SNAP. The leader executes the plan; nothing here sends anything.
//
// A DIFF is sent only if the learner's history provably is a prefix of ours, or becomes one by cutting off a
// tail whose start we know. In all other cases the learner gets a snapshot. Java decides some of them by
// comparing zxids across epochs, which can leave an uncommitted transaction behind (ZOOKEEPER-2832). We do
// not read old log files for a DIFF either: a snapshot is fast enough, and one way to do a thing has fewer
// faults than two.
#pragma once

#include <optional>

#include "base/ids.h"
#include "zab/history.h"

namespace drover::zab {

struct SyncPlan {
  enum class Kind { kDiff, kTrunc, kSnap };
  Kind kind{};
  Zxid from{};  // transactions after this are sent; for TRUNC also where the learner cuts
};

struct SyncQuestion {
  Zxid learner_last{};          // -1: it does not know its own history
  std::uint32_t our_epoch = 0;  // the epoch in which our history was last synchronised, before we led
  bool force_snapshot = false;  // zookeeper.forceSnapshotSync
};

SyncPlan plan_sync(const History& history, const SyncQuestion& question);

}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
#include "zab/sync_plan.h"

#include <algorithm>

namespace drover::zab {
namespace {

using Kind = SyncPlan::Kind;

constexpr SyncPlan kSnapshot{Kind::kSnap, {}};

// Counter 0 means: the learner has all that the leader of this epoch began with, and nothing of the epoch
// itself. Java servers report it after a snapshot that was taken before the epoch's first transaction.
SyncPlan plan_for_epoch_start(const History& history, const SyncQuestion& question) {
  const std::uint32_t epoch = epoch_of(question.learner_last);
  Zxid before{};
  // A transaction of that epoch in our history proves that its leader was established. So what that leader
  // began with is what comes before that transaction here too.
  if (history.first_of_epoch(epoch, before) && before <= history.committed()) return {Kind::kDiff, before};
  // We were synchronised with the same leader, and nothing happened since.
  if (question.our_epoch == epoch && epoch_of(history.last()) <= epoch) return {Kind::kDiff, history.last()};
  return kSnapshot;
}

// A zxid with counter 0 is no transaction, and will not be found in a log.
SyncPlan plan_before_window(const History& history, const SyncQuestion& question) {
  const Zxid theirs = question.learner_last;
  if (!question.use_log || theirs < history.begun_at() || counter_of(theirs) == 0) return kSnapshot;
  return {Kind::kLogDiff, theirs};
}

}  // namespace

SyncPlan plan_sync(const History& history, const SyncQuestion& question) {
  const Zxid theirs = question.learner_last;
  if (question.force_snapshot || raw(theirs) < 0) return kSnapshot;
  if (theirs < history.window_begin()) return plan_before_window(history, question);
  if (theirs <= history.committed() && history.contains(theirs)) return {Kind::kDiff, theirs};
  if (counter_of(theirs) == 0) return plan_for_epoch_start(history, question);

  // The learner has logged something that is not committed here. Zxids within an epoch are contiguous, so its
  // history up to our last transaction of that epoch is ours. It gets the uncommitted part again.
  const Zxid shared = history.at_or_before(theirs);
  const bool provable = shared == theirs || (epoch_of(shared) == epoch_of(theirs) && counter_of(shared) > 0);
  if (!provable) return kSnapshot;
  return {Kind::kTrunc, std::min(shared, history.committed())};
}

}  // namespace drover::zab

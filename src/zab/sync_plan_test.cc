// SPDX-License-Identifier: Apache-2.0
//
// Each case is a row of "who has what"; the property test at the end states what all of them are for.
#include "zab/sync_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "zab/testing.h"

namespace drover::zab {
namespace {

using testing::batch;
using testing::history;
using testing::text;
using testing::zx;

std::string plan(const zab::History& ours, const SyncQuestion& question) {
  const SyncPlan plan = plan_sync(ours, question);
  switch (plan.kind) {
    case SyncPlan::Kind::kDiff: return "DIFF after " + text(plan.from);
    case SyncPlan::Kind::kTrunc: return "TRUNC to " + text(plan.from);
    case SyncPlan::Kind::kSnap: return "SNAP";
    case SyncPlan::Kind::kLogDiff: return "DIFF from the log after " + text(plan.from);
  }
  return "?";
}

std::string plan(const zab::History& ours, Zxid theirs, std::uint32_t our_epoch = 5) {
  return plan(ours, {.learner_last = theirs, .our_epoch = our_epoch});
}

// A snapshot at 4.7, then 4.8 4.9 5.1 5.2 5.3 6.1 in memory.
zab::History ours() {
  return history(zx(4, 7), {zx(4, 8), zx(4, 9), zx(5, 1), zx(5, 2), zx(5, 3), zx(6, 1)});
}

TEST(SyncPlan, ASyncedLearnerGetsAnEmptyDiff) {
  EXPECT_EQ(plan(ours(), zx(6, 1), 6), "DIFF after 6.1");
  EXPECT_EQ(plan(history(Zxid{0}, {}), Zxid{0}, 0), "DIFF after 0");
}

TEST(SyncPlan, ALearnerBehindWithinTheWindowGetsADiff) {
  EXPECT_EQ(plan(ours(), zx(5, 2)), "DIFF after 5.2");
  EXPECT_EQ(plan(ours(), zx(4, 9)), "DIFF after 4.9");
  EXPECT_EQ(plan(ours(), zx(4, 7)), "DIFF after 4.7");  // the zxid right before the window
}

TEST(SyncPlan, ALearnerBehindTheWindowGetsASnap) {
  EXPECT_EQ(plan(ours(), zx(4, 6)), "SNAP");
  EXPECT_EQ(plan(ours(), Zxid{0}), "SNAP");
}

// A snapshot at 4.7, then 4.8 to 5.3 in the log, of which 5.2 and 5.3 are in memory.
zab::History with_a_small_window() {
  return history(zx(4, 7), {zx(4, 8), zx(4, 9), zx(5, 1), zx(5, 2), zx(5, 3)}, {.txns = 2});
}

std::string plan_with_log(const zab::History& ours, Zxid theirs) {
  return plan(ours, {.learner_last = theirs, .our_epoch = 5, .use_log = true});
}

TEST(SyncPlan, ALearnerBehindTheWindowGetsADiffFromTheLog) {
  EXPECT_EQ(plan_with_log(with_a_small_window(), zx(4, 8)), "DIFF from the log after 4.8");
  EXPECT_EQ(plan_with_log(with_a_small_window(), zx(4, 7)), "DIFF from the log after 4.7");
  EXPECT_EQ(plan_with_log(with_a_small_window(), zx(5, 1)), "DIFF after 5.1");
}

TEST(SyncPlan, TheLogIsReadOnlyIfTheOperatorAllowsIt) {
  EXPECT_EQ(plan(with_a_small_window(), zx(4, 8)), "SNAP");
  EXPECT_EQ(plan(with_a_small_window(), {.learner_last = zx(4, 8), .force_snapshot = true, .use_log = true}),
            "SNAP");
}

TEST(SyncPlan, TheLogBeforeTheSnapshotOfTheStartIsNotKnownToBeOurs) {
  EXPECT_EQ(plan_with_log(with_a_small_window(), zx(4, 6)), "SNAP");
  EXPECT_EQ(plan_with_log(with_a_small_window(), Zxid{0}), "SNAP");
  // A leader's state has replaced everything.
  zab::History replaced = with_a_small_window();
  replaced.begin_at(zx(6, 2));
  EXPECT_EQ(plan_with_log(replaced, zx(4, 8)), "SNAP");
}

TEST(SyncPlan, TheStartOfAnEpochIsNotLookedForInTheLog) {
  EXPECT_EQ(plan_with_log(with_a_small_window(), zx(5, 0)), "SNAP");
  EXPECT_EQ(plan_with_log(with_a_small_window(), Zxid{-1}), "SNAP");
}

TEST(SyncPlan, ALearnerWithoutAKnownHistoryGetsASnap) { EXPECT_EQ(plan(ours(), Zxid{-1}), "SNAP"); }

TEST(SyncPlan, TheOperatorCanForceASnap) {
  EXPECT_EQ(plan(ours(), {.learner_last = zx(6, 1), .our_epoch = 6, .force_snapshot = true}), "SNAP");
}

TEST(SyncPlan, AnUncommittedTailOfTheLastEpochIsTruncated) {
  EXPECT_EQ(plan(ours(), zx(6, 4)), "TRUNC to 6.1");
}

TEST(SyncPlan, AnUncommittedTailInsideOurRangeIsTruncated) {
  // ZOOKEEPER-1154: it lies between two of ours, so comparing with the ends of the window shows nothing.
  EXPECT_EQ(plan(ours(), zx(5, 4)), "TRUNC to 5.3");
  EXPECT_EQ(plan(ours(), zx(4, 30)), "TRUNC to 4.9");
}

TEST(SyncPlan, ATailOfAnUnknownEpochIsNotComparedByZxid) {
  // ZOOKEEPER-2832: where its history left ours is unknown, whichever zxid is larger.
  EXPECT_EQ(plan(ours(), zx(7, 1)), "SNAP");
  const zab::History skipped = history(zx(4, 7), {zx(4, 8), zx(6, 1)});
  EXPECT_EQ(plan(skipped, zx(5, 1), 6), "SNAP");
}

TEST(SyncPlan, TheZxidOfASnapshotIsATransactionUnlessItsCounterIsZero) {
  EXPECT_EQ(plan(history(zx(4, 7), {}), zx(4, 9), 4), "TRUNC to 4.7");
  // A snapshot at 4.0 holds everything before epoch 4, and does not tell what 4.9 came after.
  EXPECT_EQ(plan(history(zx(4, 0), {}), zx(4, 9), 4), "SNAP");
}

TEST(SyncPlan, OutstandingProposalsAreTruncatedAndSentAgain) {
  zab::History h = ours();
  h.append(batch({zx(6, 2), zx(6, 3)}));
  EXPECT_EQ(plan(h, zx(6, 2), 6), "TRUNC to 6.1");
  EXPECT_EQ(plan(h, zx(6, 3), 6), "TRUNC to 6.1");
  EXPECT_EQ(plan(h, zx(6, 9), 6), "TRUNC to 6.1");
  EXPECT_EQ(plan(h, zx(5, 3), 6), "DIFF after 5.3");
}

TEST(SyncPlan, TheStartOfAnEpochIsTheTransactionBeforeItsFirst) {
  EXPECT_EQ(plan(ours(), zx(5, 0)), "DIFF after 4.9");
  EXPECT_EQ(plan(ours(), zx(6, 0)), "DIFF after 5.3");
  EXPECT_EQ(plan(history(zx(5, 0), {zx(5, 1)}), zx(5, 0)), "DIFF after 5.0");
}

TEST(SyncPlan, TheStartOfOurOwnQuietEpochIsTheEndOfOurHistory) {
  const zab::History h = history(zx(4, 7), {zx(4, 8)});
  EXPECT_EQ(plan(h, zx(5, 0), 5), "DIFF after 4.8");
  EXPECT_EQ(plan(h, zx(5, 0), 4), "SNAP");  // We were not there when 5 began.
  EXPECT_EQ(plan(h, zx(6, 0), 5), "SNAP");
}

TEST(SyncPlan, TheStartOfAnEpochWithoutACommittedTransactionProvesNothing) {
  zab::History h = history(zx(4, 7), {zx(4, 8)});
  h.append(batch({zx(5, 1)}));
  EXPECT_EQ(plan(h, zx(5, 0), 4), "DIFF after 4.8");  // 4.8 is committed, and all that 5 began with
  zab::History undecided = history(zx(4, 7), {});
  undecided.append(batch({zx(4, 8), zx(5, 1)}));
  EXPECT_EQ(plan(undecided, zx(5, 0), 4), "SNAP");
}

// --- the property ---

// Zab's rules for histories: an epoch has one leader; its proposals have contiguous zxids; each server that
// takes part in the epoch holds a prefix of them after everything that the epoch began with.
struct World {
  std::vector<Zxid> leader;   // what we lead with
  std::vector<Zxid> learner;  // shares a beginning, then may have a tail that was never agreed on
  std::size_t snapshot = 0;   // how much of ours is only in a snapshot
  std::size_t window = 500;   // how many of ours are in memory, at most
};

World random_world(Random& random) {
  World world;
  std::uint32_t epoch = 1;
  const auto grow = [&](std::vector<Zxid>& log, std::uint64_t count) {
    for (std::uint32_t i = 1; i <= count; ++i) log.push_back(zx(epoch, i));
  };
  for (std::uint64_t epochs = 1 + random.below(3); epochs > 0; --epochs, ++epoch) {
    grow(world.leader, random.below(4));
  }
  // The learner was there for a while,
  world.learner.assign(
      world.leader.begin(),
      world.leader.begin() + static_cast<std::ptrdiff_t>(random.below(world.leader.size() + 1)));
  // and logged proposals of a leader that then failed: more of the same epoch, or an epoch of its own.
  if (random.below(2) == 0 && !world.learner.empty() && world.learner.size() == world.leader.size()) {
    for (std::uint64_t n = random.below(3); n > 0; --n) world.learner.push_back(next(world.learner.back()));
  } else if (random.below(2) == 0) {
    const std::uint32_t lost = epoch++;
    for (std::uint32_t i = 1; i <= 1 + random.below(2); ++i) world.learner.push_back(zx(lost, i));
  }
  // Meanwhile we continued, in a later epoch.
  if (random.below(2) == 0) grow(world.leader, 1 + random.below(3));
  world.snapshot = random.below(world.leader.size() + 1);
  if (random.below(2) == 0) world.window = random.below(4);
  return world;
}

zab::History history_of(const World& world) {
  const std::vector<Zxid>& log = world.leader;
  const auto at = log.begin() + static_cast<std::ptrdiff_t>(world.snapshot);
  return history(world.snapshot == 0 ? Zxid{0} : log[world.snapshot - 1], {at, log.end()},
                 {.txns = world.window});
}

TEST(SyncPlan, TheLearnerAlwaysEndsWithExactlyOurHistory) {
  int kinds[4] = {};
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const World world = random_world(random);
    const zab::History h = history_of(world);
    const Zxid theirs = world.learner.empty() ? Zxid{0} : world.learner.back();
    const SyncPlan plan = plan_sync(h, {.learner_last = theirs, .our_epoch = 9, .use_log = true});
    ++kinds[static_cast<int>(plan.kind)];
    if (plan.kind == SyncPlan::Kind::kSnap) continue;

    std::vector<Zxid> result = world.learner;
    if (plan.kind == SyncPlan::Kind::kLogDiff) {
      ASSERT_LT(plan.from, h.window_begin());
      auto in_log = std::ranges::find(world.leader, plan.from);
      if (in_log == world.leader.end()) continue;  // Whoever reads the log finds that out.
      for (++in_log; *in_log <= h.window_begin(); ++in_log) result.push_back(*in_log);
      h.for_each(h.window_begin(), h.committed(),
                 [&](Zxid zxid, std::string_view) { result.push_back(zxid); });
      ASSERT_EQ(result, world.leader);
      continue;
    }
    if (plan.kind == SyncPlan::Kind::kTrunc) {
      const bool known = plan.from == Zxid{0} || std::count(result.begin(), result.end(), plan.from) == 1;
      ASSERT_TRUE(known) << "cut at " << text(plan.from) << ", which the learner does not have";
      std::erase_if(result, [&](Zxid zxid) { return zxid > plan.from; });
    }
    h.for_each(plan.from, h.committed(), [&](Zxid zxid, std::string_view) { result.push_back(zxid); });
    ASSERT_EQ(result, world.leader);
  }
  for (const int count : kinds) EXPECT_GT(count, 500);  // None of them is missed by accident.
}

}  // namespace
}  // namespace drover::zab

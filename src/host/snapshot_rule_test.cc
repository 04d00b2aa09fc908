// SPDX-License-Identifier: Apache-2.0
#include "host/snapshot_rule.h"

#include <gtest/gtest.h>

#include <set>

namespace drover::host {
namespace {

TEST(SnapshotRule, TriggersBetweenHalfOfSnapCountAndSnapCount) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    SnapshotRule rule({.txns = 100}, seed);
    int txns = 0;
    for (; !rule.is_due(0); ++txns) rule.count(1, 10);
    EXPECT_GT(txns, 50);
    EXPECT_LE(txns, 100);
  }
}

TEST(SnapshotRule, DoesNotTriggerAtTheSameTimeOnAllServers) {
  std::set<int> counts;
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    SnapshotRule rule({.txns = 1000}, seed);
    int txns = 0;
    for (; !rule.is_due(0); ++txns) rule.count(1, 10);
    counts.insert(txns);
  }
  EXPECT_GT(counts.size(), 30u);
}

TEST(SnapshotRule, WaitsForALogHalfAsLargeAsTheNewestSnapshot) {
  SnapshotRule rule({.txns = 10}, 1);
  rule.count(1000, 499);
  EXPECT_FALSE(rule.is_due(1000)) << "replaying it is cheaper than writing the tree again";
  rule.count(1, 1);
  EXPECT_TRUE(rule.is_due(1000));
}

TEST(SnapshotRule, TriggersAtTheSizeLimitWhateverTheSizeOfTheSnapshot) {
  SnapshotRule rule({.txns = 1'000'000, .bytes = 100}, 1);
  rule.count(1, 50);
  EXPECT_FALSE(rule.is_due(1'000'000));
  rule.count(1, 51);
  EXPECT_TRUE(rule.is_due(1'000'000));
}

TEST(SnapshotRule, StartsCountingAgainAfterATrigger) {
  SnapshotRule rule({.txns = 10}, 1);
  rule.count(11, 11);
  ASSERT_TRUE(rule.is_due(0));
  rule.begin_anew();
  EXPECT_FALSE(rule.is_due(0));
}

}  // namespace
}  // namespace drover::host

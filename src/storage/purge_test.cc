// SPDX-License-Identifier: Apache-2.0
#include "storage/purge.h"

#include <gtest/gtest.h>

#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

// Snapshots at 0, 10, 20, 30, 40, each followed by a log of the next ten transactions.
struct Purge : ::testing::Test {
  Purge() {
    for (std::uint32_t c = 1; c <= 41; c += 10) {
      store.log(range(1, c, c + 9));
      store.writer->roll();
      if (c <= 31) {
        EXPECT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, c + 9)));
      }
    }
  }
  std::vector<std::string> remaining(std::string_view prefix) {
    std::vector<std::string> names;
    const auto all = store.disk.list(store.dirs.logs);
    for (const std::string& name : *all) {
      if (name.starts_with(prefix)) names.push_back(name);
    }
    return names;
  }
  void corrupt(std::uint32_t c) { store.disk.flip_bit(store.snapshot_path(zx(1, c)), 100 * 8); }

  Store store;
};

TEST_F(Purge, KeepsTheNewestSnapshotsAndTheLogsTheyNeed) {
  const auto report = purge(store.disk, store.dirs, {.retain = 2});
  ASSERT_TRUE(report);
  EXPECT_EQ(remaining("snapshot."), (std::vector<std::string>{"snapshot.10000001e", "snapshot.100000028"}));
  EXPECT_EQ(remaining("log."), (std::vector<std::string>{"log.100000015", "log.10000001f", "log.100000029"}));
  EXPECT_EQ(report->removed.size(), 5u);
  EXPECT_EQ(store.start().last, zx(1, 50));
}

TEST_F(Purge, LeavesEnoughToRecoverFromTheOldestSnapshotKept) {
  ASSERT_TRUE(purge(store.disk, store.dirs, {.retain = 2}));
  corrupt(40);
  const RecoveryReport report = store.start();
  EXPECT_EQ(report.last, zx(1, 50)) << report.damage;
  EXPECT_EQ(*report.snapshot, zx(1, 30));
}

TEST_F(Purge, DoesNotCountSnapshotsThatAreCorrupt) {
  corrupt(40);
  corrupt(30);
  const auto report = purge(store.disk, store.dirs, {.retain = 1});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->findings.size(), 2u);
  EXPECT_TRUE(*store.disk.exists(store.snapshot_path(zx(1, 20))));
  EXPECT_EQ(store.start().last, zx(1, 50));
}

TEST_F(Purge, DeletesNothingWhenNothingIsValid) {
  for (const std::uint32_t c : {10, 20, 30, 40}) corrupt(c);
  store.disk.set_contents(store.snapshot_path(Zxid{0}), "");
  const auto report = purge(store.disk, store.dirs, {.retain = 1});
  EXPECT_TRUE(report->removed.empty());
  EXPECT_EQ(remaining("log.").size(), 5u);
}

TEST_F(Purge, KeepsFewerButAtLeastOneWhenTheyAreTooLarge) {
  ASSERT_TRUE(purge(store.disk, store.dirs, {.retain = 5, .bytes_max = 1}));
  EXPECT_EQ(remaining("snapshot."), (std::vector<std::string>{"snapshot.100000028"}));
  EXPECT_EQ(store.start().last, zx(1, 50));
}

TEST_F(Purge, KeepsAllThatFit) {
  EXPECT_TRUE(purge(store.disk, store.dirs, {.retain = 5, .bytes_max = 100 << 20})->removed.empty());
}

TEST_F(Purge, DoesNotDisturbTheWriter) {
  store.start();
  ASSERT_TRUE(purge(store.disk, store.dirs, {.retain = 1}));
  store.log(range(1, 51, 55));
  EXPECT_EQ(store.start().last, zx(1, 55));
}

}  // namespace
}  // namespace drover::storage::testing

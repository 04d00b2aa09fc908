// SPDX-License-Identifier: Apache-2.0
#include "storage/truncate.h"

#include <gtest/gtest.h>

#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

// Three log files of one epoch.
void fill(Store& store) {
  store.log(range(1, 1, 20));
  store.writer->roll();
  store.log(range(1, 21, 40));
  store.writer->roll();
  store.log(range(1, 41, 50));
  store.writer.reset();
}

struct Truncate : ::testing::Test {
  Truncate() { fill(store); }
  Store store;
};

TEST_F(Truncate, CutsTheLogAfterTheTransaction) {
  for (const std::uint32_t to : {45u, 40u, 33u, 20u, 5u, 1u}) {
    const auto report = truncate_history(store.disk, store.dirs, zx(1, to));
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->last, zx(1, to));
    store.disk.crash(Survival::kLose);
    EXPECT_EQ(store.start().last, zx(1, to));
    EXPECT_EQ(store.sink.history, range(1, 1, to));
    store.writer.reset();
  }
}

TEST_F(Truncate, ADifferentHistoryCanFollow) {
  ASSERT_TRUE(truncate_history(store.disk, store.dirs, zx(1, 33)));
  store.log(range(2, 1, 5));
  EXPECT_EQ(store.start().last, zx(2, 5));
  EXPECT_EQ(store.sink.history, joined(range(1, 1, 33), range(2, 1, 5)));
}

TEST_F(Truncate, RemovesLaterSnapshots) {
  // ZOOKEEPER-4837: a reload would bring back what was truncated.
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 10)));
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 42)));
  const auto report = truncate_history(store.disk, store.dirs, zx(1, 41));
  ASSERT_TRUE(report) << report.error().what;
  const RecoveryReport recovered = store.start();
  EXPECT_EQ(recovered.last, zx(1, 41));
  EXPECT_EQ(*recovered.snapshot, zx(1, 10));
}

TEST_F(Truncate, RemovesAnEarlierFuzzySnapshotThatShowsLaterTransactions) {
  auto writer = SnapshotWriter::open(store.disk, store.dirs.snapshots, zx(1, 30));
  writer->begin_sessions(0);
  writer->begin_acls(0);
  for (const Zxid zxid : range(1, 1, 36)) {
    wire::StatPersisted stat;
    stat.czxid = zxid;
    writer->node("/" + hex(zxid), std::nullopt, -1, stat);
  }
  ASSERT_TRUE(writer->finish());
  ASSERT_TRUE(truncate_history(store.disk, store.dirs, zx(1, 35)));
  EXPECT_EQ(*store.start().snapshot, Zxid{0});
  EXPECT_EQ(store.sink.history, range(1, 1, 35));
}

TEST_F(Truncate, ChangesNothingWhenNoSnapshotIsOldEnough) {
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 42)));
  ASSERT_TRUE(store.disk.unlink(store.snapshot_path(Zxid{0})));
  EXPECT_FALSE(truncate_history(store.disk, store.dirs, zx(1, 41)));
  EXPECT_EQ(store.start().last, zx(1, 50));
}

TEST_F(Truncate, ChangesNothingWhenTheKeptPartIsDamaged) {
  store.disk.flip_bit(store.log_path(zx(1, 1)), 2000 * 8);
  EXPECT_FALSE(truncate_history(store.disk, store.dirs, zx(1, 41)));
  EXPECT_TRUE(*store.disk.exists(store.log_path(zx(1, 41))));
}

TEST_F(Truncate, ChangesNothingWhenTheTransactionWasNeverLogged) {
  store.log(range(3, 1, 2));
  store.writer.reset();
  for (const Zxid point : {zx(1, 51), zx(2, 3), zx(3, 3)}) {
    EXPECT_FALSE(truncate_history(store.disk, store.dirs, point));
    EXPECT_EQ(store.start().last, zx(3, 2));
    store.writer.reset();
  }
}

}  // namespace
}  // namespace drover::storage::testing

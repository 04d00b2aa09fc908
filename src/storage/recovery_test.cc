// SPDX-License-Identifier: Apache-2.0
//
// The matrix {no snapshot, an empty one, a bad one} x {no log, a log} (ZOOKEEPER-2325, 3056, 3644), and
// what recovery may conclude from snapshots that do not verify.
#include "storage/recovery.h"

#include <gtest/gtest.h>

#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

struct Recovery : ::testing::Test {
  void remove_snapshot() { ASSERT_TRUE(store.disk.unlink(store.snapshot_path(Zxid{0}))); }
  void empty_snapshot(Zxid zxid) { store.disk.set_contents(store.snapshot_path(zxid), ""); }
  void corrupt_snapshot(Zxid zxid) { store.disk.flip_bit(store.snapshot_path(zxid), 60 * 8); }

  Store store;
};

TEST_F(Recovery, OfAnEmptyDirectoryMayStartOnlyIfTheOperatorAllowsIt) {
  remove_snapshot();
  RecoveryReport report = store.start();
  EXPECT_EQ(report.outcome, RecoveryOutcome::kEmpty);
  EXPECT_FALSE(report.may_start_empty);
  EXPECT_EQ(report.last, Zxid{-1}) << "a wiped server does not vote on its emptiness";

  report = store.start({.autocreate = true});
  EXPECT_TRUE(report.may_start_empty);
  EXPECT_EQ(report.last, Zxid{0});

  store.disk.set_contents("/data/initialize", "");
  EXPECT_TRUE(store.start().may_start_empty);
  EXPECT_TRUE(*store.disk.exists("/data/initialize")) << "it stays until there is a snapshot";
}

TEST_F(Recovery, OfAHistoryThatIsBeingSetAsideIsDamageEvenIfItLooksComplete) {
  store.log(range(1, 1, 5));
  ASSERT_TRUE(set_replacing_mark(store.disk, store.dirs, Replacing::kMoving));
  RecoveryReport report = store.start({.trust_empty = true, .autocreate = true});
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(report.last, Zxid{-1});
  EXPECT_TRUE(store.sink.history.empty());
  EXPECT_NE(report.damage.find("drover.replacing"), std::string::npos) << "the operator may decide otherwise";

  remove_snapshot();
  ASSERT_TRUE(store.disk.unlink(store.log_path(zx(1, 1))));
  EXPECT_FALSE(store.start({.autocreate = true}).may_start_empty);
}

TEST_F(Recovery, TreatsADirectoryThatAwaitsAStateAsNotNew) {
  ASSERT_TRUE(set_replacing_mark(store.disk, store.dirs, Replacing::kAwaiting));
  remove_snapshot();
  RecoveryReport report = store.start({.autocreate = true});
  EXPECT_EQ(report.outcome, RecoveryOutcome::kEmpty);
  EXPECT_FALSE(report.may_start_empty);
  EXPECT_EQ(report.last, Zxid{-1});

  store.disk.set_contents("/data/initialize", "");
  EXPECT_TRUE(store.start().may_start_empty) << "the operator created the mark after the waiting began";
}

TEST_F(Recovery, MakesAnAwaitedStateDurableAndStopsWaiting) {
  remove_snapshot();
  ASSERT_TRUE(set_replacing_mark(store.disk, store.dirs, Replacing::kAwaiting));
  // If a process is killed before it syncs the directory, the file's name exists only in memory.
  store.disk.inject({.error = EIO, .only = DiskOperation::kSyncDirectory});
  ASSERT_FALSE(write_snapshot(store.disk, store.dirs, range(3, 1, 5)));
  EXPECT_EQ(recover(store.disk, store.dirs, {.repair = false}, store.sink)->last, zx(3, 5));
  EXPECT_EQ(replacing_mark(store.disk, store.dirs), Replacing::kAwaiting) << "only looked";

  EXPECT_EQ(recover(store.disk, store.dirs, {}, store.sink)->last, zx(3, 5));
  store.disk.crash(Survival::kLose);
  EXPECT_EQ(replacing_mark(store.disk, store.dirs), Replacing::kNo);
  EXPECT_EQ(store.start().last, zx(3, 5)) << "the server already claimed to have it";
}

TEST_F(Recovery, FallsBackToTheOldHistoryIfARestoredStateCannotBeLoaded) {
  store.log(range(1, 1, 5));
  const auto incoming = write_snapshot(store.disk, store.dirs, range(3, 1, 2), {.incoming = true});
  ASSERT_TRUE(incoming);
  store.disk.flip_bit(join_path(store.dirs.snapshots, *incoming), 60 * 8);
  ASSERT_TRUE(set_replacing_mark(store.disk, store.dirs, Replacing::kTrying));
  const RecoveryReport report = store.start();
  EXPECT_EQ(report.last, zx(1, 5));
  ASSERT_FALSE(report.findings.empty());
  EXPECT_NE(report.findings.front().find("served again"), std::string::npos);
  EXPECT_EQ(replacing_mark(store.disk, store.dirs), Replacing::kNo);
  EXPECT_FALSE(*store.disk.exists(join_path(store.dirs.snapshots, *incoming)));
}

TEST_F(Recovery, UsesARestoredStateThatCanBeLoaded) {
  store.log(range(4, 1, 5));
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(3, 1, 2), {.incoming = true}));
  ASSERT_TRUE(set_replacing_mark(store.disk, store.dirs, Replacing::kTrying));
  EXPECT_EQ(recover(store.disk, store.dirs, {.repair = false}, store.sink)->last, zx(4, 5)) << "only looked";
  EXPECT_EQ(store.start().last, zx(3, 2));
  EXPECT_EQ(store.sink.history, range(3, 1, 2));
  store.disk.crash(Survival::kLose);
  EXPECT_EQ(store.start().last, zx(3, 2));
  EXPECT_FALSE(*store.disk.exists(store.log_path(zx(4, 1))));
}

TEST_F(Recovery, TreatsLogsWithoutASnapshotAsDamageUnlessTheEmptyTreeIsTrusted) {
  store.log(range(1, 1, 5));
  remove_snapshot();
  RecoveryReport report = store.start({.autocreate = true});
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(report.last, Zxid{-1});

  report = store.start({.trust_empty = true});
  EXPECT_EQ(report.outcome, RecoveryOutcome::kRecovered) << report.damage;
  EXPECT_EQ(report.txns_replayed, 5u);
  EXPECT_EQ(store.sink.history, range(1, 1, 5));
}

TEST_F(Recovery, DoesNotTrustTheEmptyTreeForALogThatBeginsLater) {
  store.log(range(1, 1, 5));
  store.writer->roll();
  store.log(range(1, 6, 9));
  remove_snapshot();
  ASSERT_TRUE(store.disk.unlink(store.log_path(zx(1, 1))));
  EXPECT_TRUE(store.start({.trust_empty = true}).damaged());
}

TEST_F(Recovery, TreatsACorruptSnapshotAtZxidZeroAsEmpty) {
  // Java crashed while it wrote its first snapshot.
  empty_snapshot(Zxid{0});
  EXPECT_EQ(store.start({.autocreate = true}).outcome, RecoveryOutcome::kEmpty);
}

TEST_F(Recovery, TreatsACorruptSnapshotWithoutALogAsDamage) {
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 5)));
  remove_snapshot();
  corrupt_snapshot(zx(1, 5));
  EXPECT_TRUE(store.start({.autocreate = true}).damaged());
  empty_snapshot(zx(1, 5));
  EXPECT_TRUE(store.start({.autocreate = true}).damaged());
}

TEST_F(Recovery, TreatsACorruptSnapshotWithALogAsDamageUnlessTheEmptyTreeIsTrusted) {
  store.log(range(1, 1, 5));
  for (const bool empty : {true, false}) {
    empty ? empty_snapshot(Zxid{0}) : corrupt_snapshot(Zxid{0});
    EXPECT_TRUE(store.start().damaged());
    EXPECT_EQ(store.start({.trust_empty = true}).last, zx(1, 5));
    ASSERT_TRUE(write_snapshot(store.disk, store.dirs, {}));
  }
}

TEST_F(Recovery, UsesTheNewestSnapshotAndReplaysOnlyLaterTransactions) {
  store.log(range(1, 1, 10));
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 7)));
  const RecoveryReport report = store.start();
  EXPECT_EQ(*report.snapshot, zx(1, 7));
  EXPECT_EQ(report.snapshot_file, "snapshot.100000007");
  EXPECT_EQ(report.txns_replayed, 3u);
  EXPECT_EQ(store.sink.history, range(1, 1, 10));
  EXPECT_EQ(store.sink.digest->tree, 42u);
}

TEST_F(Recovery, FallsBackToAnOlderSnapshotAndReportsItIfTheLogCoversTheGap) {
  store.log(range(1, 1, 10));
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 7)));
  corrupt_snapshot(zx(1, 7));
  const RecoveryReport report = store.start();
  EXPECT_EQ(report.outcome, RecoveryOutcome::kRecovered);
  EXPECT_EQ(*report.snapshot, Zxid{0});
  EXPECT_EQ(store.sink.history, range(1, 1, 10));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_NE(report.findings[0].find("snapshot.100000007"), std::string::npos);
}

TEST_F(Recovery, DoesNotFallBackAcrossAGapInTheLog) {
  // A leader's snapshot at 20 was installed over a log that ended at 10.
  store.log(range(1, 1, 10));
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 20)));
  store.start();
  store.log(range(1, 21, 25));
  EXPECT_EQ(store.start().last, zx(1, 25));
  corrupt_snapshot(zx(1, 20));
  EXPECT_TRUE(store.start().damaged());
}

TEST_F(Recovery, DoesNotFallBackWhenTheLogEndsBeforeTheCorruptSnapshot) {
  store.log(range(1, 1, 10));
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 20)));
  corrupt_snapshot(zx(1, 20));
  const RecoveryReport report = store.start();
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(report.last, zx(1, 10));
}

TEST_F(Recovery, TakesTheZxidFromASnapshotWithoutALog) {
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(7, 1, 5)));
  EXPECT_EQ(store.start().last, zx(7, 5));
}

TEST_F(Recovery, ReportsATransactionThatCannotBeApplied) {
  class Picky final : public RecoverySink {
   public:
    void reset() override {}
    bool session(SessionId, std::int32_t) override { return true; }
    bool acl(std::int64_t, std::string_view) override { return true; }
    bool node(std::string_view, const wire::Nullable&, std::int64_t, const wire::StatPersisted&) override {
      return true;
    }
    void snapshot_loaded(Zxid, const std::optional<SnapshotDigest>&) override {}
    bool txn(Zxid zxid, std::string_view) override { return zxid != zx(1, 4); }
  };
  store.log(range(1, 1, 10));
  Picky sink;
  const auto report = recover(store.disk, store.dirs, {}, sink);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->damaged());
  EXPECT_NE(report->damage.find("0x100000004"), std::string::npos);
}

TEST_F(Recovery, MakesTheLogDurableBeforeItIsUsed) {
  // A killed process leaves an unsynced batch in the page cache. Recovery finds it, so it must not be lost
  // later.
  store.start();
  ASSERT_TRUE(store.writer->append(batch(range(1, 1, 3))));
  store.writer.reset();
  EXPECT_EQ(recover(store.disk, store.dirs, {}, store.sink)->last, zx(1, 3));
  store.disk.crash(Survival::kLose);
  EXPECT_EQ(store.start().last, zx(1, 3));
}

TEST_F(Recovery, MakesASnapshotsNameDurableBeforeItIsUsed) {
  remove_snapshot();
  store.disk.inject({.error = EIO, .only = DiskOperation::kSyncDirectory});
  ASSERT_FALSE(write_snapshot(store.disk, store.dirs, range(3, 1, 5)));
  EXPECT_EQ(recover(store.disk, store.dirs, {}, store.sink)->last, zx(3, 5));
  store.disk.crash(Survival::kLose);
  EXPECT_EQ(store.start().last, zx(3, 5));
}

TEST_F(Recovery, RepairsATornTailSoThatItIsNotDamageWithoutTheSideFile) {
  // Sectors of a torn batch survive in any order, so complete records may follow the tear. Our watermark says
  // that they were never synced; Java, or Drover without the watermark, cannot know that.
  int torn = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Store s(seed);
    s.log(range(1, 1, 3));
    ASSERT_TRUE(s.writer->append(batch(range(1, 4, 30))));
    s.writer.reset();
    s.disk.crash(Survival::kTear);
    const auto report = recover(s.disk, s.dirs, {}, s.sink);
    ASSERT_FALSE(report->damaged()) << report->damage;
    ASSERT_GE(report->last, zx(1, 3));
    torn += report->torn_tail ? 1 : 0;
    ASSERT_TRUE(s.disk.unlink(s.links_path()));
    EXPECT_FALSE(recover(s.disk, s.dirs, {}, s.sink)->damaged());
  }
  EXPECT_GT(torn, 20);
}

TEST_F(Recovery, WithoutRepairChangesNothing) {
  store.log(range(1, 1, 3));
  store.disk.set_contents(store.log_path(zx(2, 1)), "");
  const std::uint64_t before = store.disk.operations();
  ASSERT_TRUE(recover(store.disk, store.dirs, {.repair = false}, store.sink));
  EXPECT_EQ(store.disk.operations(), before);
  EXPECT_TRUE(*store.disk.exists(store.log_path(zx(2, 1))));
}

TEST_F(Recovery, RefusesDirectoriesThatAreMixedUp) {
  store.log(range(1, 1, 3));
  DataDirs dirs = data_dirs("/data", "/elsewhere");
  ASSERT_TRUE(store.disk.make_directories(dirs.logs));
  EXPECT_FALSE(recover(store.disk, dirs, {}, store.sink));
}

}  // namespace
}  // namespace drover::storage::testing

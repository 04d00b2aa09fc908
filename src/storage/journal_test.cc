// SPDX-License-Identifier: Apache-2.0
//
// The journal's operations without faults, or with ordinary ones. Crashes are in journal_crash_test.cc.
#include "storage/journal.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "storage/journal_testing.h"

namespace drover::storage::testing {
namespace {

IoResult<void> broken_state(SnapshotWriter& writer) {
  writer.begin_sessions(3);
  return std::unexpected(data_error("the stream broke off"));
}

// --- replace ---

TEST(Journal, TheHistoryAfterReplaceIsTheStatePlusLaterAppends) {
  for (const Past& past : all_pasts()) {
    World w(data_dirs("/data", "/logs"));
    begin(w, past);
    const Names before = w.set_aside(w.dirs().snapshots);
    EXPECT_EQ(*w.journal->replace(zx(1, 30), state_of(range(1, 1, 30))), "snapshot.10000001e");
    ASSERT_TRUE(w.append(range(1, 31, 33)));
    w.journal->log().roll();
    ASSERT_TRUE(w.append(range(4, 1, 3)));
    w.crash(Survival::kLose);
    ASSERT_TRUE(w.start());
    EXPECT_EQ(w.sink.history, joined(range(1, 1, 33), range(4, 1, 3))) << w.report.damage;
    EXPECT_EQ(w.set_aside(w.dirs().snapshots), before)
        << "the history that replace() itself put away is not kept";
  }
}

TEST(Journal, ReplaceKeepsHistoriesThatWereDiscardedBefore) {
  World w(data_dirs("/data", "/logs"));
  begin(w, one_epoch());
  ASSERT_TRUE(w.journal->discard());
  ASSERT_TRUE(w.journal->replace(zx(2, 4), state_of(range(2, 1, 4))));
  ASSERT_TRUE(w.append(range(2, 5, 6)));
  ASSERT_TRUE(w.journal->replace(zx(2, 9), state_of(range(2, 1, 9))));
  EXPECT_EQ(w.set_aside(w.dirs().snapshots), Names{"set-aside.1"});
  EXPECT_EQ(w.set_aside(w.dirs().logs), Names{"set-aside.1"});
  EXPECT_TRUE(*w.disk.exists("/logs/version-2/set-aside.1/log.100000029"));
}

TEST(Journal, CanReplaceWithACompressedSnapshot) {
  World w(data_dirs("/data"));
  begin(w, one_epoch());
  EXPECT_EQ(*w.journal->replace(zx(2, 4), state_of(range(2, 1, 4)), {.compression = Compression::kGzip}),
            "snapshot.200000004.gz");
  ASSERT_TRUE(w.start());
  EXPECT_EQ(w.sink.history, range(2, 1, 4));
}

TEST(Journal, AStateThatCannotBeWrittenKeepsTheOldHistory) {
  World w(data_dirs("/data"));
  begin(w, one_epoch());
  EXPECT_FALSE(w.journal->replace(zx(2, 4), broken_state));
  EXPECT_FALSE(w.journal->is_open());
  w.crash(Survival::kKeep);
  ASSERT_TRUE(w.start());
  EXPECT_EQ(w.sink.history, one_epoch().history) << w.report.damage;
  ASSERT_TRUE(w.journal->replace(zx(2, 4), state_of(range(2, 1, 4))));
  EXPECT_TRUE(w.append(range(2, 5, 6)));
}

TEST(Journal, FailedReplacesDoNotAccumulateOldHistories) {
  World w(data_dirs("/data"));
  begin(w, one_epoch());
  for (std::uint32_t epoch = 2; epoch <= 5; ++epoch) {
    ASSERT_FALSE(w.journal->replace(zx(epoch, 4), broken_state));
    ASSERT_TRUE(w.journal->replace(zx(epoch, 4), state_of(range(epoch, 1, 4))));
    EXPECT_LE(w.set_aside(w.dirs().snapshots).size(), 2u);
  }
}

TEST(Journal, AStateForANewServerRemovesItsInitializeMark) {
  World w(data_dirs("/data"));
  w.disk.set_contents("/data/initialize", "");
  begin(w, nothing());
  const auto while_writing = [&](SnapshotWriter& writer) {
    EXPECT_TRUE(*w.disk.exists("/data/initialize")) << "not before the state has arrived";
    return state_of(range(2, 1, 4))(writer);
  };
  ASSERT_TRUE(w.journal->replace(zx(2, 4), while_writing));
  EXPECT_FALSE(*w.disk.exists("/data/initialize"));
}

TEST(Journal, RefusesAStateWithoutAZxidAndChangesNothing) {
  World w(data_dirs("/data"));
  begin(w, one_epoch());
  EXPECT_FALSE(w.journal->replace(Zxid{-1}, state_of({})));
  ASSERT_TRUE(w.start());
  EXPECT_EQ(w.sink.history, range(1, 1, 50));
}

// --- discard ---

TEST(Journal, DiscardKeepsTheLastTwoHistories) {
  for (const DataDirs& dirs : all_dirs()) {
    World w(dirs);
    begin(w, one_epoch());
    for (std::uint32_t epoch = 2; epoch <= 5; ++epoch) {
      ASSERT_TRUE(w.journal->discard());
      ASSERT_TRUE(w.journal->discard()) << "nothing more to put away";
      EXPECT_LE(w.set_aside(dirs.snapshots).size(), 2u);
      ASSERT_TRUE(w.journal->replace(zx(epoch, 1), state_of(range(epoch, 1, 1))));
      ASSERT_TRUE(w.append(range(epoch, 2, 3)));
    }
    EXPECT_EQ(w.set_aside(dirs.snapshots), (Names{"set-aside.3", "set-aside.4"}));
    EXPECT_EQ(w.set_aside(dirs.logs), (Names{"set-aside.3", "set-aside.4"}));
    EXPECT_TRUE(*w.disk.exists(w.path("set-aside.4/snapshot.400000001")));
    EXPECT_TRUE(*w.disk.exists(join_path(dirs.logs, "set-aside.4/log.400000002")));
  }
}

TEST(Journal, TransactionsWithoutTheAwaitedStateAreDamage) {
  World w(data_dirs("/data"));
  begin(w, one_epoch());
  ASSERT_TRUE(w.journal->discard());
  ASSERT_TRUE(w.append(range(2, 1, 3)));
  ASSERT_TRUE(w.start());
  EXPECT_TRUE(w.report.damaged());
}

// --- truncate ---

TEST(Journal, AcceptsADifferentHistoryAfterATruncation) {
  World w(data_dirs("/data"));
  begin(w, three_epochs());
  ASSERT_TRUE(w.append(range(3, 6, 8)));
  ASSERT_TRUE(w.journal->log().append(batch(range(3, 9, 9)))) << "not synced";
  EXPECT_EQ(w.journal->truncate(zx(3, 7))->last, zx(3, 7));
  ASSERT_TRUE(w.append(range(4, 1, 3)));
  EXPECT_EQ(w.journal->truncate(zx(2, 4))->last, zx(2, 4));
  ASSERT_TRUE(w.append(range(5, 1, 3)));
  w.crash(Survival::kLose);
  ASSERT_TRUE(w.start());
  EXPECT_EQ(w.sink.history, joined(joined(range(1, 1, 20), range(2, 1, 4)), range(5, 1, 3)));
}

TEST(Journal, DetectsALogThatIsShorterThanItsTruncation) {
  for (const bool went_on : {false, true}) {
    World w(data_dirs("/data"));
    begin(w, one_epoch());
    ASSERT_TRUE(w.journal->truncate(zx(1, 33)));
    ASSERT_TRUE(!went_on || w.append(range(2, 1, 3)));
    w.crash(Survival::kLose);
    const std::string bytes = w.disk.contents(w.path("log.100000015"));
    w.disk.set_contents(w.path("log.100000015"), bytes.substr(0, bytes.size() - 1));
    ASSERT_TRUE(w.start());
    EXPECT_TRUE(w.report.damaged());
  }
}

TEST(Journal, DoesNotTruncateALogThatFailed) {
  World w(data_dirs("/data"));
  begin(w, one_epoch());
  w.disk.inject({.error = EIO, .only = DiskOperation::kSync, .path_contains = "log."});
  ASSERT_FALSE(w.append(range(1, 51, 52)));
  const auto report = w.journal->truncate(zx(1, 33));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, EIO) << "the process has to end";
}

TEST(Journal, AnImpossibleTruncationChangesNothingAndAStateCanReplaceTheHistory) {
  World w(data_dirs("/data"));
  begin(w, only_a_snapshot());
  const auto report = w.journal->truncate(zx(1, 3));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, 0);
  EXPECT_FALSE(w.journal->is_open());
  EXPECT_EQ(w.journal->truncate(zx(1, 3)).error().code, 0);
  World looking(data_dirs("/data"));
  ASSERT_EQ(recover(w.disk, w.dirs(), {}, looking.sink)->last, zx(1, 5));
  ASSERT_TRUE(w.journal->discard());
  ASSERT_TRUE(w.journal->replace(zx(1, 3), state_of(range(1, 1, 3))));
  ASSERT_TRUE(w.append(range(1, 4, 4)));
}

TEST(Journal, CannotTruncateToASnapshotThatIsAheadOfItsName) {
  World w(data_dirs("/data"));
  begin(w, nothing());
  ASSERT_TRUE(w.journal->replace(zx(1, 10), state_of(range(1, 1, 12))));
  ASSERT_TRUE(w.append(range(1, 11, 20)));
  EXPECT_FALSE(w.journal->truncate(zx(1, 11))) << "the snapshot shows transaction 12";
}

// --- the rest ---

TEST(Journal, WithDamageStaysClosedAndKeepsTheEvidence) {
  World w(data_dirs("/data"));
  begin(w, one_epoch());
  w.stop();
  for (const char* name : {"log.100000029", "snapshot.100000032"}) ASSERT_TRUE(w.disk.unlink(w.path(name)));
  for (int restarts = 0; restarts < 3; ++restarts) {
    ASSERT_TRUE(w.start());
    ASSERT_TRUE(w.report.damaged()) << "a restart must not make a shortened history whole";
    EXPECT_FALSE(w.journal->is_open());
    ASSERT_TRUE(w.journal->save_epoch(EpochFile::kAccepted, 10));
  }
  ASSERT_TRUE(w.journal->replace(zx(2, 4), state_of(range(2, 1, 4))));
  ASSERT_TRUE(w.start());
  EXPECT_EQ(w.sink.history, range(2, 1, 4));
}

TEST(Journal, SavesEpochsDurably) {
  World w(data_dirs("/data"));
  begin(w, nothing());
  ASSERT_TRUE(w.journal->save_epoch(EpochFile::kAccepted, 12));
  ASSERT_TRUE(w.journal->save_epoch(EpochFile::kCurrent, 11));
  w.crash(Survival::kLose);
  EXPECT_EQ(*read_epoch(w.disk, w.dirs().snapshots, EpochFile::kAccepted), 12u);
  EXPECT_EQ(*read_epoch(w.disk, w.dirs().snapshots, EpochFile::kCurrent), 11u);
}

}  // namespace
}  // namespace drover::storage::testing

// SPDX-License-Identifier: Apache-2.0
//
// Where files are moved and which ones stay. journal_crash_test.cc shows that no crash on the way makes a
// history out of the pieces.
#include "storage/set_aside.h"

#include <gtest/gtest.h>

#include "storage/log_links.h"
#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

using Names = std::vector<std::string>;

// A directory with two log files and two snapshots.
void fill(Store& store) {
  store.log(range(1, 1, 20));
  store.writer->roll();
  store.log(range(1, 21, 50));
  store.writer.reset();
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 42)));
}

struct SetAside : ::testing::Test {
  SetAside() { fill(store); }
  Names listed(const std::string& directory) { return *store.disk.list(directory); }

  Store store;
};

TEST_F(SetAside, TheRemainingDirectoryDoesNotStartEmpty) {
  ASSERT_TRUE(set_aside_history(store.disk, store.dirs));
  store.disk.crash(Survival::kLose);
  RecoveryReport report = store.start({.autocreate = true});
  EXPECT_EQ(report.outcome, RecoveryOutcome::kEmpty);
  EXPECT_FALSE(report.may_start_empty) << "it is waiting for a leader's snapshot, not new";
  EXPECT_EQ(report.last, Zxid{-1});
  EXPECT_EQ(listed("/data/version-2/set-aside.1"),
            (Names{"drover.links", "log.100000001", "log.100000015", "snapshot.0", "snapshot.10000002a"}));

  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(3, 1, 5)));
  store.log(range(3, 6, 7));
  report = store.start();
  EXPECT_EQ(report.last, zx(3, 7)) << report.damage;
  ASSERT_TRUE(set_aside_history(store.disk, store.dirs));
  EXPECT_TRUE(*store.disk.exists("/data/version-2/set-aside.2/snapshot.300000005"));
}

TEST_F(SetAside, AnEmptyHistoryCreatesNoDirectoryButIsNotNew) {
  Store empty;
  ASSERT_TRUE(empty.disk.unlink(empty.snapshot_path(Zxid{0})));
  EXPECT_FALSE(*has_history(empty.disk, empty.dirs));
  EXPECT_EQ(*set_aside_history(empty.disk, empty.dirs), Names{});
  EXPECT_FALSE(empty.start({.autocreate = true}).may_start_empty);
}

TEST_F(SetAside, SeparateLogAndSnapshotDirectoriesUseTheSameNumber) {
  const DataDirs apart = data_dirs("/apart", "/logs");
  for (const std::string& directory : {apart.snapshots, apart.logs}) {
    ASSERT_TRUE(store.disk.make_directories(directory));
  }
  ASSERT_TRUE(store.disk.make_directories("/apart/version-2/set-aside.4"));
  ASSERT_TRUE(write_snapshot(store.disk, apart, range(1, 1, 5)));
  store.disk.set_contents("/logs/version-2/log.100000006", "");
  EXPECT_EQ(*set_aside_history(store.disk, apart),
            (Names{"/apart/version-2/set-aside.5", "/logs/version-2/set-aside.5"}));
  EXPECT_EQ(listed("/apart/version-2/set-aside.5"), Names{"snapshot.100000005"});
  EXPECT_EQ(listed("/logs/version-2/set-aside.5"), Names{"log.100000006"});
}

TEST_F(SetAside, ADirectoryWithoutLogsIsNotNewAfterwards) {
  // The files that Java leaves right after a leader's snapshot: nothing is moved in the log directory.
  const DataDirs apart = data_dirs("/apart", "/logs");
  for (const std::string& directory : {apart.snapshots, apart.logs}) {
    ASSERT_TRUE(store.disk.make_directories(directory));
  }
  ASSERT_TRUE(write_snapshot(store.disk, apart, range(1, 1, 5)));
  EXPECT_EQ(set_aside_history(store.disk, apart)->size(), 1u);
  EXPECT_FALSE(recover(store.disk, apart, {.autocreate = true}, store.sink)->may_start_empty);
}

TEST_F(SetAside, TheInitializeMarkIsRemovedUnlessTheOperatorCreatesItAgain) {
  store.disk.set_contents("/data/initialize", "");
  ASSERT_TRUE(set_aside_history(store.disk, store.dirs));
  store.disk.crash(Survival::kLose);
  EXPECT_FALSE(store.start({.autocreate = true}).may_start_empty) << "the mark was older than the history";
  store.disk.set_contents("/data/initialize", "");
  EXPECT_TRUE(store.start().may_start_empty);
}

TEST_F(SetAside, DeletingASetAsideHistoryDoesNotMakeTheDirectoryNew) {
  const std::string directory = set_aside_history(store.disk, store.dirs)->front();
  ASSERT_TRUE(remove_set_aside(store.disk, directory));
  EXPECT_FALSE(*store.disk.exists(directory));
  EXPECT_FALSE(store.start({.autocreate = true}).may_start_empty);
  EXPECT_TRUE(remove_set_aside(store.disk, directory)) << "gone already";
}

TEST_F(SetAside, OnlyTheNewestAreKept) {
  for (std::uint32_t n = 1; n <= 4; ++n) {
    ASSERT_TRUE(set_aside_history(store.disk, store.dirs));
    ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(n, 1, 5)));
  }
  ASSERT_TRUE(remove_old_set_aside(store.disk, store.dirs, 2));
  EXPECT_FALSE(*store.disk.exists("/data/version-2/set-aside.2"));
  EXPECT_TRUE(*store.disk.exists("/data/version-2/set-aside.3/snapshot.200000005"));
  EXPECT_TRUE(*store.disk.exists("/data/version-2/set-aside.4/snapshot.300000005"));
  EXPECT_EQ(set_aside_history(store.disk, store.dirs)->front(), "/data/version-2/set-aside.5");
}

TEST_F(SetAside, FilesOfOthersAreKept) {
  const std::string directory = set_aside_history(store.disk, store.dirs)->front();
  store.disk.set_contents(join_path(directory, "notes.txt"), "why");
  ASSERT_TRUE(store.disk.make_directories("/data/version-2/set-aside.copy"));
  store.disk.set_contents("/data/version-2/set-aside.copy/log.1", "");
  store.disk.set_contents("/data/version-2/set-aside.0", "not even a directory");
  ASSERT_TRUE(remove_old_set_aside(store.disk, store.dirs, 0));
  EXPECT_EQ(listed(directory), Names{"notes.txt"});
  EXPECT_TRUE(*store.disk.exists("/data/version-2/set-aside.copy/log.1"));
  EXPECT_TRUE(*store.disk.exists("/data/version-2/set-aside.0"));
}

}  // namespace
}  // namespace drover::storage::testing

// SPDX-License-Identifier: Apache-2.0
#include "storage/data_dir.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "storage/memory_disk.h"

namespace drover::storage {
namespace {

TEST(DataDir, IsCreatedWhenMissingUnlessForbidden) {
  MemoryDisk disk(1);
  EXPECT_EQ(DataDir::open(disk, data_dirs("/data"), {.create = false}).error().code, ENOENT);
  EXPECT_TRUE(DataDir::open(disk, data_dirs("/data", "/logs"), {}));
  EXPECT_TRUE(*disk.exists("/data/version-2"));
  EXPECT_TRUE(*disk.exists("/logs/version-2"));
}

TEST(DataDir, RefusesLogsInDataDirAndSnapshotsInDataLogDir) {
  MemoryDisk disk(1);
  const DataDirs dirs = data_dirs("/data", "/logs");
  ASSERT_TRUE(DataDir::open(disk, dirs, {}));
  disk.set_contents("/data/version-2/log.1", "");
  EXPECT_FALSE(DataDir::open(disk, dirs, {}));
  ASSERT_TRUE(disk.unlink("/data/version-2/log.1"));
  disk.set_contents("/logs/version-2/snapshot.0", "");
  EXPECT_FALSE(DataDir::open(disk, dirs, {}));
}

TEST(DataDir, MayHoldLogsAndSnapshotsInOneDirectory) {
  MemoryDisk disk(1);
  ASSERT_TRUE(disk.make_directories("/data/version-2"));
  disk.set_contents("/data/version-2/log.1", "");
  disk.set_contents("/data/version-2/snapshot.0", "");
  EXPECT_TRUE(DataDir::open(disk, data_dirs("/data"), {}));
}

TEST(DataDir, RemovesTemporaryFilesButNotAnInterruptedEpochWrite) {
  MemoryDisk disk(1);
  ASSERT_TRUE(disk.make_directories("/data/version-2"));
  disk.set_contents("/data/version-2/tmp.snapshot.5", "half");
  disk.set_contents("/data/version-2/currentEpoch.tmp", "3");
  ASSERT_TRUE(DataDir::open(disk, data_dirs("/data"), {}));
  EXPECT_FALSE(*disk.exists("/data/version-2/tmp.snapshot.5"));
  EXPECT_TRUE(*disk.exists("/data/version-2/currentEpoch.tmp"));
}

TEST(DataDir, FindsTheInitializeMarkBesideTheLogs) {
  MemoryDisk disk(1);
  const DataDirs dirs = data_dirs("/data", "/logs");
  ASSERT_TRUE(DataDir::open(disk, dirs, {}));
  EXPECT_FALSE(*has_initialize_mark(disk, dirs));
  disk.set_contents("/logs/initialize", "");
  EXPECT_TRUE(*has_initialize_mark(disk, dirs));
  EXPECT_TRUE(remove_initialize_mark(disk, dirs));
  EXPECT_FALSE(*has_initialize_mark(disk, dirs));
}

TEST(DataDir, RemovesTheInitializeMarkDurably) {
  MemoryDisk disk(1);
  const DataDirs dirs = data_dirs("/data");
  ASSERT_TRUE(DataDir::open(disk, dirs, {}));
  disk.set_contents("/data/initialize", "");
  ASSERT_TRUE(remove_initialize_mark(disk, dirs));
  disk.crash(Survival::kLose);
  EXPECT_FALSE(*has_initialize_mark(disk, dirs));
  EXPECT_TRUE(remove_initialize_mark(disk, dirs)) << "gone already";
}

TEST(DataDir, RemembersDurablyThatItsHistoryIsBeingReplaced) {
  MemoryDisk disk(1);
  const DataDirs dirs = data_dirs("/data", "/logs");
  ASSERT_TRUE(DataDir::open(disk, dirs, {}));
  for (const Replacing mark : {Replacing::kNo, Replacing::kMoving, Replacing::kAwaiting, Replacing::kNo}) {
    ASSERT_TRUE(set_replacing_mark(disk, dirs, mark));
    disk.crash(Survival::kLose);
    EXPECT_EQ(replacing_mark(disk, dirs), mark);
  }
}

TEST(DataDir, TreatsAnUnreadableMarkAsAnUnfinishedMove) {
  MemoryDisk disk(1);
  const DataDirs dirs = data_dirs("/data");
  ASSERT_TRUE(DataDir::open(disk, dirs, {}));
  for (const std::string& text : {std::string(), std::string("?"), std::string(1000, 'x')}) {
    disk.set_contents("/data/version-2/drover.replacing", text);
    EXPECT_EQ(replacing_mark(disk, dirs), Replacing::kMoving);
  }
  ASSERT_TRUE(set_replacing_mark(disk, dirs, Replacing::kAwaiting));
  disk.break_sector("/data/version-2/drover.replacing", 0);
  EXPECT_EQ(replacing_mark(disk, dirs), Replacing::kMoving);
}

}  // namespace
}  // namespace drover::storage

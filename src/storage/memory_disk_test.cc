// SPDX-License-Identifier: Apache-2.0
//
// The simulated disk must fail like real disks, or the crash tests prove nothing.
#include "storage/memory_disk.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace drover::storage {
namespace {

struct MemoryDiskTest : ::testing::Test {
  MemoryDiskTest() { EXPECT_TRUE(disk.make_directories("/d")); }

  std::unique_ptr<File> make_durable_file(std::string_view bytes) {
    auto file = disk.open("/d/f", OpenMode::kCreate);
    EXPECT_TRUE((*file)->write_at(0, bytes));
    EXPECT_TRUE((*file)->sync());
    EXPECT_TRUE(disk.sync_directory("/d"));
    return *std::move(file);
  }

  MemoryDisk disk{7};
};

TEST_F(MemoryDiskTest, LosesWhatWasNotSynced) {
  auto file = make_durable_file("old");
  ASSERT_TRUE(file->write_at(0, "newer"));
  disk.crash(Survival::kLose);
  EXPECT_EQ(disk.contents("/d/f"), "old");
}

TEST_F(MemoryDiskTest, KeepsWhatWasNotSyncedWhenAskedTo) {
  auto file = make_durable_file("old");
  ASSERT_TRUE(file->write_at(0, "newer"));
  disk.crash(Survival::kKeep);
  EXPECT_EQ(disk.contents("/d/f"), "newer");
}

TEST_F(MemoryDiskTest, ForgetsANameWhoseDirectoryWasNotSynced) {
  auto file = disk.open("/d/f", OpenMode::kCreate);
  ASSERT_TRUE((*file)->write_at(0, "synced"));
  ASSERT_TRUE((*file)->sync());
  disk.crash(Survival::kLose);
  EXPECT_FALSE(*disk.exists("/d/f"));
}

TEST_F(MemoryDiskTest, RestoresAnUnlinkedFileWhoseDirectoryWasNotSynced) {
  make_durable_file("old");
  ASSERT_TRUE(disk.unlink("/d/f"));
  disk.crash(Survival::kLose);
  EXPECT_EQ(disk.contents("/d/f"), "old");
}

TEST_F(MemoryDiskTest, TearsAWriteAtSectorsInAnyOrder) {
  bool hole = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    MemoryDisk torn(seed);
    ASSERT_TRUE(torn.make_directories("/d"));
    torn.set_contents("/d/f", std::string(8 * kSectorBytes, '.'));
    auto file = torn.open("/d/f", OpenMode::kWrite);
    ASSERT_TRUE((*file)->write_at(0, std::string(8 * kSectorBytes, '#')));
    torn.crash(Survival::kTear);
    const std::string after = torn.contents("/d/f");
    for (std::size_t at = 0; at < after.size(); at += kSectorBytes) {
      EXPECT_EQ(after.substr(at, kSectorBytes), std::string(kSectorBytes, after[at]));
    }
    hole = hole || after.find('#', after.find('.')) != std::string::npos;
  }
  EXPECT_TRUE(hole) << "a later sector must be able to survive an earlier one";
}

TEST_F(MemoryDiskTest, BehavesTheSameForTheSameSeed) {
  const auto story = [] {
    MemoryDisk torn(99);
    EXPECT_TRUE(torn.make_directories("/d"));
    for (const char* name : {"/d/a", "/d/b", "/d/c"}) {
      auto file = torn.open(name, OpenMode::kCreate);
      EXPECT_TRUE((*file)->write_at(0, std::string(4000, *(name + 3))));
    }
    torn.crash(Survival::kTear);
    std::string all;
    const auto names = torn.list("/d");
    for (const std::string& name : *names) all += name + torn.contents("/d/" + name);
    return all;
  };
  EXPECT_EQ(story(), story());
}

TEST_F(MemoryDiskTest, DropsThePagesOfAFailedSyncWhileReadsStillShowThem) {
  auto file = make_durable_file("old");
  ASSERT_TRUE(file->write_at(0, "new"));
  disk.inject({.error = EIO, .only = DiskOperation::kSync});
  EXPECT_EQ(file->sync().error().code, EIO);
  EXPECT_TRUE(file->sync()) << "the second sync finds nothing dirty";
  EXPECT_EQ(disk.contents("/d/f"), "new");
  disk.crash(Survival::kKeep);
  EXPECT_EQ(disk.contents("/d/f"), "old");
}

TEST_F(MemoryDiskTest, RefusesWritesAfterPowerOffAndOldHandlesAfterTheCrash) {
  auto file = make_durable_file("old");
  disk.power_off_after(1);
  EXPECT_TRUE(file->write_at(0, "1"));
  EXPECT_FALSE(file->write_at(0, "2"));
  EXPECT_FALSE(disk.unlink("/d/f"));
  disk.crash(Survival::kKeep);
  EXPECT_EQ(disk.contents("/d/f"), "1ld");
  EXPECT_EQ(file->write_at(0, "3").error().code, EBADF);
}

TEST_F(MemoryDiskTest, FillsUp) {
  auto file = make_durable_file("1234");
  disk.set_capacity(10);
  EXPECT_EQ(*disk.free_bytes("/d"), 6u);
  EXPECT_EQ(file->allocate(11).error().code, ENOSPC);
  EXPECT_EQ(file->write_at(4, "1234567").error().code, ENOSPC);
  EXPECT_TRUE(file->allocate(10));
  EXPECT_TRUE(file->write_at(4, "123456")) << "allocated blocks can be written";
}

TEST_F(MemoryDiskTest, FailsReadsOfABrokenSectorOnly) {
  auto file = make_durable_file(std::string(2000, 'x'));
  disk.break_sector("/d/f", 600);
  char bytes[512];
  EXPECT_TRUE(file->read_at(0, bytes, 512));
  EXPECT_EQ(file->read_at(500, bytes, 100).error().code, EIO);
  EXPECT_TRUE(file->read_at(1024, bytes, 512));
}

}  // namespace
}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
//
// The same tests for the real disk and the one in memory; then tests for the real one only.
#include "storage/disk.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "storage/data_dir.h"
#include "storage/memory_disk.h"
#include "storage/posix_disk.h"

namespace drover::storage {
namespace {

class AnyDisk : public ::testing::TestWithParam<bool> {
 protected:
  AnyDisk() {
    if (GetParam()) {
      std::string pattern = ::testing::TempDir() + "drover-disk-XXXXXX";
      root_ = ::mkdtemp(pattern.data());
      disk_ = std::make_unique<PosixDisk>();
    } else {
      root_ = "/root";
      disk_ = std::make_unique<MemoryDisk>(1);
      EXPECT_TRUE(disk_->make_directories(root_));
    }
  }
  ~AnyDisk() override {
    if (GetParam()) std::filesystem::remove_all(root_);
  }
  std::string at(std::string_view name) const { return join_path(root_, name); }

  std::string root_;
  std::unique_ptr<Disk> disk_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, AnyDisk, ::testing::Values(false, true),
                         [](const auto& p) { return p.param ? "Posix" : "Memory"; });

TEST_P(AnyDisk, ReadsBackWhatWasWrittenAtAnyOffset) {
  auto file = disk_->open(at("f"), OpenMode::kCreate);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write_at(4, "data"));
  ASSERT_TRUE((*file)->sync());
  char bytes[16];
  EXPECT_EQ(*(*file)->read_at(0, bytes, sizeof bytes), 8u);
  EXPECT_EQ(std::string_view(bytes, 8), std::string_view("\0\0\0\0data", 8));
  EXPECT_EQ(*(*file)->read_at(100, bytes, sizeof bytes), 0u);
}

TEST_P(AnyDisk, AllocatesZerosAndNeverShrinks) {
  auto file = disk_->open(at("f"), OpenMode::kCreate);
  ASSERT_TRUE((*file)->write_at(0, "abc"));
  ASSERT_TRUE((*file)->allocate(5000));
  EXPECT_EQ(*(*file)->size(), 5000u);
  ASSERT_TRUE((*file)->allocate(10));
  EXPECT_EQ(*(*file)->size(), 5000u);
  EXPECT_EQ(*read_file(*disk_, at("f"), 5000), "abc" + std::string(4997, '\0'));
  ASSERT_TRUE((*file)->truncate(2));
  EXPECT_EQ(*read_file(*disk_, at("f"), 5000), "ab");
}

TEST_P(AnyDisk, ReplacesFilesAtomicallyAndListsThem) {
  ASSERT_TRUE(replace_file(*disk_, {root_, "f", "f.tmp"}, "one"));
  ASSERT_TRUE(replace_file(*disk_, {root_, "f", "f.tmp"}, "two"));
  ASSERT_TRUE(replace_file(*disk_, {root_, "a", "a.tmp"}, ""));
  ASSERT_TRUE(disk_->make_directories(at("sub/deeper")));
  EXPECT_EQ(*read_file(*disk_, at("f"), 10), "two");
  EXPECT_EQ(*disk_->list(root_), (std::vector<std::string>{"a", "f", "sub"}));
  EXPECT_TRUE(*disk_->exists(at("sub/deeper")));
}

TEST_P(AnyDisk, RemovesADirectoryOnlyWhenNothingIsInIt) {
  ASSERT_TRUE(disk_->make_directories(at("sub/deeper")));
  EXPECT_EQ(disk_->remove_directory(at("sub")).error().code, ENOTEMPTY);
  ASSERT_TRUE(disk_->remove_directory(at("sub/deeper")));
  ASSERT_TRUE(disk_->open(at("sub/file"), OpenMode::kCreate));
  EXPECT_EQ(disk_->remove_directory(at("sub")).error().code, ENOTEMPTY);
  ASSERT_TRUE(disk_->unlink(at("sub/file")));
  ASSERT_TRUE(disk_->remove_directory(at("sub")));
  EXPECT_FALSE(*disk_->exists(at("sub")));
  EXPECT_EQ(disk_->remove_directory(at("sub")).error().code, ENOENT);
}

TEST_P(AnyDisk, ReportsWhichFileIsMissing) {
  EXPECT_EQ(disk_->open(at("none"), OpenMode::kRead).error().code, ENOENT);
  EXPECT_EQ(disk_->open(at("none"), OpenMode::kWrite).error().code, ENOENT);
  EXPECT_EQ(disk_->list(at("none")).error().code, ENOENT);
  EXPECT_EQ(disk_->unlink(at("none")).error().code, ENOENT);
  EXPECT_TRUE(unlink_if_exists(*disk_, at("none")));
  EXPECT_FALSE(*disk_->exists(at("none")));
}

TEST_P(AnyDisk, DoesNotReadAFileLargerThanExpected) {
  ASSERT_TRUE(replace_file(*disk_, {root_, "f", "f.tmp"}, std::string(100, 'x')));
  EXPECT_FALSE(read_file(*disk_, at("f"), 99));
}

TEST_P(AnyDisk, GrantsALockOnlyOnce) {
  auto lock = disk_->lock(at("lock"));
  ASSERT_TRUE(lock);
  EXPECT_EQ(disk_->lock(at("lock")).error().code, EWOULDBLOCK);
  lock->reset();
  EXPECT_TRUE(disk_->lock(at("lock")));
}

TEST_P(AnyDisk, ReportsFreeSpace) { EXPECT_GT(*disk_->free_bytes(root_), 0u); }

TEST_P(AnyDisk, AllowsOneServerPerDataDirectory) {
  const DataDirs dirs = data_dirs(at("data"), at("logs"));
  auto first = DataDir::open(*disk_, dirs, {});
  ASSERT_TRUE(first) << first.error().what;
  const auto second = DataDir::open(*disk_, data_dirs(at("data")), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EWOULDBLOCK);
}

class RealDisk : public AnyDisk {};
INSTANTIATE_TEST_SUITE_P(Only, RealDisk, ::testing::Values(true));

TEST_P(RealDisk, KeepsFilesAndDirectoriesPrivate) {
  ASSERT_TRUE(disk_->make_directories(at("data/version-2")));
  ASSERT_TRUE(disk_->open(at("data/version-2/log.1"), OpenMode::kCreate));
  struct stat status{};
  ASSERT_EQ(::stat(at("data/version-2/log.1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  ASSERT_EQ(::stat(at("data").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
}

TEST_P(RealDisk, AReplacedFileKeepsItsPermissions) {
  ASSERT_TRUE(replace_file(*disk_, {root_, "zoo.cfg", "zoo.cfg.tmp"}, "old"));
  std::filesystem::permissions(at("zoo.cfg"), std::filesystem::perms{0640});
  ASSERT_TRUE(replace_file(*disk_, {root_, "zoo.cfg", "zoo.cfg.tmp"}, "new"));
  EXPECT_EQ(std::filesystem::status(at("zoo.cfg")).permissions(), std::filesystem::perms{0640});
  EXPECT_EQ(*read_file(*disk_, at("zoo.cfg"), 100), "new");
}

TEST_P(RealDisk, FollowsNoSymbolicLinkAndOpensOnlyFiles) {
  ASSERT_TRUE(replace_file(*disk_, {root_, "target", "t"}, "secret"));
  ASSERT_EQ(::symlink(at("target").c_str(), at("link").c_str()), 0);
  EXPECT_FALSE(disk_->open(at("link"), OpenMode::kRead));
  EXPECT_FALSE(disk_->open(at("link"), OpenMode::kCreate));
  EXPECT_FALSE(disk_->open(root_, OpenMode::kRead));
}

}  // namespace
}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/file_names.h"

#include <gtest/gtest.h>

#include "storage/memory_disk.h"

namespace drover::storage {
namespace {

TEST(FileNames, AreLowerCaseHexWithoutLeadingZeros) {
  EXPECT_EQ(log_name(Zxid{0x1'0000'00AB}), "log.1000000ab");
  EXPECT_EQ(snapshot_name(Zxid{0}, Compression::kNone), "snapshot.0");
  EXPECT_EQ(snapshot_name(Zxid{255}, Compression::kGzip), "snapshot.ff.gz");
  EXPECT_EQ(snapshot_name(Zxid{1}, Compression::kSnappy), "snapshot.1.snappy");
}

TEST(FileNames, AreParsedBack) {
  EXPECT_EQ(parse_log_name("log.1000000ab")->first, Zxid{0x1'0000'00AB});
  EXPECT_EQ(parse_snapshot_name("snapshot.ff.gz")->zxid, Zxid{255});
  EXPECT_EQ(parse_snapshot_name("snapshot.ff.gz")->compression, Compression::kGzip);
}

TEST(FileNames, OfOtherFilesAreIgnored) {
  for (const char* name : {"log", "log.", "log.x", "log.-1", "log.1.tmp", "log.1 ", "tmp.log.1", "logs.1",
                           "log.ffffffffffffffff", "log.1ffffffffffffffff", "snapshot.1"}) {
    EXPECT_FALSE(parse_log_name(name)) << name;
  }
  for (const char* name : {"snapshot.", "snapshot.1.tmp", "snapshot.1.gz.tmp", "tmp.snapshot.1", "log.1"}) {
    EXPECT_FALSE(parse_snapshot_name(name)) << name;
  }
}

TEST(FileNames, AreListedInOrderOfZxidNotOfName) {
  MemoryDisk disk(1);
  ASSERT_TRUE(disk.make_directories("/d"));
  for (const char* name : {"log.100000001", "log.9", "log.a", "myid", "snapshot.3"}) {
    disk.set_contents(std::string("/d/") + name, "");
  }
  const auto logs = list_logs(disk, "/d");
  ASSERT_EQ(logs->size(), 3u);
  EXPECT_EQ((*logs)[0].name, "log.9");
  EXPECT_EQ((*logs)[2].name, "log.100000001");
  EXPECT_TRUE(list_logs(disk, "/none")->empty());
}

TEST(FileNames, OfTemporaryFilesAreIgnoredByJava) {
  const std::string name = temporary_name(log_name(Zxid{1}));
  EXPECT_TRUE(is_temporary(name));
  EXPECT_FALSE(name.starts_with("log."));
}

}  // namespace
}  // namespace drover::storage

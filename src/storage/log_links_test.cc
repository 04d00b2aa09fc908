// SPDX-License-Identifier: Apache-2.0
#include "storage/log_links.h"

#include <gtest/gtest.h>

#include "storage/memory_disk.h"
#include "wire/testing.h"

namespace drover::storage {
namespace {

struct LogLinksTest : ::testing::Test {
  LogLinksTest() {
    EXPECT_TRUE(disk.make_directories("/d"));
    disk.set_contents("/d/log.1", "");
    disk.set_contents("/d/log.64", "");
  }
  LogEvidence evidence() { return *read_log_evidence(disk, "/d"); }

  MemoryDisk disk{1};
  const LogLink first{Zxid{1}, {}};
  const LogLink second{Zxid{0x64}, {Zxid{1}, Zxid{0x63}, 0xABCDEF}};
};

TEST_F(LogLinksTest, RememberPredecessorsAndWatermark) {
  auto links = LogLinks::open(disk, "/d", {kNoLog, kNoLog});
  ASSERT_TRUE(links);
  ASSERT_TRUE(links->add(first));
  ASSERT_TRUE(links->add(second));
  ASSERT_TRUE(links->set_watermark({Zxid{0x64}, Zxid{0x70}}));
  EXPECT_EQ(*evidence().link_of(Zxid{0x64}), second);
  EXPECT_EQ(evidence().watermark, (Watermark{Zxid{0x64}, Zxid{0x70}}));
  EXPECT_EQ(evidence().link_of(Zxid{2}), nullptr);
}

TEST_F(LogLinksTest, AreDurableWhenAddedAndTheWatermarkIsNot) {
  auto links = LogLinks::open(disk, "/d", {kNoLog, kNoLog});
  ASSERT_TRUE(links->add(second));
  ASSERT_TRUE(links->set_watermark({Zxid{0x64}, Zxid{0x70}}));
  disk.crash(Survival::kLose);
  EXPECT_NE(evidence().link_of(Zxid{0x64}), nullptr);
  EXPECT_EQ(evidence().watermark->durable, kNoLog);
}

TEST_F(LogLinksTest, UseTheLatestLinkOfAFileThatWasStartedTwice) {
  auto links = LogLinks::open(disk, "/d", {kNoLog, kNoLog});
  ASSERT_TRUE(links->add({Zxid{0x64}, {Zxid{1}, Zxid{5}, 1}}));
  ASSERT_TRUE(links->add(second));
  EXPECT_EQ(*evidence().link_of(Zxid{0x64}), second);
}

TEST_F(LogLinksTest, DropFilesThatNoLongerExistWhenOpened) {
  ASSERT_TRUE(LogLinks::open(disk, "/d", {kNoLog, kNoLog})->add(second));
  ASSERT_TRUE(disk.unlink("/d/log.64"));
  ASSERT_TRUE(LogLinks::open(disk, "/d", {kNoLog, kNoLog}));
  EXPECT_TRUE(evidence().links.empty());
}

TEST_F(LogLinksTest, IgnoreUnreadableEntries) {
  EXPECT_FALSE(evidence().watermark);
  ASSERT_TRUE(LogLinks::open(disk, "/d", {Zxid{1}, Zxid{9}})->add(second));
  const std::string path = "/d/drover.links";
  disk.flip_bit(path, 520 * 8);
  EXPECT_FALSE(evidence().watermark);
  EXPECT_EQ(evidence().links.size(), 1u);
  disk.flip_bit(path, 1030 * 8);
  EXPECT_TRUE(evidence().links.empty());
  disk.set_contents(path, "short");
  EXPECT_TRUE(evidence().links.empty());
}

TEST_F(LogLinksTest, FromEarlierVersionsAreRead) {
  std::string bytes = "DROVERLK" + wire::testing::from_hex("00000001");
  bytes.resize(512, '\0');
  bytes += wire::testing::from_hex("0000000000000064 0000000000000070 b2c2a114ba5c1b19");
  bytes.resize(1024, '\0');
  bytes += wire::testing::from_hex(
      "0000000000000064 0000000000000001 0000000000000063 0000000000abcdef b597af039100a4d9");
  disk.set_contents("/d/drover.links", bytes);
  EXPECT_EQ(evidence().watermark, (Watermark{Zxid{0x64}, Zxid{0x70}}));
  EXPECT_EQ(evidence().links, std::vector{second});
}

}  // namespace
}  // namespace drover::storage

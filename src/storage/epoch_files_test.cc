// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch_files.h"

#include <gtest/gtest.h>

#include "storage/memory_disk.h"

namespace drover::storage {
namespace {

constexpr Zxid in_epoch(std::int64_t epoch) { return Zxid{(epoch << 32) | 7}; }

struct EpochFiles : ::testing::Test {
  EpochFiles() { EXPECT_TRUE(disk.make_directories("/d")); }
  void put(const char* name, const char* text) { disk.set_contents(std::string("/d/") + name, text); }

  MemoryDisk disk{1};
};

TEST_F(EpochFiles, HoldDecimalTextLikeJavas) {
  ASSERT_TRUE(write_epoch(disk, "/d", EpochFile::kAccepted, 12));
  EXPECT_EQ(disk.contents("/d/acceptedEpoch"), "12");
  EXPECT_EQ(*read_epoch(disk, "/d", EpochFile::kAccepted), 12u);
  EXPECT_EQ(*read_epoch(disk, "/d", EpochFile::kCurrent), std::nullopt);
  put("currentEpoch", "5\n");
  EXPECT_EQ(*read_epoch(disk, "/d", EpochFile::kCurrent), 5u);
}

TEST_F(EpochFiles, StoreTheHistoryIdAfterTheLineThatJavaReads) {
  ASSERT_TRUE(write_epoch(disk, "/d", EpochFile::kCurrent, 5, 0x5f3a'9c01'77e4'0b21));
  EXPECT_EQ(disk.contents("/d/currentEpoch"), "5\n5f3a9c0177e40b21\n");
  put("acceptedEpoch", "5");
  const auto epochs = load_epochs(disk, "/d", in_epoch(5));
  EXPECT_EQ(epochs->current, 5u);
  EXPECT_EQ(epochs->history_id, 0x5f3a'9c01'77e4'0b21u);
  // An unreadable id counts as unknown.
  for (const char* text : {"5", "5\n", "5\nx\n", "5\n12345678123456781\n"}) {
    put("currentEpoch", text);
    EXPECT_EQ(load_epochs(disk, "/d", in_epoch(5))->history_id, 0u) << text;
  }
}

TEST_F(EpochFiles, DropTheIdWhenTransactionsCameFromALeaderWithoutOne) {
  put("currentEpoch", "4\n17\n");
  put("acceptedEpoch", "5");
  EXPECT_EQ(load_epochs(disk, "/d", in_epoch(5))->history_id, 0u);
  EXPECT_EQ(load_epochs(disk, "/d", in_epoch(5))->history_id, 0u);
}

TEST_F(EpochFiles, WithoutANumberAreDamage) {
  for (const char* text : {"", "x", "-1", "1x", "99999999999", "4294967296"}) {
    put("currentEpoch", text);
    const auto epoch = read_epoch(disk, "/d", EpochFile::kCurrent);
    ASSERT_FALSE(epoch) << text;
    EXPECT_EQ(epoch.error().code, 0);
  }
}

TEST_F(EpochFiles, AreDurableWhenWritten) {
  ASSERT_TRUE(write_epoch(disk, "/d", EpochFile::kCurrent, 3));
  disk.crash(Survival::kLose);
  EXPECT_EQ(*read_epoch(disk, "/d", EpochFile::kCurrent), 3u);
}

TEST_F(EpochFiles, AreDerivedFromTheHistoryWhenMissing) {
  const auto epochs = load_epochs(disk, "/d", in_epoch(4));
  ASSERT_TRUE(epochs);
  EXPECT_EQ(epochs->current, 4u);
  EXPECT_EQ(epochs->accepted, 4u);
  EXPECT_EQ(disk.contents("/d/currentEpoch"), "4");
  EXPECT_EQ(load_epochs(disk, "/d", Zxid{-1})->current, 4u);
}

TEST_F(EpochFiles, MayHoldAnAcceptedEpochThatIsNewerThanTheCurrentOne) {
  put("currentEpoch", "4");
  put("acceptedEpoch", "6");
  const auto epochs = load_epochs(disk, "/d", in_epoch(4));
  EXPECT_EQ(epochs->current, 4u);
  EXPECT_EQ(epochs->accepted, 6u);
}

TEST_F(EpochFiles, ThatContradictEachOtherAreDamage) {
  put("currentEpoch", "6");
  put("acceptedEpoch", "4");
  EXPECT_FALSE(load_epochs(disk, "/d", in_epoch(4)));
}

TEST_F(EpochFiles, AreRaisedToTheEpochOfADurableHistoryAfterACrash) {
  put("currentEpoch", "4");
  put("acceptedEpoch", "5");
  const auto epochs = load_epochs(disk, "/d", in_epoch(5));
  ASSERT_TRUE(epochs) << epochs.error().what;
  EXPECT_EQ(epochs->current, 5u);
  EXPECT_EQ(epochs->findings.size(), 1u);
  EXPECT_EQ(disk.contents("/d/currentEpoch"), "5");
}

TEST_F(EpochFiles, AreRaisedAfterAnInterruptedWriteByJava) {
  put("currentEpoch", "4");
  put("acceptedEpoch", "4");
  EXPECT_FALSE(load_epochs(disk, "/d", in_epoch(5))) << "nothing explains it";
  put("currentEpoch.tmp", "");
  EXPECT_EQ(load_epochs(disk, "/d", in_epoch(5))->current, 5u);
}

}  // namespace
}  // namespace drover::storage

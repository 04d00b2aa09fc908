// SPDX-License-Identifier: Apache-2.0
#include "storage/txn_log_writer.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

TEST(TxnLogWriter, WritesTheBytesThatZooKeeperWrites) {
  Store store;
  store.start();
  std::string bytes;
  wire::Writer w(bytes);
  w.i64(0x0100'0000'0000'0001);
  w.i32(3);
  w.i64(raw(zx(1, 1)));
  w.i64(1700000000000);
  w.i32(-10);
  w.i32(30000);
  wire::TxnBatch b;
  b.add(zxid_of_entry(bytes), bytes);
  ASSERT_TRUE(store.writer->append(b));
  ASSERT_TRUE(store.writer->sync());

  const std::string file = store.disk.contents(store.log_path(zx(1, 1)));
  EXPECT_EQ(file.substr(0, 16), std::string("ZKLG\0\0\0\2\0\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(file.substr(16, 4), std::string(4, '\0')) << "the checksum is 32 bits in a long";
  EXPECT_EQ(wire::load_be<std::uint32_t>(file.data() + 20), adler32_of(bytes));
  EXPECT_EQ(wire::load_be<std::int32_t>(file.data() + 24), 36);
  EXPECT_EQ(file.substr(28, 36), bytes);
  EXPECT_EQ(file[64], 'B');
  EXPECT_EQ(file.size(), 16u + 4096u) << "preallocated like Java's: the header and one unit";
  EXPECT_EQ(file.find_first_not_of('\0', 65), std::string::npos);
}

TEST(TxnLogWriter, NeedsOneWriteAndOneSyncForABatch) {
  Store store;
  store.log(range(1, 1, 3));
  const std::uint64_t before = store.disk.operations();
  ASSERT_TRUE(store.writer->append(batch({zx(1, 4), zx(1, 5)})));
  EXPECT_EQ(store.disk.operations(), before + 1);
  ASSERT_TRUE(store.writer->sync());
  EXPECT_EQ(store.disk.operations(), before + 3) << "the sync, and the watermark without a sync";
  EXPECT_EQ(store.writer->last_durable(), zx(1, 5));
}

TEST(TxnLogWriter, KeepsZerosAfterTheLastRecordWhileItGrows) {
  Store store;
  for (std::uint32_t c = 1; c <= 60; ++c) store.log({zx(1, c)});
  const std::string file = store.disk.contents(store.log_path(zx(1, 1)));
  EXPECT_EQ((file.size() - kLogHeaderBytes) % 4096, 0u);
  EXPECT_EQ(file.substr(file.size() - kFrameHeaderBytes), std::string(kFrameHeaderBytes, '\0'));
  EXPECT_EQ(store.start().last, zx(1, 60));
}

TEST(TxnLogWriter, PreallocatesForSmallBatchesSoThatSyncsWriteOnlyData) {
  Store store;
  store.options.preallocate_bytes = std::uint64_t{1} << 20;
  store.log({zx(1, 1)});
  const std::uint64_t before = store.disk.bytes_written();
  for (std::uint32_t c = 2; c <= 50; ++c) store.log({zx(1, c)});
  EXPECT_LT(store.disk.bytes_written() - before, 64u << 10) << "the zeros are there already";
  EXPECT_GT(before, 128u << 10);
  EXPECT_EQ(store.start().last, zx(1, 50));
}

TEST(TxnLogWriter, HasRoomForABatchThatNeedsNoGrowthAndNoNewFile) {
  Store store;
  store.start();
  EXPECT_FALSE(store.writer->has_room(100, 1)) << "there is no file yet";
  store.log({zx(1, 1)});
  EXPECT_TRUE(store.writer->has_room(100, 1));
  EXPECT_FALSE(store.writer->has_room(4096, 1)) << "that is the whole preallocation";
  store.writer->roll();
  EXPECT_FALSE(store.writer->has_room(100, 1));
}

TEST(TxnLogWriter, NamesARolledFileByItsFirstZxidAndTrimsTheOldOne) {
  Store store;
  store.log(range(1, 1, 3));
  const std::uint64_t used = store.writer->bytes_since_roll();
  store.writer->roll();
  EXPECT_EQ(store.writer->txns_since_roll(), 0u);
  EXPECT_EQ(store.writer->bytes_since_roll(), 0u);
  store.log(range(1, 4, 5));
  EXPECT_EQ(store.disk.contents(store.log_path(zx(1, 1))).size(), kLogHeaderBytes + used);
  EXPECT_EQ(store.writer->txns_since_roll(), 2u);
  EXPECT_TRUE(*store.disk.exists(store.log_path(zx(1, 4))));
  EXPECT_EQ(store.start().last, zx(1, 5));
}

TEST(TxnLogWriter, RollsAtTheSizeLimit) {
  Store store;
  store.options.size_limit_bytes = 1000;
  for (std::uint32_t c = 1; c <= 12; ++c) store.log({zx(1, c)});
  EXPECT_GE(list_logs(store.disk, store.dirs.logs)->size(), 3u);
  EXPECT_EQ(store.start().last, zx(1, 12));
}

TEST(TxnLogWriter, IsUnusableAfterAFailedSync) {
  Store store;
  store.log(range(1, 1, 2));
  store.disk.inject({.error = EIO, .only = DiskOperation::kSync, .path_contains = "log."});
  ASSERT_TRUE(store.writer->append(batch({zx(1, 3)})));
  const auto synced = store.writer->sync();
  ASSERT_FALSE(synced);
  EXPECT_EQ(synced.error().code, EIO);
  EXPECT_TRUE(store.writer->failed());
  EXPECT_FALSE(store.writer->sync()) << "a second sync would lie: the pages are gone";
  EXPECT_FALSE(store.writer->append(batch({zx(1, 4)})));
  EXPECT_FALSE(store.writer->reserve(1));
  EXPECT_EQ(store.writer->last_durable(), zx(1, 2));
}

TEST(TxnLogWriter, IsUnusableAfterAFailedWrite) {
  Store store;
  store.log(range(1, 1, 2));
  store.disk.inject({.error = EIO, .only = DiskOperation::kWrite, .path_contains = "log."});
  EXPECT_FALSE(store.writer->append(batch({zx(1, 3)})));
  EXPECT_TRUE(store.writer->failed());
  EXPECT_FALSE(store.writer->append(batch({zx(1, 3)})));
}

TEST(TxnLogWriter, RefusesABatchOnAFullDiskAndAcceptsItWhenThereIsRoom) {
  Store store;
  store.log(range(1, 1, 2));
  store.disk.set_capacity(0);
  std::uint32_t c = 3;
  IoResult<void> appended;
  while ((appended = store.writer->append(batch({zx(1, c)})))) {
    ASSERT_TRUE(store.writer->sync());
    ++c;
  }
  EXPECT_EQ(appended.error().code, ENOSPC);
  EXPECT_FALSE(store.writer->failed());
  EXPECT_GT(c, 3u) << "what was preallocated can be used up";

  store.disk.set_capacity(UINT64_MAX);
  store.log({zx(1, c)});
  EXPECT_EQ(store.start().last, zx(1, c));
}

TEST(TxnLogWriter, SurvivesAFullDiskWhenItStartsAFile) {
  Store store;
  store.log(range(1, 1, 2));
  store.writer->roll();
  store.disk.set_capacity(1);
  EXPECT_EQ(store.writer->reserve(100).error().code, ENOSPC);
  EXPECT_EQ(store.writer->append(batch({zx(1, 3)})).error().code, ENOSPC);
  EXPECT_FALSE(store.writer->failed());
  EXPECT_EQ(store.writer->tail().last, zx(1, 2));
  store.disk.set_capacity(UINT64_MAX);
  store.log({zx(1, 3)});
  EXPECT_EQ(store.start().last, zx(1, 3));
}

TEST(TxnLogWriter, AcceptsASmallBatchWhenThePreallocationDoesNotFit) {
  Store store;
  store.options.preallocate_bytes = 1 << 20;
  store.disk.set_capacity(64 << 10);
  store.log(range(1, 1, 5));
  EXPECT_LT(store.disk.contents(store.log_path(zx(1, 1))).size(), 16u << 10);
  EXPECT_EQ(store.start().last, zx(1, 5));
}

TEST(TxnLogWriter, DoesNotMoveTheWatermarkWithoutForceSync) {
  // Without force_sync nothing is durable, and a watermark ahead of the disk would turn a power loss into
  // damage.
  Store store;
  store.options.force_sync = false;
  store.log(range(1, 1, 2));
  EXPECT_EQ(read_log_evidence(store.disk, store.dirs.logs)->watermark->durable, kNoLog);
  store.disk.crash(Survival::kLose);
  EXPECT_FALSE(store.start().damaged());
}

TEST(TxnLogWriterDeathTest, NeverWritesAHole) {
  Store store;
  store.log(range(1, 1, 2));
  EXPECT_DEATH((void)store.writer->append(batch({zx(1, 4)})), "the log has no holes");
}

}  // namespace
}  // namespace drover::storage::testing

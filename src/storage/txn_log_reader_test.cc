// SPDX-License-Identifier: Apache-2.0
//
// Torn tail or damage: the table of txn_log_reader.h, case by case. The Java server was measured with the
// experiments M1 and M2: it starts in every case and serves what it finds.
#include "storage/txn_log_reader.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

// 300 transactions in one file, as in M1; frame offsets are known.
class OneFile : public ::testing::TestWithParam<bool> {
 protected:
  OneFile() {
    store_.options.preallocate_bytes = 1 << 20;
    for (std::uint32_t c = 1; c <= 300; c += 10) store_.log(range(0, c, c + 9));
    store_.writer.reset();
    path_ = store_.log_path(Zxid{1});
    std::uint64_t at = kLogHeaderBytes;
    for (std::uint32_t c = 1; c <= 300; ++c) {
      offsets_.push_back(at);
      at += entry(zx(0, c)).size() + kFrameOverheadBytes;
    }
    end_ = at;
    // A directory as Java leaves it: the log is the only evidence.
    if (GetParam()) {
      EXPECT_TRUE(store_.disk.unlink(store_.links_path()));
    }
  }

  bool java() const { return GetParam(); }
  std::uint64_t offset(std::uint32_t record) const { return offsets_[record - 1]; }
  void damage(std::uint64_t at, std::string_view bytes) {
    std::string file = store_.disk.contents(path_);
    file.replace(at, bytes.size(), bytes);
    store_.disk.set_contents(path_, file);
  }
  void flip(std::uint64_t at) { store_.disk.flip_bit(path_, at * 8); }
  void cut(std::uint64_t at) { store_.disk.set_contents(path_, store_.disk.contents(path_).substr(0, at)); }

  void expect_damage_after(std::uint32_t record) {
    const RecoveryReport report = store_.start();
    EXPECT_EQ(report.outcome, RecoveryOutcome::kDamaged);
    EXPECT_EQ(report.last, zx(0, record)) << report.damage;
    EXPECT_NE(report.damage.find(hex(report.last)), std::string::npos) << report.damage;
  }
  void expect_torn_after(std::uint32_t record) {
    const RecoveryReport report = store_.start();
    EXPECT_EQ(report.outcome, RecoveryOutcome::kRecovered) << report.damage;
    EXPECT_TRUE(report.torn_tail);
    EXPECT_EQ(report.last, zx(0, record));
  }

  Store store_;
  std::string path_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t end_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Writer, OneFile, ::testing::Values(false, true),
                         [](const auto& p) { return p.param ? "Java" : "Drover"; });

TEST_P(OneFile, IsReadCompletelyWhenIntact) {
  const RecoveryReport report = store_.start();
  EXPECT_EQ(report.outcome, RecoveryOutcome::kRecovered);
  EXPECT_FALSE(report.torn_tail);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(store_.sink.history, range(0, 1, 300));
  EXPECT_FALSE(store_.sink.altered);
}

TEST_P(OneFile, M1PayloadBitIsDamage) {
  flip(offset(150) + kFrameHeaderBytes + 20);
  expect_damage_after(149);
}
TEST_P(OneFile, M1ChecksumBitIsDamage) {
  flip(offset(150) + 7);
  expect_damage_after(149);
}
TEST_P(OneFile, M1LengthBitIsDamage) {
  flip(offset(150) + 11);
  expect_damage_after(149);
}
TEST_P(OneFile, M1HighLengthBitIsDamage) {
  flip(offset(150) + 9);
  expect_damage_after(149);
}
TEST_P(OneFile, M1EndMarkIsDamage) {
  flip(offset(151) - 1);
  expect_damage_after(149);
}
TEST_P(OneFile, M1ZeroedLengthIsDamage) {
  damage(offset(150) + 8, std::string(4, '\0'));
  expect_damage_after(149);
}
TEST_P(OneFile, M1ZeroedSectorIsDamage) {
  damage(offset(150) / kSectorBytes * kSectorBytes, std::string(kSectorBytes, '\0'));
  const RecoveryReport report = store_.start();
  EXPECT_TRUE(report.damaged());
  EXPECT_LT(report.last, zx(0, 150));
}
TEST_P(OneFile, M1UnreadableSectorIsDamage) {
  store_.disk.break_sector(path_, offset(150));
  EXPECT_TRUE(store_.start().damaged());
}
TEST_P(OneFile, M1HeaderIsDamage) {
  flip(2);
  EXPECT_TRUE(store_.start().damaged());
}
TEST_P(OneFile, M1ZeroedHeaderWithRecordsAfterItIsDamage) {
  damage(0, std::string(kLogHeaderBytes, '\0'));
  EXPECT_TRUE(store_.start().damaged());
}

TEST_P(OneFile, M1CutIsDamageIfTheWatermarkIsBeyondIt) {
  cut(offset(150));
  if (java()) {
    // Nothing contradicts a log that ends here: a truncation by a leader would leave the same.
    EXPECT_EQ(store_.start().last, zx(0, 149));
  } else {
    expect_damage_after(149);
  }
}
TEST_P(OneFile, M1CutInsideARecordIsDamageIfTheWatermarkIsBeyondIt) {
  cut(offset(150) + 20);
  java() ? expect_torn_after(149) : expect_damage_after(149);
}
TEST_P(OneFile, ABrokenLastRecordIsATornTailUnlessItWasAcknowledged) {
  flip(offset(300) + kFrameHeaderBytes + 20);
  java() ? expect_torn_after(299) : expect_damage_after(299);
}
TEST_P(OneFile, AMissingEndMarkOfTheLastRecordIsATornTailUnlessItWasAcknowledged) {
  damage(end_ - 1, std::string(1, '\0'));
  java() ? expect_torn_after(299) : expect_damage_after(299);
}
TEST_P(OneFile, GarbageAfterTheLastRecordIsATornTail) {
  damage(end_ + 100, "garbage that was never a record");
  expect_torn_after(300);
}

// --- Two files

struct TwoFiles : ::testing::Test {
  // M2: the second file starts a new epoch, so the zxids alone do not show that the first file lost its tail.
  TwoFiles() {
    store.log(range(1, 1, 100));
    store.writer->roll();
    store.log(range(2, 1, 50));
    store.writer.reset();
    old_log = store.log_path(zx(1, 1));
  }
  void forget_links() { EXPECT_TRUE(store.disk.unlink(store.links_path())); }
  void zero_sector(const std::string& path, std::uint64_t at) {
    std::string file = store.disk.contents(path);
    const std::uint64_t start = at / kSectorBytes * kSectorBytes;
    file.replace(start, kSectorBytes, std::string(kSectorBytes, '\0'));
    file.resize(store.disk.contents(path).size());
    store.disk.set_contents(path, file);
  }
  std::uint64_t old_size() { return store.disk.contents(old_log).size(); }

  Store store;
  std::string old_log;
};

TEST_F(TwoFiles, AreOneHistory) {
  EXPECT_EQ(store.start().last, zx(2, 50));
  EXPECT_EQ(store.sink.history, joined(range(1, 1, 100), range(2, 1, 50)));
}

TEST_F(TwoFiles, M2HoleInTheOlderFileIsDamage) {
  zero_sector(old_log, old_size() / 2);
  const RecoveryReport report = store.start();
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(epoch_of(report.last), 1u) << "nothing after the hole was applied";
}

TEST_F(TwoFiles, M2HoleInTheOlderFileIsDamageAlsoInAJavaDirectory) {
  forget_links();
  zero_sector(old_log, old_size() / 2);
  EXPECT_TRUE(store.start().damaged());
  EXPECT_EQ(epoch_of(store.sink.history.back()), 1u);
}

TEST_F(TwoFiles, ALostTailOfTheOlderFileIsDamageBecauseTheLinkRecordsIt) {
  zero_sector(old_log, old_size() - 1);
  EXPECT_TRUE(store.start().damaged());
}

TEST_F(TwoFiles, AnOlderFileCutAtARecordIsDamageBecauseTheLinkRecordsIt) {
  const std::size_t last = entry(zx(1, 100)).size() + kFrameOverheadBytes;
  store.disk.set_contents(old_log, store.disk.contents(old_log).substr(0, old_size() - last));
  const RecoveryReport report = store.start();
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(report.last, zx(1, 99));
}

TEST_F(TwoFiles, AnOlderFileWithDifferentContentIsDamage) {
  // The same zxids with valid checksums, but other content: a file restored from elsewhere.
  std::string other;
  append_log_header(other);
  LogChain chain;
  for (const Zxid zxid : range(1, 1, 100)) append_frame(other, entry(zxid, 10), chain);
  store.disk.set_contents(old_log, other);
  EXPECT_TRUE(store.start().damaged());
}

TEST_F(TwoFiles, AMissingOlderFileIsDamage) {
  ASSERT_TRUE(store.disk.unlink(old_log));
  EXPECT_TRUE(store.start().damaged());
}

TEST_F(TwoFiles, AMissingNewestFileIsDamage) {
  ASSERT_TRUE(store.disk.unlink(store.log_path(zx(2, 1))));
  const RecoveryReport report = store.start();
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(report.last, zx(1, 100));
}

TEST_F(TwoFiles, AnEmptyOlderFileIsDamage) {
  forget_links();
  store.disk.set_contents(old_log, "");
  EXPECT_TRUE(store.start().damaged());
}

TEST_F(TwoFiles, AHoleThatASnapshotCoversIsNotDamage) {
  ASSERT_TRUE(write_snapshot(store.disk, store.dirs, range(1, 1, 100)));
  zero_sector(old_log, old_size() / 2);
  const RecoveryReport report = store.start();
  EXPECT_FALSE(report.damaged()) << report.damage;
  EXPECT_FALSE(report.findings.empty()) << "but it is reported";
  EXPECT_EQ(store.sink.history, joined(range(1, 1, 100), range(2, 1, 50)));
}

TEST_F(TwoFiles, AStaleSideFileDoesNotDisturbADirectoryThatJavaContinued) {
  // Java truncated the last file to 2.20 and continued in epoch 3, in a file without a link.
  std::string cut;
  append_log_header(cut);
  LogChain chain;
  for (const Zxid zxid : range(2, 1, 20)) append_frame(cut, entry(zxid), chain);
  store.disk.set_contents(store.log_path(zx(2, 1)), cut);
  std::string java;
  append_log_header(java);
  for (const Zxid zxid : range(3, 1, 5)) append_frame(java, entry(zxid), chain);
  java.resize(65552);
  store.disk.set_contents(store.log_path(zx(3, 1)), java);

  RecoveryReport report = store.start();
  EXPECT_FALSE(report.damaged()) << report.damage;
  EXPECT_EQ(report.last, zx(3, 5));
  store.log(range(3, 6, 8));
  report = store.start();
  EXPECT_EQ(report.last, zx(3, 8)) << report.damage;
  EXPECT_EQ(store.sink.history, joined(joined(range(1, 1, 100), range(2, 1, 20)), range(3, 1, 8)));
}

TEST_F(TwoFiles, AHoleInAFileThatJavaAddedIsDamageDespiteAStaleSideFile) {
  // The watermark is older than the gap, but does not cover this file: so the gap is not a torn tail.
  std::string java;
  append_log_header(java);
  LogChain chain;
  for (const Zxid zxid : range(3, 1, 50)) append_frame(java, entry(zxid), chain);
  store.disk.set_contents(store.log_path(zx(3, 1)), java);
  zero_sector(store.log_path(zx(3, 1)), java.size() / 2);
  EXPECT_TRUE(store.start().damaged());
}

TEST_F(TwoFiles, ATornTailInAnOlderJavaFileIsNotDamage) {
  forget_links();
  std::string torn = store.disk.contents(old_log);
  torn.append("half a record that a crash left").append(1000, '\0');
  store.disk.set_contents(old_log, torn);
  const RecoveryReport report = store.start();
  EXPECT_FALSE(report.damaged()) << report.damage;
  EXPECT_EQ(report.last, zx(2, 50));
}

TEST_F(TwoFiles, AnEmptyLastFileIsALeftoverAndIsRemoved) {
  for (const std::size_t size : {0u, 1u, 15u, 16u, 4096u}) {
    store.writer.reset();
    const std::string leftover = store.log_path(zx(3, 1));
    store.disk.set_contents(leftover, std::string(size, '\0'));
    const RecoveryReport report = store.start();
    EXPECT_FALSE(report.damaged()) << report.damage;
    EXPECT_EQ(report.last, zx(2, 50));
    EXPECT_FALSE(*store.disk.exists(leftover));
  }
}

TEST_F(TwoFiles, AGapInsideAnEpochIsDamage) {
  forget_links();
  std::string gap;
  append_log_header(gap);
  LogChain chain;
  for (const Zxid zxid : range(2, 52, 55)) append_frame(gap, entry(zxid), chain);
  store.disk.set_contents(store.log_path(zx(2, 52)), gap);
  const RecoveryReport report = store.start();
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(report.last, zx(2, 50));
}

TEST(TxnLogReader, StopsAtTheRequestedZxid) {
  Store store;
  store.log(range(1, 1, 20));
  store.disk.flip_bit(store.log_path(zx(1, 1)), store.writer->bytes_since_roll() * 8);  // in the last record
  auto reader = TxnLogReader::open(store.disk, store.dirs.logs, {.after = zx(1, 5), .until = zx(1, 15)});
  ASSERT_TRUE(reader);
  std::vector<Zxid> read;
  for (;;) {
    const auto record = reader->next();
    ASSERT_TRUE(record) << record.error().what;
    if (!*record) break;
    read.push_back((*record)->zxid);
  }
  EXPECT_EQ(read, range(1, 6, 15));
}

TEST(TxnLogReader, DamageErrorsNameFileOffsetZxidAndReason) {
  Store store;
  store.log(range(1, 1, 20));
  store.disk.flip_bit(store.log_path(zx(1, 1)), (kLogHeaderBytes + kFrameHeaderBytes + 25) * 8);
  auto reader = TxnLogReader::open(store.disk, store.dirs.logs, {.after = Zxid{0}});
  const auto record = reader->next();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, 0);
  ASSERT_TRUE(reader->damage());
  EXPECT_EQ(reader->damage()->file, "log.100000001");
  EXPECT_EQ(reader->damage()->offset, kLogHeaderBytes);
  EXPECT_NE(record.error().what.find("checksum mismatch"), std::string::npos) << record.error().what;
}

TEST(TxnLogReader, LimitsTheSearchAfterABreak) {
  // Every sixteenth byte looks like the start of a record of 1 MiB with an end mark. To try them all would
  // take 200,000 checksums of a megabyte each.
  Store store;
  std::string unit(8, '\0');
  wire::Writer(unit).i32(1 << 20);
  unit += "BBBB";
  std::string hostile;
  append_log_header(hostile);
  for (int i = 0; i < 200'000; ++i) hostile += unit;
  store.disk.set_contents(store.log_path(zx(1, 1)), hostile);
  EXPECT_TRUE(store.start().damaged()) << "if the search is cut short, it may not be a torn tail";
}

}  // namespace
}  // namespace drover::storage::testing

// SPDX-License-Identifier: Apache-2.0
#include "host/log_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "storage/testing.h"
#include "wire/quorum.h"

namespace drover::host {
namespace {

using storage::testing::entry;
using storage::testing::joined;
using storage::testing::range;
using storage::testing::zx;
using zab::LogRange;
using Progress = LogStream::Progress;

// A leader with 1.1-1.9 and 2.1-2.6 in four files.
struct Leader : storage::testing::Store {
  Leader() {
    log(range(1, 1, 4));
    writer->roll();
    log(range(1, 5, 9));
    writer->roll();
    log(range(2, 1, 3));
    writer->roll();
    log(range(2, 4, 6));
  }
  LogStream stream(const LogRange& wanted, double size_factor = 0) {
    return {disk, {.dirs = dirs, .size_factor = size_factor, .piece_bytes = 100}, wanted};
  }
  void remove(Zxid first) { ASSERT_TRUE(disk.unlink(log_path(first))); }
  void flip_a_bit_of(Zxid first) {
    disk.flip_bit(log_path(first), (storage::kLogHeaderBytes + storage::kFrameHeaderBytes + 30) * 8);
  }
};

Progress look(LogStream& stream) {
  Progress progress = Progress::kMore;
  while (progress == Progress::kMore) progress = stream.look();
  return progress;
}

struct Sent {
  Progress progress = Progress::kMore;
  std::vector<Zxid> zxids;  // proposed and committed, one after the other
  std::size_t pieces = 0;
};

Sent send(LogStream& stream) {
  Sent sent;
  while (sent.progress == Progress::kMore) {
    std::string bytes;
    sent.progress = stream.send(bytes);
    ++sent.pieces;
    std::string_view rest = bytes;
    wire::QuorumPacket packet;
    while (!rest.empty()) {
      const auto proposal = wire::decode_packet(rest, {}, packet);
      EXPECT_EQ(proposal.status, wire::Decoded::kComplete);
      EXPECT_EQ(packet.type, wire::PacketType::kProposal);
      EXPECT_EQ(packet.data, wire::Nullable(entry(packet.zxid)));
      sent.zxids.push_back(packet.zxid);
      rest.remove_prefix(proposal.bytes);
      const auto commit = wire::decode_packet(rest, {}, packet);
      EXPECT_EQ(commit.status, wire::Decoded::kComplete);
      EXPECT_EQ(packet.type, wire::PacketType::kCommit);
      EXPECT_EQ(packet.zxid, sent.zxids.back());
      rest.remove_prefix(commit.bytes);
    }
  }
  return sent;
}

TEST(LogStream, SendsEverythingAfterTheLearnersLastTransaction) {
  Leader leader;
  LogStream stream = leader.stream({zx(1, 3), zx(2, 5)});
  ASSERT_EQ(look(stream), Progress::kEnd) << stream.why();
  const Sent sent = send(stream);
  EXPECT_EQ(sent.progress, Progress::kEnd);
  EXPECT_EQ(sent.zxids, joined(range(1, 4, 9), range(2, 1, 5)));
  EXPECT_GT(sent.pieces, 3u);
}

TEST(LogStream, EveryBeginningAndEveryEndIsExact) {
  Leader leader;
  const std::vector<Zxid> all = joined(range(1, 1, 9), range(2, 1, 6));
  for (std::size_t after = 0; after + 1 < all.size(); ++after) {
    for (std::size_t until = after + 1; until < all.size(); ++until) {
      LogStream stream = leader.stream({all[after], all[until]});
      ASSERT_EQ(look(stream), Progress::kEnd) << stream.why();
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(after) + 1;
      ASSERT_EQ(send(stream).zxids, std::vector<Zxid>(at, at + static_cast<std::ptrdiff_t>(until - after)));
    }
  }
}

TEST(LogStream, ALearnerWhoseLastTransactionIsNotInTheLogNeedsASnapshot) {
  Leader leader;
  for (const Zxid theirs : {zx(1, 10), zx(1, 0), zx(0, 7), zx(2, 0)}) {
    LogStream stream = leader.stream({theirs, zx(2, 5)});
    EXPECT_EQ(look(stream), Progress::kFailed) << raw(theirs);
  }
  LogStream purged = leader.stream({zx(1, 3), zx(2, 5)});
  leader.remove(zx(1, 1));
  EXPECT_EQ(look(purged), Progress::kFailed);
}

TEST(LogStream, ALogThatEndsTooEarlyIsOfNoUse) {
  Leader leader;
  LogStream stream = leader.stream({zx(1, 3), zx(2, 7)});
  EXPECT_EQ(look(stream), Progress::kFailed);
  EXPECT_NE(stream.why().find("ends too early"), std::string::npos) << stream.why();
}

TEST(LogStream, AHoleOrDamageIsFoundBeforeAnythingIsSent) {
  Leader holed;
  holed.remove(zx(1, 5));
  LogStream with_hole = holed.stream({zx(1, 3), zx(2, 5)});
  EXPECT_EQ(look(with_hole), Progress::kFailed);

  Leader damaged;
  damaged.flip_a_bit_of(zx(2, 1));
  LogStream with_damage = damaged.stream({zx(1, 3), zx(2, 5)});
  EXPECT_EQ(look(with_damage), Progress::kFailed);
}

TEST(LogStream, AWholeEpochThatIsMissingIsFound) {
  Leader leader;
  leader.writer->roll();
  leader.log(range(3, 1, 2));
  leader.remove(zx(2, 1));
  leader.remove(zx(2, 4));
  LogStream stream = leader.stream({zx(1, 7), zx(3, 1)});
  EXPECT_EQ(look(stream), Progress::kFailed);
}

TEST(LogStream, PurgeTakesNothingAwayThatWasPromised) {
  Leader leader;
  LogStream stream = leader.stream({zx(1, 3), zx(2, 5)});
  ASSERT_EQ(look(stream), Progress::kEnd);
  for (const Zxid first : {zx(1, 1), zx(1, 5), zx(2, 1), zx(2, 4)}) leader.remove(first);
  EXPECT_EQ(send(stream).zxids, joined(range(1, 4, 9), range(2, 1, 5)));
}

TEST(LogStream, DamageAfterTheLookEndsTheStream) {
  Leader leader;
  LogStream stream = leader.stream({zx(1, 3), zx(2, 5)});
  ASSERT_EQ(look(stream), Progress::kEnd);
  leader.flip_a_bit_of(zx(2, 1));
  const Sent sent = send(stream);
  EXPECT_EQ(sent.progress, Progress::kFailed);
  EXPECT_LE(sent.zxids.size(), 6u);
  EXPECT_FALSE(stream.why().empty());
}

TEST(LogStream, TheLogMayGrowMeanwhile) {
  Leader leader;
  LogStream stream = leader.stream({zx(1, 3), zx(2, 5)});
  leader.log(range(2, 7, 9));
  ASSERT_EQ(look(stream), Progress::kEnd);
  leader.writer->roll();
  leader.log(range(2, 10, 12));
  EXPECT_EQ(send(stream).zxids, joined(range(1, 4, 9), range(2, 1, 5)));
}

TEST(LogStream, TooManyFilesAreLeftToASnapshot) {
  Leader leader;
  for (std::uint32_t c = 7; c < 90; ++c) {
    leader.writer->roll();
    leader.log(range(2, c, c));
  }
  LogStream many = leader.stream({zx(1, 3), zx(2, 88)});
  EXPECT_EQ(look(many), Progress::kFailed);
  LogStream few = leader.stream({zx(2, 40), zx(2, 88)});
  EXPECT_EQ(look(few), Progress::kEnd);
}

// --- snapshotSizeFactor ---

std::uint64_t bytes_of(Leader& leader, const std::string& path) { return leader.disk.contents(path).size(); }

TEST(LogStream, TheFilesMayHaveTheConfiguredPartOfTheNewestSnapshotsSize) {
  Leader leader;
  std::vector<Zxid> state;
  for (std::uint32_t c = 1; c <= 500; ++c) state.push_back(zx(0, c));
  ASSERT_TRUE(storage::testing::write_snapshot(leader.disk, leader.dirs, state));
  const auto snapshot = static_cast<double>(bytes_of(leader, leader.snapshot_path(zx(0, 500))));
  // All of the first files, and the last one up to the transaction before which the window begins.
  std::uint64_t earlier = 0;
  for (const Zxid first : {zx(1, 1), zx(1, 5), zx(2, 1)}) earlier += bytes_of(leader, leader.log_path(first));
  const std::uint64_t bytes = earlier + storage::kLogHeaderBytes + 2 * storage::kFrameOverheadBytes +
                              entry(zx(2, 4)).size() + entry(zx(2, 5)).size();
  const double exact = static_cast<double>(bytes) / snapshot;
  ASSERT_LT(exact, 1);
  ASSERT_GT(earlier + bytes_of(leader, leader.log_path(zx(2, 4))), bytes * 3 / 2)
      << "the last file has reserved space, which does not count";

  LogStream fits = leader.stream({zx(1, 3), zx(2, 5)}, exact * 1.01);
  EXPECT_EQ(look(fits), Progress::kEnd) << fits.why();
  LogStream too_large = leader.stream({zx(1, 3), zx(2, 5)}, exact * 0.99);
  EXPECT_EQ(look(too_large), Progress::kFailed);
  EXPECT_NE(too_large.why().find("snapshotSizeFactor"), std::string::npos) << too_large.why();
  LogStream nearer = leader.stream({zx(2, 1), zx(2, 5)}, exact * 0.99);
  EXPECT_EQ(look(nearer), Progress::kEnd);
  LogStream no_limit = leader.stream({zx(1, 3), zx(2, 5)}, 0);
  EXPECT_EQ(look(no_limit), Progress::kEnd);
}

}  // namespace
}  // namespace drover::host

// SPDX-License-Identifier: Apache-2.0
//
// Random damage anywhere in a history of two files and two epochs: recovery finds every acknowledged
// transaction, or it reports damage. It never silently finds fewer.
#include <gtest/gtest.h>

#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

constexpr int kRounds = 3000;

class Damage : public ::testing::Test {
 protected:
  Damage() {
    store_.log(range(1, 1, 30));
    store_.writer->roll();
    store_.log(range(2, 1, 30));
    store_.writer.reset();
    for (const Zxid first : {zx(1, 1), zx(2, 1)}) {
      logs_.push_back(store_.log_path(first));
      originals_.push_back(store_.disk.contents(logs_.back()));
    }
    links_ = store_.disk.contents(store_.links_path());
  }

  void restore() {
    for (std::size_t i = 0; i < logs_.size(); ++i) store_.disk.set_contents(logs_[i], originals_[i]);
    store_.disk.set_contents(store_.links_path(), links_);
  }

  // Damages the bytes in a random way.
  std::string wound(std::string bytes) {
    const std::uint64_t at = random_.below(bytes.size());
    const std::uint64_t sector = at / kSectorBytes * kSectorBytes;
    const std::uint64_t n = std::min<std::uint64_t>(kSectorBytes, bytes.size() - sector);
    switch (random_.below(5)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.below(8))); break;
      case 1: bytes.replace(sector, n, std::string(n, '\0')); break;
      case 2: bytes.replace(sector, n, noise(n)); break;
      case 3:
        bytes.replace(sector, n, bytes.substr(random_.below(bytes.size() / kSectorBytes) * kSectorBytes, n));
        bytes.resize(std::max(bytes.size(), sector + n));
        break;
      default: bytes.resize(at); break;
    }
    return bytes;
  }
  std::string noise(std::size_t n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) bytes.push_back(static_cast<char>(random_.next()));
    return bytes;
  }

  Store store_;
  std::vector<std::string> logs_;
  std::vector<std::string> originals_;
  std::string links_;
  std::vector<Zxid> everything_ = joined(range(1, 1, 30), range(2, 1, 30));
  Random random_{20240607};
};

TEST_F(Damage, ToALogIsHarmlessOrReported) {
  int told = 0;
  for (int round = 0; round < kRounds; ++round) {
    restore();
    const std::size_t which = random_.below(2);
    store_.disk.set_contents(logs_[which], wound(originals_[which]));
    const auto report = recover(store_.disk, store_.dirs, {.repair = false}, store_.sink);
    ASSERT_TRUE(report);
    ASSERT_FALSE(store_.sink.altered);
    if (report->damaged()) {
      ++told;
      ASSERT_LE(store_.sink.history.size(), everything_.size());
      continue;
    }
    ASSERT_EQ(store_.sink.history, everything_) << "round " << round;
  }
  EXPECT_GT(told, kRounds / 2) << "the damage is real";
}

TEST_F(Damage, ToTheSideFileLosesNothingAndIsNotReported) {
  for (int round = 0; round < kRounds; ++round) {
    restore();
    store_.disk.set_contents(store_.links_path(), wound(links_));
    const auto report = recover(store_.disk, store_.dirs, {.repair = false}, store_.sink);
    ASSERT_TRUE(report);
    ASSERT_FALSE(report->damaged()) << "round " << round << ": " << report->damage;
    ASSERT_EQ(store_.sink.history, everything_);
  }
}

// Without the side file there is less evidence, but damage followed by complete records is still detected.
TEST_F(Damage, InTheMiddleOfALogIsReportedEvenWithoutTheSideFile) {
  ASSERT_TRUE(store_.disk.unlink(store_.links_path()));
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t which = random_.below(2);
    std::string bytes = originals_[which];
    const std::uint64_t at = kSectorBytes * (1 + random_.below(8));
    bytes.replace(at, kSectorBytes,
                  random_.below(2) == 0 ? std::string(kSectorBytes, '\0') : noise(kSectorBytes));
    store_.disk.set_contents(logs_[which], bytes);
    const auto report = recover(store_.disk, store_.dirs, {.repair = false}, store_.sink);
    ASSERT_TRUE(report);
    ASSERT_TRUE(report->damaged()) << "round " << round << " sector at " << at;
    store_.disk.set_contents(logs_[which], originals_[which]);
  }
}

}  // namespace
}  // namespace drover::storage::testing

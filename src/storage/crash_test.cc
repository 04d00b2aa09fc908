// SPDX-License-Identifier: Apache-2.0
//
// Power loss after every disk operation of a server's life, with every possible outcome for unsynced data:
// everything acknowledged is still there, nothing else was added, and the next life continues from it.
#include <gtest/gtest.h>

#include <functional>

#include "storage/epoch_files.h"
#include "storage/purge.h"
#include "storage/testing.h"
#include "storage/truncate.h"

namespace drover::storage::testing {
namespace {

constexpr int kTears = 12;

// A server that logs, rolls, takes snapshots and purges, and that stops at the first failure.
class Life {
 public:
  explicit Life(std::uint64_t seed) : disk_(seed) {}

  MemoryDisk& disk() { return disk_; }
  const DataDirs& dirs() const { return dirs_; }

  // Recovers and continues; false if the disk failed on the way. Checks what it finds.
  bool start() {
    writer_.reset();
    data_dir_.reset();
    auto opened = DataDir::open(disk_, dirs_, {});
    if (!opened) return false;
    data_dir_.emplace(*std::move(opened));
    RecordingSink sink;
    const auto report = recover(disk_, dirs_, {.autocreate = true}, sink);
    if (!report) return false;
    check(*report, sink);
    if (::testing::Test::HasFailure()) return false;
    history_ = sink.history;
    acknowledged_ = sink.history;
    if (report->outcome == RecoveryOutcome::kEmpty && !write_snapshot(disk_, dirs_, {})) return false;
    auto writer = TxnLogWriter::open(disk_, dirs_.logs, report->tail, {.preallocate_bytes = 2048});
    if (!writer) return false;
    writer_.emplace(*std::move(writer));
    return true;
  }

  bool append(std::uint32_t n) {
    std::vector<Zxid> zxids;
    for (std::uint32_t i = 0; i < n; ++i) {
      zxids.push_back(zx(epoch_, ++counter_));
    }
    attempted_ = joined(history_, zxids);
    if (!writer_->append(batch(zxids))) return false;
    history_ = attempted_;
    return true;
  }
  bool sync() {
    if (!writer_->sync()) return false;
    acknowledged_ = history_;
    return true;
  }
  bool roll() {
    writer_->roll();
    return true;
  }
  bool new_epoch() {
    epoch_ = std::max(epoch_, history_.empty() ? 0 : epoch_of(history_.back())) + 1;
    counter_ = 0;
    return write_epoch(disk_, dirs_.snapshots, EpochFile::kAccepted, epoch_) &&
           write_epoch(disk_, dirs_.snapshots, EpochFile::kCurrent, epoch_);
  }
  bool snapshot() { return write_snapshot(disk_, dirs_, history_).has_value(); }
  bool purge_old() { return purge(disk_, dirs_, {.retain = 1}).has_value(); }
  // Truncates to `n` transactions, as a leader may ask.
  bool truncate_to(std::size_t n) {
    writer_.reset();
    // From here on, transactions after this point are no longer promised, but all of them may still be there.
    acknowledged_.resize(n);
    if (!truncate_history(disk_, dirs_, history_[n - 1])) return false;
    return start();
  }

  void crash(Survival survival) {
    writer_.reset();
    data_dir_.reset();
    disk_.crash(survival);
  }

 private:
  void check(const RecoveryReport& report, const RecordingSink& sink) {
    ASSERT_FALSE(report.damaged()) << report.damage;
    EXPECT_FALSE(sink.altered);
    ASSERT_GE(sink.history.size(), acknowledged_.size()) << "something acknowledged is missing";
    ASSERT_LE(sink.history.size(), attempted_.size()) << "something appeared that was never written";
    for (std::size_t i = 0; i < sink.history.size(); ++i) ASSERT_EQ(sink.history[i], attempted_[i]);
    if (!sink.history.empty()) {
      EXPECT_EQ(report.last, sink.history.back());
    }
    const auto epochs = load_epochs(disk_, dirs_.snapshots, report.last);
    EXPECT_TRUE(epochs || epochs.error().code != 0) << epochs.error().what;
  }

  MemoryDisk disk_;
  DataDirs dirs_ = data_dirs("/data");
  std::optional<DataDir> data_dir_;
  std::optional<TxnLogWriter> writer_;
  std::vector<Zxid> attempted_;     // the most that may be found
  std::vector<Zxid> history_;       // appended
  std::vector<Zxid> acknowledged_;  // synced: the least that must be found
  std::uint32_t epoch_ = 0;
  std::uint32_t counter_ = 0;
};

using Script = std::function<bool(Life&)>;

std::string name_of(Survival survival) {
  return survival == Survival::kLose ? "lose" : survival == Survival::kKeep ? "keep" : "tear";
}

// Crashes after each operation, recovers, crashes during that recovery too, and then continues.
void sweep(const Script& script) {
  Life whole(1);
  ASSERT_TRUE(script(whole));
  const std::uint64_t operations = whole.disk().operations();
  for (std::uint64_t k = 0; k <= operations; ++k) {
    for (const Survival survival : {Survival::kLose, Survival::kKeep, Survival::kTear}) {
      for (int seed = 0; seed < (survival == Survival::kTear ? kTears : 1); ++seed) {
        SCOPED_TRACE("crash after operation " + std::to_string(k) + " of " + std::to_string(operations) +
                     ", " + name_of(survival) + ", seed " + std::to_string(seed));
        Life life(static_cast<std::uint64_t>(seed));
        life.disk().power_off_after(k);
        (void)script(life);
        life.crash(survival);
        life.disk().power_off_after(static_cast<std::uint64_t>(seed));
        (void)life.start();
        life.crash(survival);
        ASSERT_TRUE(life.start());
        ASSERT_TRUE(life.new_epoch() && life.append(3) && life.sync());
        life.crash(Survival::kLose);
        ASSERT_TRUE(life.start());
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(Crash, ALogThatRollsAcrossEpochsLosesNothingAcknowledged) {
  sweep([](Life& l) {
    return l.start() && l.new_epoch() && l.append(3) && l.sync() && l.append(2) && l.append(4) && l.sync() &&
           l.roll() && l.append(2) && l.sync() && l.new_epoch() && l.append(5) && l.sync() && l.roll() &&
           l.new_epoch() && l.append(9) && l.append(1) && l.sync() && l.append(6);
  });
}

TEST(Crash, ASyncAlsoCoversAppendsToTheFileBeforeItWasRolled) {
  sweep([](Life& l) {
    return l.start() && l.new_epoch() && l.append(3) && l.roll() && l.append(2) && l.sync() && l.append(4) &&
           l.roll() && l.new_epoch() && l.append(5) && l.sync();
  });
}

TEST(Crash, SnapshotsAndPurgeLoseNothingAcknowledged) {
  sweep([](Life& l) {
    return l.start() && l.new_epoch() && l.append(5) && l.sync() && l.roll() && l.snapshot() && l.append(4) &&
           l.sync() && l.purge_old() && l.append(3) && l.sync() && l.snapshot() && l.roll() && l.append(2) &&
           l.sync() && l.purge_old() && l.append(1) && l.sync();
  });
}

TEST(Crash, RestartsLoseNothingAcknowledged) {
  sweep([](Life& l) {
    return l.start() && l.new_epoch() && l.append(5) && l.sync() && l.start() && l.append(4) && l.sync() &&
           l.start() && l.new_epoch() && l.append(3) && l.sync() && l.start() && l.append(8) && l.sync();
  });
}

TEST(Crash, TruncationLeavesACompleteHistoryAtEveryCrashPoint) {
  sweep([](Life& l) {
    return l.start() && l.new_epoch() && l.append(5) && l.sync() && l.roll() && l.append(4) && l.sync() &&
           l.roll() && l.append(6) && l.sync() && l.snapshot() && l.truncate_to(3) && l.new_epoch() &&
           l.append(2) && l.sync();
  });
}

// A failing device instead of a power loss: the writer must stop, and a restart finds a complete history.
TEST(Crash, AFailedOperationStopsTheWriterAndLosesNothingAcknowledged) {
  const Script script = [](Life& l) {
    return l.start() && l.new_epoch() && l.append(3) && l.sync() && l.roll() && l.append(4) && l.sync() &&
           l.append(5) && l.sync() && l.snapshot() && l.roll() && l.append(2) && l.sync();
  };
  Life whole(1);
  ASSERT_TRUE(script(whole));
  for (std::uint64_t k = 0; k < whole.disk().operations(); ++k) {
    for (const Survival survival : {Survival::kLose, Survival::kKeep, Survival::kTear}) {
      SCOPED_TRACE("operation " + std::to_string(k) + " fails, " + name_of(survival));
      Life life(k);
      life.disk().inject({.error = EIO, .skip = k});
      (void)script(life);
      life.crash(survival);
      ASSERT_TRUE(life.start());
    }
  }
}

}  // namespace
}  // namespace drover::storage::testing

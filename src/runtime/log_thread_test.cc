// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "storage/file_names.h"
#include "storage/testing.h"

namespace drover::server {
namespace {

using storage::testing::Store;
using storage::testing::zx;

wire::TxnBatchPtr append_of(Zxid zxid) {
  auto batch = std::make_shared<wire::TxnBatch>();
  batch->add(zxid, storage::testing::entry(zxid));
  return batch;
}

// The name of an answer.
template <class Answer>
constexpr std::size_t kKindOf = zab::DiskAnswer(Answer{}).index();

class NoState final : public host::StateInMemory {
  IoResult<void> write_state(storage::SnapshotWriter&) override { return {}; }
  IoResult<bool> reload_state() override { return true; }
  void clear_state() override {}
};

LogThreadOptions snapshot_after(std::int64_t txns) {
  LogThreadOptions options;
  options.disk.snapshot_after.txns = txns;
  return options;
}

LogThreadOptions sync_on_caller(std::int64_t snapshot_after_txns, std::uint64_t quick_sync_ns) {
  LogThreadOptions options = snapshot_after(snapshot_after_txns);
  options.sync_on_caller = true;
  options.quick_sync_ns = quick_sync_ns;
  return options;
}

// On a busy machine any sync can be delayed; these tests are not about that.
constexpr std::uint64_t kAlwaysQuick = UINT64_MAX;

// A log thread with a disk in memory. Only that thread uses the disk while it runs.
class Log {
 public:
  explicit Log(const LogThreadOptions& options) {
    store_.options.preallocate_bytes = std::uint64_t{16} << 20;
    store_.start();
    const storage::LogTail tail = store_.writer->tail();
    store_.writer.reset();
    auto journal = storage::Journal::open(store_.disk, store_.dirs, tail, store_.options);
    ENSURE(journal.has_value(), "a disk in memory opens");
    thread_ = std::make_unique<LogThread>(
        *std::move(journal), state_, options,
        LogThread::Callbacks{.done = [this](const zab::DiskAnswer& answer) { on_answer(answer); },
                             .disk_full = [](bool) {},
                             .want_snapshot =
                                 [this] {
                                   ++asked;
                                   file_begins_ = true;
                                   return snapshots_start.load();
                                 },
                             .snapshot_bytes = [] { return std::uint64_t{0}; },
                             .fatal = [](const IoError& error) { ENSURE(false, error.what.c_str()); },
                             .pause_snapshots = [] {},
                             .resume_snapshots = [] {}});
  }

  // One batch per transaction, as from a client that waits for every answer.
  void append(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t c = first; c <= last; ++c) {
      thread_->submit(append_of(zx(1, c)));
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return durable_ == zx(1, c); });
    }
    next_ = last + 1;
  }

  void append_next() { append(next_, next_); }
  // The log thread may not be waiting yet, and then it does the sync.
  void append_until_on_caller(std::uint32_t first) {
    for (next_ = first; on_caller == 0 && next_ < 100'000;) append_next();
  }

  void submit(host::DiskOrder order) { thread_->submit(std::move(order)); }
  // All answers up to and including the first of `kind`.
  std::vector<std::size_t> answers_until(std::size_t kind) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::ranges::find(answers_, kind) != answers_.end(); });
    return std::exchange(answers_, {});
  }
  std::uint32_t current_epoch_after_end() {
    thread_.reset();
    return storage::read_epoch(store_.disk, store_.dirs.snapshots, storage::EpochFile::kCurrent)->value_or(0);
  }

  std::vector<std::string> files_after_end() {
    thread_.reset();
    std::vector<std::string> logs;
    const auto names = store_.disk.list(store_.dirs.logs);
    for (const std::string& name : *names) {
      if (storage::parse_log_name(name)) logs.push_back(name);
    }
    return logs;
  }

  std::atomic<bool> snapshots_start{true};
  std::atomic<int> asked{0};
  std::atomic<int> first_of_file_on_caller{0};
  std::atomic<int> on_caller{0};  // batches that submit() made durable by itself

 private:
  void on_answer(const zab::DiskAnswer& answer) {
    if (const auto* durable = std::get_if<zab::TxnsDurable>(&answer)) return on_durable(durable->last);
    if (const auto* cut = std::get_if<zab::LogTruncated>(&answer)) {
      EXPECT_FALSE(cut->done);
    }
    std::lock_guard lock(mutex_);
    answers_.push_back(answer.index());
    changed_.notify_one();
  }
  void on_durable(Zxid last) {
    const bool first = file_begins_.exchange(false);
    if (std::this_thread::get_id() == submitter_) {
      ++on_caller;
      if (first) ++first_of_file_on_caller;
    }
    std::lock_guard lock(mutex_);
    durable_ = last;
    answers_.push_back(kKindOf<zab::TxnsDurable>);
    changed_.notify_one();
  }

  const std::thread::id submitter_ = std::this_thread::get_id();
  Store store_;
  NoState state_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> file_begins_{false};
  Zxid durable_{};
  std::vector<std::size_t> answers_;
  std::uint32_t next_ = 1;
  std::unique_ptr<LogThread> thread_;
};

TEST(LogThread, IsBlockedByAFailedTruncationUntilTheHistoryIsDiscarded) {
  Log log(snapshot_after(1000));
  log.append(1, 3);
  log.answers_until(kKindOf<zab::TxnsDurable>);
  log.submit(zab::TruncateLog{zx(1, 9)});  // never logged
  // These continue a history that is missing here; a server that claims to have reached the epoch could lead.
  log.submit(zab::AppendTxns{append_of(zx(1, 10))});
  log.submit(zab::SaveEpoch{zab::EpochKind::kCurrent, 7});
  log.submit(zab::ReloadState{});
  log.submit(host::DiscardHistory{});
  log.submit(zab::SaveEpoch{zab::EpochKind::kAccepted, 7});
  EXPECT_EQ(
      log.answers_until(kKindOf<zab::EpochSaved>),
      (std::vector{kKindOf<zab::LogTruncated>, kKindOf<zab::HistoryDiscarded>, kKindOf<zab::EpochSaved>}));
  EXPECT_NE(log.current_epoch_after_end(), 7u);
}

TEST(LogThread, EndsAFileWhereASnapshotBegins) {
  Log log(snapshot_after(20));
  log.append(1, 21);
  EXPECT_EQ(log.files_after_end().size(), 2u);
  EXPECT_EQ(log.asked, 1);
}

TEST(LogThread, DoesNotEndFilesWhileASnapshotIsBeingWritten) {
  // Ending a file costs several syncs. With a large tree and a small limit there would be thousands of files,
  // and every write would wait for their syncs.
  Log log(snapshot_after(20));
  log.snapshots_start = false;
  log.append(1, 100);
  log.snapshots_start = true;
  log.append(101, 110);
  EXPECT_EQ(log.files_after_end().size(), 2u);
  EXPECT_GE(log.asked, 80) << "it is asked for until one begins";
}

TEST(LogThread, SyncsOnTheCallersThreadOnlyAfterManyQuickSyncs) {
  Log log(sync_on_caller(1'000'000, kAlwaysQuick));
  log.append(1, 64);
  EXPECT_EQ(log.on_caller, 0);
  log.append_until_on_caller(65);
  EXPECT_GT(log.on_caller, 0);
  EXPECT_EQ(log.files_after_end().size(), 1u);
}

TEST(LogThread, DoesNotSyncOnTheCallersThreadByDefault) {
  Log log(snapshot_after(1'000'000));
  log.append(1, 300);
  EXPECT_EQ(log.on_caller, 0);
}

TEST(LogThread, OneSlowSyncEndsSyncingOnTheCallersThread) {
  Log log(sync_on_caller(1'000'000, 1));
  log.append(1, 300);
  EXPECT_EQ(log.on_caller, 0) << "no sync is that quick";
}

TEST(LogThread, StartsNewFilesOnItsOwnThread) {
  // A new file costs several syncs, during which the caller could not answer reads.
  Log log(sync_on_caller(200, kAlwaysQuick));
  log.append(1, 64);
  log.append_until_on_caller(65);
  while (log.asked < 5) log.append_next();
  EXPECT_EQ(log.first_of_file_on_caller, 0);
}

}  // namespace
}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// The thread that makes transactions durable: one write and one fdatasync for all that came meanwhile.
//
// While one batch syncs the next one gathers, so the batch grows with the load and nobody tunes it. What
// cannot be made durable ends the process: the log's word is what clients were told. A full disk is the
// exception, as long as nothing was written: the batch waits for space, and the core is told, so that it
// refuses to grow the state.
//
// In an ensemble it also saves epochs, cuts history back and replaces it, in the order in which it was told:
// that order is what "durable" means there (zab/effects.h).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/measures.h"
#include "base/random.h"
#include "replica/effects.h"
#include "runtime/log_orders.h"
#include "storage/journal.h"

namespace drover::server {

struct LogThreadOptions {
  std::int64_t snap_count = 100'000;
  std::int64_t snap_bytes = 0;           // 0: no such trigger
  storage::SnapshotOptions snapshots{};  // how a leader's state is saved
  std::int64_t fsync_warning_ms = 1000;
  std::uint64_t seed = 1;
  // submit() may write and sync by itself as long as the disk is quick. Only where the caller has nothing
  // better to do meanwhile than to wait.
  bool sync_on_caller = false;
  std::uint64_t quick_sync_ns = 2'000'000;
};

class LogThread {
 public:
  struct Callbacks {
    std::function<void(const LogAnswer&)> done;
    std::function<void(bool)> disk_full;  // it is, or no longer
    // Enough has happened since the last one. False: one is being written, ask again.
    std::function<bool()> want_snapshot;
    // Bytes of the newest snapshot: a log shorter than half of it is cheaper to replay than to replace.
    std::function<std::uint64_t()> snapshot_bytes;
    std::function<void(const IoError&)> fatal;  // does not return

    // Of an ensemble. Each keeps the tree's lock itself.
    std::function<IoResult<void>(storage::SnapshotWriter&)> write_state = {};
    std::function<IoResult<bool>()> reload_state = {};  // whether it is exact
    std::function<void()> clear_state = {};
    std::function<void()> pause_snapshots = {};  // returns when none is being written
    std::function<void()> resume_snapshots = {};
  };

  LogThread(storage::Journal journal, const LogThreadOptions& options, Callbacks callbacks);
  // Writes what was submitted, then ends.
  ~LogThread();

  // From one thread at a time.
  void submit(replica::LogAppendPtr append);
  void submit(LogOrder order);
  struct Stats {
    std::uint64_t syncs = 0;
    std::uint64_t txns = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sync_ns_sum = 0;
    std::uint64_t sync_ns_max = 0;
    std::uint64_t sync_ns_min = 0;
    std::uint64_t slow_syncs = 0;  // longer than fsync.warningthresholdms
    Histogram sync_ms;
    Extremes batch_txns;
    Extremes queue_txns;           // that had gathered when this thread came for them
    Histogram queue_ms;            // from submit() until they are written, of the oldest in a batch
    Extremes write_ms;             // into the file, without the sync
    Histogram queue_and_flush_ms;  // from submit() until durable, of the oldest in a batch
  };
  Stats stats() const;

 private:
  // Of one batch, in nanoseconds.
  struct Moments {
    std::uint64_t submitted = 0;
    std::uint64_t writing = 0;
    std::uint64_t syncing = 0;
  };
  void run();
  bool take(std::vector<LogOrder>& orders);
  void append(const std::vector<LogOrder>& orders, std::size_t first, std::size_t end);
  void carry_out(const LogOrder& order);
  template <class T>
  T must(IoResult<T> result);
  bool may_borrow(const replica::LogAppend& append);
  void make_durable(const storage::LogBatch& batch, std::size_t orders, std::uint64_t submitted_ns);
  void write(const storage::LogBatch& batch);
  void look_for_space(std::uint64_t bytes, std::uint64_t entries);
  void wait_for_space(const storage::LogBatch& batch);
  void set_full(bool full);
  std::uint64_t sync();
  void count_towards_snapshot(const storage::LogBatch& batch);
  void count(const storage::LogBatch& batch, const Moments& moments);
  void count_queue(const std::vector<LogOrder>& orders);
  void choose_next_snapshot();

  storage::Journal journal_;
  storage::LogBatch batch_;  // scratch
  LogThreadOptions options_;
  Callbacks callbacks_;
  Random random_;
  std::int64_t txns_since_snapshot_ = 0;
  std::int64_t bytes_since_snapshot_ = 0;
  std::int64_t snapshot_after_txns_ = 0;
  std::int64_t snapshot_after_bytes_ = 0;
  bool full_ = false;
  bool refusing_ = false;  // a truncation failed: what was ordered behind it must not follow what is there

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::vector<LogOrder> queue_;
  std::uint64_t oldest_ns_ = 0;  // when the first of the queue was submitted
  std::uint64_t taken_ns_ = 0;   // the same of what was taken from it
  bool waiting_ = false;         // this thread sleeps, and uses nothing of the above
  bool borrowed_ = false;        // submit() has the journal, and this thread must leave it alone
  bool stopping_ = false;
  int quick_syncs_ = 0;  // in a row
  std::uint64_t borrow_after_ns_ = 0;
  storage::LogBatch borrowed_batch_;  // only submit() uses it
  Stats stats_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace drover::server

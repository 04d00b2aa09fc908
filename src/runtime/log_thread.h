// SPDX-License-Identifier: Apache-2.0
//
// The thread that makes transactions durable: one write and one fdatasync for everything that is queued.
//
// While one batch syncs, the next one gathers. So the batch grows with the load and needs no tuning. An error
// that prevents durability ends the process: clients were promised what is in the log. A full disk is the
// exception, as long as nothing was written: the batch waits for space, and the core is informed and rejects
// requests that grow the state.
//
// In an ensemble it also saves epochs, truncates the history and replaces it, in the order of the requests:
// "durable" depends on that order (zab/effects.h).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/measures.h"
#include "host/disk_orders.h"
#include "storage/journal.h"

namespace drover::server {

struct LogThreadOptions {
  host::DiskOptions disk;
  std::int64_t fsync_warning_ms = 1000;
  // submit() may write and sync on the caller's thread while the disk is quick. Only for a caller that has
  // nothing better to do than to wait.
  bool sync_on_caller = false;
  std::uint64_t quick_sync_ns = 2'000'000;
};

class LogThread {
 public:
  struct Callbacks {
    std::function<void(const zab::DiskAnswer&)> done;
    std::function<void(bool)> disk_full;  // true: full; false: no longer full
    // The log has grown enough for a new snapshot. False: one is being written, ask again.
    std::function<bool()> want_snapshot;
    // Bytes of the newest snapshot: a log shorter than half of it is cheaper to replay than a new snapshot is
    // to write.
    std::function<std::uint64_t()> snapshot_bytes;
    std::function<void(const IoError&)> fatal;  // does not return

    // Only for an ensemble.
    std::function<void()> pause_snapshots = {};  // returns when none is being written
    std::function<void()> resume_snapshots = {};
  };

  // The state outlives it, and takes the tree's lock itself.
  LogThread(storage::Journal journal, host::StateInMemory& state, const LogThreadOptions& options,
            Callbacks callbacks);
  // Writes everything submitted, then ends.
  ~LogThread();

  // Called by one thread at a time.
  void submit(wire::TxnBatchPtr append);
  void submit(host::DiskOrder order);
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
    Extremes queue_txns;           // queued when this thread took them
    Histogram queue_ms;            // from submit() to the write, for the oldest in a batch
    Extremes write_ms;             // write to the file, without the sync
    Histogram queue_and_flush_ms;  // from submit() until durable, for the oldest in a batch
  };
  Stats stats() const;

 private:
  // Times of one batch, in nanoseconds.
  struct Moments {
    std::uint64_t submitted = 0;
    std::uint64_t writing = 0;
    std::uint64_t syncing = 0;
  };
  void run();
  bool take(std::vector<host::DiskOrder>& orders);
  void append(const std::vector<host::DiskOrder>& orders, std::size_t first, std::size_t end);
  void carry_out(const host::DiskOrder& order);
  template <class T>
  T must(IoResult<T> result);
  bool may_borrow(const wire::TxnBatch& append);
  void make_durable(const wire::TxnBatch& batch, std::size_t orders, std::uint64_t submitted_ns);
  void write(const wire::TxnBatch& batch);
  void wait_for_space(const wire::TxnBatch& batch);
  void tell_if_full();
  std::uint64_t sync();
  void count(const wire::TxnBatch& batch, const Moments& moments);
  void count_queue(const std::vector<host::DiskOrder>& orders);

  host::DiskOrders disk_;
  wire::TxnBatch batch_;  // scratch
  LogThreadOptions options_;
  Callbacks callbacks_;
  bool told_full_ = false;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::vector<host::DiskOrder> queue_;
  std::uint64_t oldest_ns_ = 0;  // when the first order in the queue was submitted
  std::uint64_t taken_ns_ = 0;   // the same for the orders that were taken
  bool waiting_ = false;         // this thread sleeps and uses no member above
  bool borrowed_ = false;        // submit() uses the journal; this thread must not
  bool stopping_ = false;
  int quick_syncs_ = 0;  // in a row
  std::uint64_t borrow_after_ns_ = 0;
  Stats stats_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace drover::server

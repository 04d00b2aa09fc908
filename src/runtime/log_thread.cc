// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_thread.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "log/log.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

// Space reserved ahead of the log. Deletes and session closes still fit when the disk is full and growth is
// rejected.
constexpr std::uint64_t kReserveBytes = 4 << 20;
constexpr std::chrono::milliseconds kSpaceCheck{200};

// Borrowing: docs/performance.md, "The log's sync".
constexpr std::size_t kBorrowTxnsMax = 2;
constexpr int kQuickSyncsBefore = 64;
constexpr std::uint64_t kPausePerSlowSync = 100;

std::uint64_t now_ns() { return static_cast<std::uint64_t>(read_clock_ns(CLOCK_MONOTONIC)); }

void add(storage::LogBatch& batch, const zab::TxnBatch& txns) {
  if (batch.empty()) batch.first = txns.first;
  batch.last = txns.last;
  const std::uint64_t base = batch.bytes.size();
  batch.bytes.append(txns.bytes);
  for (const std::uint64_t end : txns.ends) batch.ends.push_back(base + end);
}

}  // namespace

LogThread::LogThread(storage::Journal journal, const LogThreadOptions& options, Callbacks callbacks)
    : journal_(std::move(journal)),
      options_(options),
      callbacks_(std::move(callbacks)),
      random_(options.seed) {
  choose_next_snapshot();
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "drover-log");
    run();
  });
}

LogThread::~LogThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void LogThread::submit(replica::LogAppendPtr append) {
  bool wake = false;
  const std::uint64_t submitted_ns = now_ns();
  {
    std::lock_guard lock(mutex_);
    borrowed_ = may_borrow(*append);
    if (!borrowed_) {
      if (queue_.empty()) oldest_ns_ = submitted_ns;
      queue_.emplace_back(zab::AppendTxns{std::move(append)});
      wake = waiting_;
    }
  }
  if (wake) work_.notify_one();
  if (!append) return;
  borrowed_batch_.clear();
  add(borrowed_batch_, *append);
  make_durable(borrowed_batch_, 1, submitted_ns);
  std::lock_guard lock(mutex_);
  borrowed_ = false;
  if (stopping_) work_.notify_one();
}

void LogThread::submit(LogOrder order) {
  if (auto* append = std::get_if<zab::AppendTxns>(&order)) return submit(std::move(append->batch));
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    if (queue_.empty()) oldest_ns_ = now_ns();
    queue_.push_back(std::move(order));
    wake = waiting_;
  }
  if (wake) work_.notify_one();
}

// Passing a batch to this thread and back costs half as much as a sync on a quick disk. But the calling
// thread also answers reads, and they would wait for a slow sync. So the caller syncs only tiny batches, and
// only after a series of quick syncs. A slow sync disables this for a hundred times its duration. That bounds
// the share of time in which a slow disk can delay reads.
bool LogThread::may_borrow(const replica::LogAppend& append) {
  return options_.sync_on_caller && waiting_ && queue_.empty() && !full_ && !stopping_ &&
         quick_syncs_ >= kQuickSyncsBefore && append.ends.size() <= kBorrowTxnsMax &&
         now_ns() >= borrow_after_ns_ && journal_.is_open() &&
         journal_.log().has_room(append.bytes.size() + kReserveBytes, append.ends.size());
}

LogThread::Stats LogThread::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void LogThread::run() {
  std::vector<LogOrder> orders;
  const auto is_append = [](const LogOrder& order) { return std::holds_alternative<zab::AppendTxns>(order); };
  while (take(orders)) {
    for (std::size_t i = 0; i < orders.size();) {
      if (refusing_ && !std::holds_alternative<DiscardHistory>(orders[i])) {
        ++i;
        continue;
      }
      if (!is_append(orders[i])) {
        carry_out(orders[i++]);
        continue;
      }
      std::size_t end = i;
      while (end < orders.size() && is_append(orders[end])) ++end;
      append(orders, i, end);
      i = end;
    }
  }
}

void LogThread::make_durable(const storage::LogBatch& batch, std::size_t orders, std::uint64_t submitted_ns) {
  Moments moments{.submitted = submitted_ns, .writing = now_ns()};
  write(batch);
  moments.syncing = sync();
  callbacks_.done({.kind = LogAnswer::Kind::kDurable, .last = batch.last, .orders = orders});
  count(batch, moments);
  count_towards_snapshot(batch);
}

void LogThread::count(const storage::LogBatch& batch, const Moments& moments) {
  std::lock_guard lock(mutex_);
  stats_.txns += batch.ends.size();
  stats_.bytes += batch.bytes.size();
  stats_.batch_txns.add(batch.ends.size());
  stats_.queue_ms.add((moments.writing - moments.submitted) / 1'000'000);
  stats_.write_ms.add((moments.syncing - moments.writing) / 1'000'000);
  stats_.queue_and_flush_ms.add((now_ns() - moments.submitted) / 1'000'000);
}

void LogThread::count_queue(const std::vector<LogOrder>& orders) {
  std::uint64_t txns = 0;
  for (const LogOrder& order : orders) {
    if (const auto* append = std::get_if<zab::AppendTxns>(&order)) txns += append->batch->size();
  }
  if (txns > 0) stats_.queue_txns.add(txns);
}

// Takes everything submitted so far. False: there is nothing, and nothing more will come.
bool LogThread::take(std::vector<LogOrder>& orders) {
  orders.clear();
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return (!queue_.empty() || stopping_) && !borrowed_; };
  waiting_ = true;
  while (full_ && !work_.wait_for(lock, kSpaceCheck, ready)) {
    // While growth is rejected there are no writes that would notice free space, so check here.
    waiting_ = false;
    lock.unlock();
    look_for_space(0, 1);
    lock.lock();
    waiting_ = true;
  }
  work_.wait(lock, ready);
  waiting_ = false;
  orders.swap(queue_);
  taken_ns_ = oldest_ns_;
  count_queue(orders);
  return !orders.empty();
}

// Appends all orders with one write and one sync.
void LogThread::append(const std::vector<LogOrder>& orders, std::size_t first, std::size_t end) {
  batch_.clear();
  for (std::size_t i = first; i < end; ++i) add(batch_, *std::get<zab::AppendTxns>(orders[i]).batch);
  make_durable(batch_, end - first, taken_ns_);
}

template <class T>
T LogThread::must(IoResult<T> result) {
  if (!result) callbacks_.fatal(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void LogThread::carry_out(const LogOrder& order) {
  // A snapshot of the old state that is completed after the history has changed would bring the old state
  // back.
  const bool rewrites = !std::holds_alternative<zab::SaveEpoch>(order);
  if (rewrites) callbacks_.pause_snapshots();
  if (const auto* save = std::get_if<zab::SaveEpoch>(&order)) {
    must(journal_.save_epoch(save->kind == zab::EpochKind::kAccepted ? storage::EpochFile::kAccepted
                                                                     : storage::EpochFile::kCurrent,
                             save->epoch, save->history_id));
    callbacks_.done({.kind = LogAnswer::Kind::kEpochSaved, .epoch_kind = save->kind, .epoch = save->epoch});
  } else if (const auto* cut = std::get_if<zab::TruncateLog>(&order)) {
    const auto done = journal_.truncate(cut->last);
    // Code 0: the files do not reach that zxid, and are unchanged.
    if (!done && done.error().code != 0) callbacks_.fatal(done.error());
    refusing_ = !done;
    callbacks_.done({.kind = done ? LogAnswer::Kind::kTruncated : LogAnswer::Kind::kNotTruncated});
  } else if (const auto* snapshot = std::get_if<zab::SaveSnapshot>(&order)) {
    must(journal_.replace(snapshot->zxid, callbacks_.write_state, options_.snapshots));
    callbacks_.done({.kind = LogAnswer::Kind::kStateSaved});
  } else if (std::holds_alternative<zab::ReloadState>(order)) {
    const bool exact = must(callbacks_.reload_state());
    callbacks_.done({.kind = LogAnswer::Kind::kReloaded, .exact = exact});
  } else if (std::holds_alternative<DiscardHistory>(order)) {
    callbacks_.clear_state();
    must(journal_.discard());
    refusing_ = false;
    callbacks_.done({.kind = LogAnswer::Kind::kDiscarded});
  }
  if (rewrites) callbacks_.resume_snapshots();
}

void LogThread::look_for_space(std::uint64_t bytes, std::uint64_t entries) {
  if (!journal_.is_open()) return set_full(false);
  const auto ahead = journal_.log().reserve(bytes + kReserveBytes, entries);
  if (!ahead && (journal_.log().failed() || ahead.error().code != ENOSPC)) callbacks_.fatal(ahead.error());
  set_full(!ahead);
}

void LogThread::write(const storage::LogBatch& batch) {
  // Require space for more than this batch, otherwise the disk counts as full: growth must stop before the
  // log does.
  look_for_space(batch.bytes.size(), batch.ends.size());
  if (auto done = journal_.log().append(batch); !done) {
    if (journal_.log().failed() || done.error().code != ENOSPC) callbacks_.fatal(done.error());
    wait_for_space(batch);
  }
}

// Nothing of the batch is written, and nothing of it is acknowledged.
void LogThread::wait_for_space(const storage::LogBatch& batch) {
  log_error("log", "the disk is full: {} transactions wait for space", batch.ends.size());
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      // These transactions are not acknowledged, so stopping here breaks no promise.
      if (stopping_) callbacks_.fatal(io_error(ENOSPC, "no space for the last transactions"));
      work_.wait_for(lock, kSpaceCheck, [&] { return stopping_; });
    }
    const auto done = journal_.log().append(batch);
    if (done) return;
    if (journal_.log().failed() || done.error().code != ENOSPC) callbacks_.fatal(done.error());
  }
}

void LogThread::set_full(bool full) {
  if (full == full_) return;
  full_ = full;
  if (full) {
    log_error("log", "the disk is nearly full: writes that need more space are refused, reads go on");
  } else {
    log_info("log", "the disk has space again: writes are accepted");
  }
  callbacks_.disk_full(full);
}

// Returns the start time.
std::uint64_t LogThread::sync() {
  const std::uint64_t begin = now_ns();
  if (auto done = journal_.log().sync(); !done) callbacks_.fatal(done.error());
  const std::uint64_t took = now_ns() - begin;
  const bool slow = took > static_cast<std::uint64_t>(options_.fsync_warning_ms) * 1'000'000;
  if (slow) {
    log_warn("log", "fsync took {} ms: the disk is slow, and every write waits for it", took / 1'000'000);
  }
  std::lock_guard lock(mutex_);
  const bool quick = took < options_.quick_sync_ns;
  quick_syncs_ = quick ? std::min(quick_syncs_ + 1, kQuickSyncsBefore) : 0;
  if (!quick) borrow_after_ns_ = begin + kPausePerSlowSync * took;
  stats_.sync_ns_min = stats_.syncs == 0 ? took : std::min(stats_.sync_ns_min, took);
  stats_.sync_ns_max = std::max(stats_.sync_ns_max, took);
  stats_.sync_ns_sum += took;
  ++stats_.syncs;
  stats_.slow_syncs += slow ? 1 : 0;
  stats_.sync_ms.add(took / 1'000'000);
  return begin;
}

void LogThread::count_towards_snapshot(const storage::LogBatch& batch) {
  txns_since_snapshot_ += static_cast<std::int64_t>(batch.ends.size());
  bytes_since_snapshot_ += static_cast<std::int64_t>(batch.bytes.size());
  const bool by_count = txns_since_snapshot_ > snapshot_after_txns_;
  const bool by_size = snapshot_after_bytes_ > 0 && bytes_since_snapshot_ > snapshot_after_bytes_;
  if (!by_count && !by_size) return;
  // Replaying this log takes less time than writing a large tree again and again.
  const auto snapshot_bytes = static_cast<std::int64_t>(callbacks_.snapshot_bytes());
  if (!by_size && bytes_since_snapshot_ < snapshot_bytes / 2) return;
  // A log file ends where a snapshot begins. Ending a file costs several syncs, and every write waits for
  // them. So it must not happen again and again while one long snapshot is being written.
  if (!callbacks_.want_snapshot()) return;
  txns_since_snapshot_ = 0;
  bytes_since_snapshot_ = 0;
  choose_next_snapshot();
  journal_.log().roll();
}

// The servers of an ensemble must not all write a snapshot at the same time, hence the random half.
void LogThread::choose_next_snapshot() {
  const auto half = [&](std::int64_t n) {
    return n / 2 + static_cast<std::int64_t>(
                       random_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, n / 2))));
  };
  snapshot_after_txns_ = half(options_.snap_count);
  snapshot_after_bytes_ = options_.snap_bytes > 0 ? half(options_.snap_bytes) : 0;
}

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_thread.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/ensure.h"
#include "log/log.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

constexpr std::chrono::milliseconds kSpaceCheck{200};

// Borrowing: docs/performance.md, "The log's sync".
constexpr std::size_t kBorrowTxnsMax = 2;
constexpr int kQuickSyncsBefore = 64;
constexpr std::uint64_t kPausePerSlowSync = 100;

std::uint64_t now_ns() { return static_cast<std::uint64_t>(read_clock_ns(CLOCK_MONOTONIC)); }

}  // namespace

LogThread::LogThread(storage::Journal journal, host::StateInMemory& state, const LogThreadOptions& options,
                     Callbacks callbacks)
    : disk_(std::move(journal), state, options.disk), options_(options), callbacks_(std::move(callbacks)) {
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

void LogThread::submit(wire::TxnBatchPtr append) {
  ENSURE(append && append->size() > 0, "an append has transactions");
  bool wake = false;
  const std::uint64_t submitted_ns = now_ns();
  {
    std::lock_guard lock(mutex_);
    ENSURE(!stopping_, "nothing is submitted to a log that ends");
    borrowed_ = may_borrow(*append);
    if (!borrowed_) {
      if (queue_.empty()) oldest_ns_ = submitted_ns;
      queue_.emplace_back(zab::AppendTxns{std::move(append)});
      wake = waiting_;
    }
  }
  if (wake) work_.notify_one();
  if (!append) return;
  make_durable(*append, 1, submitted_ns);
  std::lock_guard lock(mutex_);
  borrowed_ = false;
  if (stopping_) work_.notify_one();
}

void LogThread::submit(host::DiskOrder order) {
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
bool LogThread::may_borrow(const wire::TxnBatch& append) {
  return options_.sync_on_caller && waiting_ && queue_.empty() && !disk_.is_full() && !stopping_ &&
         quick_syncs_ >= kQuickSyncsBefore && append.size() <= kBorrowTxnsMax &&
         now_ns() >= borrow_after_ns_ && disk_.has_room(append);
}

LogThread::Stats LogThread::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void LogThread::run() {
  std::vector<host::DiskOrder> orders;
  while (take(orders)) {
    for (std::size_t i = 0; i < orders.size();) {
      if (disk_.is_cancelled(orders[i])) {
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

void LogThread::make_durable(const wire::TxnBatch& batch, std::size_t orders, std::uint64_t submitted_ns) {
  Moments moments{.submitted = submitted_ns, .writing = now_ns()};
  write(batch);
  moments.syncing = sync();
  callbacks_.done(zab::TxnsDurable{batch.last, orders});
  count(batch, moments);
  disk_.count_towards_snapshot(batch, callbacks_.snapshot_bytes(), callbacks_.want_snapshot);
}

void LogThread::count(const wire::TxnBatch& batch, const Moments& moments) {
  std::lock_guard lock(mutex_);
  stats_.txns += batch.ends.size();
  stats_.bytes += batch.bytes.size();
  stats_.batch_txns.add(batch.ends.size());
  stats_.queue_ms.add((moments.writing - moments.submitted) / 1'000'000);
  stats_.write_ms.add((moments.syncing - moments.writing) / 1'000'000);
  stats_.queue_and_flush_ms.add((now_ns() - moments.submitted) / 1'000'000);
}

void LogThread::count_queue(const std::vector<host::DiskOrder>& orders) {
  std::uint64_t txns = 0;
  for (const host::DiskOrder& order : orders) {
    if (const auto* append = std::get_if<zab::AppendTxns>(&order)) txns += append->batch->size();
  }
  if (txns > 0) stats_.queue_txns.add(txns);
}

// Takes everything submitted so far. False: there is nothing, and nothing more will come.
bool LogThread::take(std::vector<host::DiskOrder>& orders) {
  orders.clear();
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return (!queue_.empty() || stopping_) && !borrowed_; };
  waiting_ = true;
  while (disk_.is_full() && !work_.wait_for(lock, kSpaceCheck, ready)) {
    // While growth is rejected there are no writes that would notice free space, so check here.
    waiting_ = false;
    lock.unlock();
    must(disk_.look_for_space());
    tell_if_full();
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
void LogThread::append(const std::vector<host::DiskOrder>& orders, std::size_t first, std::size_t end) {
  const auto batch_of = [&](std::size_t i) -> const wire::TxnBatch& {
    return *std::get<zab::AppendTxns>(orders[i]).batch;
  };
  if (end - first == 1) return make_durable(batch_of(first), 1, taken_ns_);
  batch_.clear();
  for (std::size_t i = first; i < end; ++i) batch_.add(batch_of(i));
  make_durable(batch_, end - first, taken_ns_);
}

template <class T>
T LogThread::must(IoResult<T> result) {
  if (!result) callbacks_.fatal(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void LogThread::carry_out(const host::DiskOrder& order) {
  ENSURE(!host::is_append(order), "appends are written in batches");
  const bool rewrites = host::rewrites_history(order);
  if (rewrites) callbacks_.pause_snapshots();
  callbacks_.done(must(disk_.carry_out(order)));
  if (rewrites) callbacks_.resume_snapshots();
}

void LogThread::write(const wire::TxnBatch& batch) {
  const auto written = must(disk_.write(batch));
  tell_if_full();
  if (written == host::DiskOrders::Written::kNoSpace) wait_for_space(batch);
}

// Nothing of the batch is written, and nothing of it is acknowledged.
void LogThread::wait_for_space(const wire::TxnBatch& batch) {
  log_error("log", "the disk is full: {} transactions wait; free some space", batch.ends.size());
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      // These transactions are not acknowledged, so stopping here breaks no promise.
      if (stopping_) callbacks_.fatal(io_error(ENOSPC, "no space to log the last transactions"));
      work_.wait_for(lock, kSpaceCheck, [&] { return stopping_; });
    }
    const auto written = must(disk_.write(batch));
    tell_if_full();
    if (written == host::DiskOrders::Written::kYes) return;
  }
}

void LogThread::tell_if_full() {
  const bool full = disk_.is_full();
  if (std::exchange(told_full_, full) == full) return;
  if (full) {
    log_error("log",
              "the disk is nearly full: writes that need space are refused, reads and deletes are served; "
              "free some space");
  } else {
    log_info("log", "the disk has space again: all writes are accepted");
  }
  callbacks_.disk_full(full);
}

// Returns the start time.
std::uint64_t LogThread::sync() {
  const std::uint64_t begin = now_ns();
  must(disk_.sync());
  const std::uint64_t took = now_ns() - begin;
  const bool slow = took > static_cast<std::uint64_t>(options_.fsync_warning_ms) * 1'000'000;
  if (slow) {
    log_warn("log", "fsync took {} ms; every write waits for it", took / 1'000'000);
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

}  // namespace drover::server

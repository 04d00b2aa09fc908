// SPDX-License-Identifier: Apache-2.0
#include "server/log_thread.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>

#include "server/clock.h"
#include "server/log.h"

namespace drover::server {
namespace {

// Room that is kept ahead of the log, so that deletes and the end of sessions still fit when the disk is
// full and growth is refused.
constexpr std::uint64_t kReserveBytes = 4 << 20;
constexpr std::chrono::milliseconds kSpaceCheck{200};

// Borrowing: docs/performance.md, "The log's sync".
constexpr std::size_t kBorrowTxnsMax = 2;
constexpr int kQuickSyncsBefore = 64;
constexpr std::uint64_t kPausePerSlowSync = 1000;

std::uint64_t now_ns() { return static_cast<std::uint64_t>(read_clock_ns(CLOCK_MONOTONIC)); }

void gather(std::span<const replica::LogAppendPtr> appends, storage::LogBatch& batch) {
  batch.clear();
  batch.first = appends.front()->first;
  batch.last = appends.back()->last;
  for (const replica::LogAppendPtr& append : appends) {
    const auto base = static_cast<std::uint32_t>(batch.bytes.size());
    batch.bytes.append(append->bytes);
    for (const std::uint32_t end : append->ends) batch.ends.push_back(base + end);
  }
}

}  // namespace

LogThread::LogThread(storage::TxnLogWriter writer, const LogThreadOptions& options, Callbacks callbacks)
    : writer_(std::move(writer)), options_(options), callbacks_(std::move(callbacks)), random_(options.seed) {
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
      queue_.push_back(std::move(append));
      wake = waiting_;
    }
  }
  if (wake) work_.notify_one();
  if (!append) return;
  gather({&append, 1}, borrowed_batch_);
  make_durable(borrowed_batch_, submitted_ns);
  std::lock_guard lock(mutex_);
  borrowed_ = false;
  if (stopping_) work_.notify_one();
}

// The way to this thread and back costs half as much as a sync of a quick disk. But whoever submits answers
// reads too, and they would wait for a slow one. So it is only done for next to nothing, after a row of quick
// ones, and a sync that takes long ends it for a thousand times as long: that bounds the share of the time
// in which a slow disk can hold up reads.
bool LogThread::may_borrow(const replica::LogAppend& append) const {
  return options_.sync_on_caller && waiting_ && queue_.empty() && !full_ && !stopping_ &&
         quick_syncs_ >= kQuickSyncsBefore && append.ends.size() <= kBorrowTxnsMax &&
         now_ns() >= borrow_after_ns_ &&
         writer_.has_room(append.bytes.size() + kReserveBytes, append.ends.size());
}

LogThread::Stats LogThread::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void LogThread::run() {
  storage::LogBatch batch;
  while (const auto submitted_ns = take(batch)) make_durable(batch, *submitted_ns);
}

void LogThread::make_durable(const storage::LogBatch& batch, std::uint64_t submitted_ns) {
  write(batch);
  sync();
  callbacks_.durable(batch.last);
  count(batch, submitted_ns);
  count_towards_snapshot(batch);
}

void LogThread::count(const storage::LogBatch& batch, std::uint64_t submitted_ns) {
  std::lock_guard lock(mutex_);
  stats_.txns += batch.ends.size();
  stats_.bytes += batch.bytes.size();
  stats_.batch_txns.add(batch.ends.size());
  stats_.queue_and_flush_ms.add((now_ns() - submitted_ns) / 1'000'000);
}

// Everything submitted so far, as one batch.
std::optional<std::uint64_t> LogThread::take(storage::LogBatch& batch) {
  std::vector<replica::LogAppendPtr> appends;
  std::uint64_t submitted_ns = 0;
  {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return (!queue_.empty() || stopping_) && !borrowed_; };
    waiting_ = true;
    while (full_ && !work_.wait_for(lock, kSpaceCheck, ready)) {
      // Nobody writes while growth is refused, so nobody else would notice that there is space again.
      waiting_ = false;
      lock.unlock();
      look_for_space(0, 1);
      lock.lock();
      waiting_ = true;
    }
    work_.wait(lock, ready);
    waiting_ = false;
    if (queue_.empty()) return std::nullopt;
    appends.swap(queue_);
    submitted_ns = oldest_ns_;
  }
  gather(appends, batch);
  return submitted_ns;
}

void LogThread::look_for_space(std::uint64_t bytes, std::uint64_t entries) {
  const auto ahead = writer_.reserve(bytes + kReserveBytes, entries);
  if (!ahead && (writer_.failed() || ahead.error().code != ENOSPC)) callbacks_.fatal(ahead.error());
  set_full(!ahead);
}

void LogThread::write(const storage::LogBatch& batch) {
  // Space for more than this batch, or the disk counts as full: growth must stop before the log does.
  look_for_space(batch.bytes.size(), batch.ends.size());
  if (auto done = writer_.append(batch); !done) {
    if (writer_.failed() || done.error().code != ENOSPC) callbacks_.fatal(done.error());
    wait_for_space(batch);
  }
}

// Nothing of the batch is written, and nobody was told otherwise.
void LogThread::wait_for_space(const storage::LogBatch& batch) {
  log_error("log", "the disk is full: {} transactions wait for space", batch.ends.size());
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      // Stopping without having acknowledged them loses nothing that anybody was promised.
      if (stopping_) callbacks_.fatal(io_error(ENOSPC, "no space for the last transactions"));
      work_.wait_for(lock, kSpaceCheck, [&] { return stopping_; });
    }
    const auto done = writer_.append(batch);
    if (done) return;
    if (writer_.failed() || done.error().code != ENOSPC) callbacks_.fatal(done.error());
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

void LogThread::sync() {
  const std::uint64_t begin = now_ns();
  if (auto done = writer_.sync(); !done) callbacks_.fatal(done.error());
  const std::uint64_t took = now_ns() - begin;
  if (took > static_cast<std::uint64_t>(options_.fsync_warning_ms) * 1'000'000) {
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
}

void LogThread::count_towards_snapshot(const storage::LogBatch& batch) {
  txns_since_snapshot_ += static_cast<std::int64_t>(batch.ends.size());
  bytes_since_snapshot_ += static_cast<std::int64_t>(batch.bytes.size());
  const bool by_count = txns_since_snapshot_ > snapshot_after_txns_;
  const bool by_size = snapshot_after_bytes_ > 0 && bytes_since_snapshot_ > snapshot_after_bytes_;
  if (!by_count && !by_size) return;
  // Replaying this log takes less time than writing a large tree over and over would.
  const auto snapshot_bytes = static_cast<std::int64_t>(callbacks_.snapshot_bytes());
  if (!by_size && bytes_since_snapshot_ < snapshot_bytes / 2) return;
  // A file ends where a snapshot begins. Ending one costs several syncs, for which every write waits: not
  // again and again while one long snapshot is being written.
  if (!callbacks_.want_snapshot()) return;
  txns_since_snapshot_ = 0;
  bytes_since_snapshot_ = 0;
  choose_next_snapshot();
  writer_.roll();
}

// Servers of an ensemble must not all write a snapshot at the same moment, hence the random half.
void LogThread::choose_next_snapshot() {
  const auto half = [&](std::int64_t n) {
    return n / 2 + static_cast<std::int64_t>(
                       random_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, n / 2))));
  };
  snapshot_after_txns_ = half(options_.snap_count);
  snapshot_after_bytes_ = options_.snap_bytes > 0 ? half(options_.snap_bytes) : 0;
}

}  // namespace drover::server

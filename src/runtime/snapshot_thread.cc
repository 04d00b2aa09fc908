// SPDX-License-Identifier: Apache-2.0
#include "runtime/snapshot_thread.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "base/ensure.h"
#include "host/state_walk.h"
#include "log/keep_going.h"
#include "log/log.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

using host::WalkProgress;

// Not the lowest priority: the thread sometimes holds the reader lock, and the core waits for it.
constexpr int kSnapshotNice = 10;

// The log's fdatasync waits for all pending writes to the same disk. So a snapshot is written in small
// pieces, and after each piece the disk is left to the log for four times as long. docs/performance.md,
// "Snapshots", has the measurements. The limit keeps a slow disk from delaying the snapshot forever.
constexpr std::uint64_t kPieceBytes = 256 * 1024;
constexpr int kPausePerPiece = 4;
constexpr std::chrono::milliseconds kPauseMax{20};

// The space that the log reserves, plus a large transaction.
constexpr std::uint64_t kLeftForLogBytes = 5 << 20;

// A walk over the tree that takes a reader slot of its lock for each step, and also to end early.
class LockedWalk {
 public:
  LockedWalk(state::Machine& machine, TreeLock& lock, TreeSlot slot)
      : lock_(lock), slot_(slot), walk_(machine) {
    TreeLock::Reading reading(lock_, slot_);
    walk_.begin();
  }
  ~LockedWalk() {
    TreeLock::Reading reading(lock_, slot_);
    walk_.end();
  }
  LockedWalk(const LockedWalk&) = delete;
  LockedWalk& operator=(const LockedWalk&) = delete;

  // Copies the next nodes and writes them.
  WalkProgress step(storage::SnapshotWriter& writer) {
    WalkProgress progress{};
    {
      TreeLock::Reading reading(lock_, slot_);
      progress = walk_.step();
    }
    walk_.write_nodes(writer);
    return progress;
  }
  const host::SnapshotWalk& walk() const { return walk_; }

 private:
  TreeLock& lock_;
  TreeSlot slot_;
  host::SnapshotWalk walk_;
};

// False: cancel the snapshot.
bool settle(storage::SnapshotWriter& writer, const SnapshotPace& pace) {
  if (!pace || writer.unsynced_bytes() < kPieceBytes) return true;
  const auto begin = std::chrono::steady_clock::now();
  writer.sync();
  return pace(std::chrono::steady_clock::now() - begin);
}

}  // namespace

std::chrono::nanoseconds pause_after(std::chrono::nanoseconds took) {
  return std::min<std::chrono::nanoseconds>(took * kPausePerPiece, kPauseMax);
}

IoResult<SnapshotResult> write_snapshot(storage::Disk& disk, const std::string& directory,
                                        state::Machine& machine, TreeLock& lock,
                                        const SnapshotThreadOptions& options, const SnapshotPace& pace) {
  const std::int64_t started = monotonic_now().ms;
  LockedWalk walk(machine, lock, TreeSlot::kSnapshots);
  TRY_ASSIGN(storage::SnapshotWriter writer,
             storage::SnapshotWriter::open(disk, directory, walk.walk().zxid(), options.writer));
  walk.walk().write_beginning(writer);
  auto progress = WalkProgress::kMore;
  while (progress == WalkProgress::kMore && !writer.failed()) {
    progress = walk.step(writer);
    if (!settle(writer, pace)) return std::unexpected(io_error(ECANCELED, "write a snapshot"));
  }
  if (progress == WalkProgress::kCutOff) {
    return std::unexpected(data_error("the leader's state replaced the one that was being written"));
  }
  storage::SnapshotSeals seals = walk.walk().seals();
  if (!options.with_last_processed) seals.last_processed.reset();
  SnapshotResult result;
  result.zxid = walk.walk().zxid();
  result.nodes = walk.walk().nodes();
  result.bytes = walk.walk().bytes();
  TRY_ASSIGN(result.file, writer.finish(seals));
  result.took_ms = monotonic_now().ms - started;
  return result;
}

IoResult<void> write_state(storage::SnapshotWriter& writer, state::Machine& machine, TreeLock& lock) {
  LockedWalk walk(machine, lock, TreeSlot::kLog);
  walk.walk().write_beginning(writer);
  auto progress = WalkProgress::kMore;
  while (progress == WalkProgress::kMore && !writer.failed()) progress = walk.step(writer);
  if (progress == WalkProgress::kCutOff)
    return std::unexpected(data_error("the state was replaced in the meantime"));
  return {};  // finish() reports any error.
}

SnapshotThread::SnapshotThread(storage::Disk& disk, storage::DataDirs dirs, state::Machine& machine,
                               TreeLock& lock, const SnapshotThreadOptions& options, Callbacks callbacks)
    : disk_(disk, dirs.logs, callbacks.fatal),
      dirs_(std::move(dirs)),
      machine_(machine),
      lock_(lock),
      options_(options),
      callbacks_(std::move(callbacks)) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "drover-snap");
    // A snapshot is not urgent. (On Linux this sets the priority of the thread, not of the process.)
    setpriority(PRIO_PROCESS, 0, kSnapshotNice);
    run();
  });
}

SnapshotThread::~SnapshotThread() {
  stop();
  thread_.join();
}

void SnapshotThread::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  idle_.notify_all();
}

void SnapshotThread::pause() {
  std::unique_lock lock(mutex_);
  ENSURE(!paused_, "one order at a time pauses snapshots");
  paused_ = true;
  work_.notify_one();
  idle_.wait(lock, [&] { return !busy_; });
}

void SnapshotThread::resume() {
  {
    std::lock_guard lock(mutex_);
    ENSURE(paused_, "only paused snapshots resume");
    paused_ = false;
  }
  work_.notify_one();
}

bool SnapshotThread::request() {
  {
    std::lock_guard lock(mutex_);
    if (requested_ || busy_) return false;
    requested_ = true;
  }
  work_.notify_one();
  return true;
}

SnapshotThread::Stats SnapshotThread::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void SnapshotThread::run() {
  Instant next_purge = monotonic_now() + options_.purge_interval_ms;
  for (;;) {
    bool wanted = false;
    {
      std::unique_lock lock(mutex_);
      const auto ready = [&] { return (requested_ && !paused_) || stopping_; };
      if (options_.purge_interval_ms > 0) {
        work_.wait_for(
            lock, std::chrono::milliseconds(std::max<std::int64_t>(0, next_purge - monotonic_now())), ready);
      } else {
        work_.wait(lock, ready);
      }
      work_.wait(lock, [&] { return !paused_ || stopping_; });
      if (stopping_) return;
      wanted = std::exchange(requested_, false);
      busy_ = true;
    }
    if (wanted) snapshot();
    keep_going("purge", [&] {
      if (options_.purge_interval_ms <= 0) return;
      if ((!wanted || !too_large()) && monotonic_now() < next_purge) return;
      next_purge = monotonic_now() + options_.purge_interval_ms;
      purge();
      next_purge = monotonic_now() + options_.purge_interval_ms;
    });
    {
      std::lock_guard lock(mutex_);
      busy_ = false;
    }
    idle_.notify_all();
  }
}

IoResult<SnapshotResult> SnapshotThread::take() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = begun_ + 1;  // A running one may miss what the caller saw.
  requested_ = true;
  work_.notify_one();
  idle_.wait(lock, [&] { return ended_ >= mine || stopping_; });
  if (ended_ < mine) return std::unexpected(io_error(ECANCELED, "write a snapshot"));
  return last_;
}

IoResult<SnapshotResult> SnapshotThread::write_one() {
  // The core forbids snapshots before the log thread pauses this thread. So a snapshot that begins now ends,
  // or is cancelled, before the files change. A forbidden snapshot is not retried: the log asks again when it
  // has grown.
  if (callbacks_.may_begin && !callbacks_.may_begin())
    return std::unexpected(io_error(EAGAIN, "this state must not be written to a snapshot yet"));
  bool fits = true;
  const auto pace = [&](std::chrono::nanoseconds took) { return (fits = leaves_room()) && rest(took); };
  try {
    auto result = write_snapshot(disk_, dirs_.snapshots, machine_, lock_, options_, pace);
    if (!fits) return std::unexpected(io_error(ENOSPC, "the remaining disk space is reserved for the log"));
    return result;
  } catch (const std::exception& failure) {
    return std::unexpected(data_error(failure.what()));
  }
}

// A snapshot saves replay time, but the log saves writes: on a nearly full disk, the log comes first.
bool SnapshotThread::leaves_room() {
  const auto free = disk_.free_bytes(dirs_.snapshots);
  return !free || *free >= kLeftForLogBytes;
}

void SnapshotThread::snapshot() {
  {
    std::lock_guard lock(mutex_);
    ++begun_;
  }
  const IoResult<SnapshotResult> result = write_one();
  std::unique_lock lock(mutex_);
  ++ended_;
  ENSURE(ended_ == begun_, "one snapshot is written at a time");
  last_ = result;
  idle_.notify_all();
  if (!result && result.error().code == ECANCELED) {
    requested_ = paused_;  // Retry after the pause, but not when the server stops.
    return;
  }
  if (!result && result.error().code == EAGAIN) return;
  if (!result) {
    ++stats_.failures;
    lock.unlock();
    log_error("snapshot", "not written: {}; nothing is lost, the log has all transactions",
              result.error().what);
    return;
  }
  stats_.min_ms = stats_.snapshots == 0 ? result->took_ms : std::min(stats_.min_ms, result->took_ms);
  stats_.max_ms = std::max(stats_.max_ms, result->took_ms);
  stats_.last_ms = result->took_ms;
  stats_.sum_ms += result->took_ms;
  ++stats_.snapshots;
  stats_.last_zxid = result->zxid;
  stats_.last_time_ms = wall_now().ms;
  lock.unlock();
  log_info("snapshot", "{} nodes up to zxid {:#x} in {} ms: {}", result->nodes, raw(result->zxid),
           result->took_ms, result->file);
  callbacks_.finished(*result);
}

// False: cancel the snapshot.
bool SnapshotThread::rest(std::chrono::nanoseconds took) {
  std::unique_lock lock(mutex_);
  return !work_.wait_for(lock, pause_after(took), [&] { return stopping_ || paused_; });
}

// Under heavy load files accumulate faster than the interval. Purge reads whole snapshots to verify them, so
// it does not run after each snapshot.
bool SnapshotThread::too_large() {
  if (!options_.purge.bytes_max) return false;
  const auto bytes = storage::history_bytes(disk_, dirs_);
  return bytes && *bytes > *options_.purge.bytes_max;
}

void SnapshotThread::purge() {
  const auto report = storage::purge(disk_, dirs_, options_.purge);
  if (!report) {
    log_warn("purge", "{}", report.error().what);
    return;
  }
  for (const std::string& finding : report->findings) log_warn("purge", "{}", finding);
  for (const std::string& path : report->removed) log_info("purge", "removed {}", path);
}

}  // namespace drover::server

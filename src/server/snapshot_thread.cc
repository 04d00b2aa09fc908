// SPDX-License-Identifier: Apache-2.0
#include "server/snapshot_thread.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "server/clock.h"
#include "server/log.h"

namespace drover::server {
namespace {

// How much is copied under the lock at a time: some tens of microseconds.
constexpr std::size_t kNodesPerStep = 256;
constexpr std::size_t kBytesPerStep = 256 * 1024;
constexpr int kSnapshotNice = 19;

// The log's fdatasync waits for what is on its way to the same disk. So a snapshot goes there in pieces that
// are over soon, and after each the disk belongs to the log for four times as long. docs/performance.md,
// "Snapshots", has the measurements; the limit keeps a slow disk from making it last for ever.
constexpr std::uint64_t kPieceBytes = 256 * 1024;
constexpr int kPausePerPiece = 4;
constexpr std::chrono::milliseconds kPauseMax{20};

// Nodes copied out of the tree, so that the file is written without the lock.
struct Step {
  struct Item {
    std::size_t path_end;
    std::size_t data_end;
    bool null_data;
    std::int64_t acl;
    wire::StatPersisted stat;
  };
  std::string bytes;  // path, data, path, data, …
  std::vector<Item> items;
};

// False when the walk is over.
bool copy_step(state::Tree& tree, Step& step) {
  step.bytes.clear();
  step.items.clear();
  while (step.items.size() < kNodesPerStep && step.bytes.size() < kBytesPerStep) {
    const state::NodeRef ref = tree.walk_position();
    if (ref == state::kNoNode) return false;
    const state::Node& node = tree.at(ref);
    if (ref != tree.root()) step.bytes.append(tree.path_of(ref));
    const std::size_t path_end = step.bytes.size();
    const wire::Nullable data = node.data();
    if (data) step.bytes.append(*data);
    step.items.push_back(
        {path_end, step.bytes.size(), !data, static_cast<std::int32_t>(node.acl), persisted_stat(node)});
    tree.advance_walk();
  }
  return true;
}

void write_step(storage::SnapshotWriter& writer, const Step& step) {
  const std::string_view bytes = step.bytes;
  std::size_t start = 0;
  for (const Step::Item& item : step.items) {
    const std::string_view path = bytes.substr(start, item.path_end - start);
    const std::string_view data = bytes.substr(item.path_end, item.data_end - item.path_end);
    writer.node(path, item.null_data ? wire::Nullable{} : wire::Nullable{data}, item.acl, item.stat);
    start = item.data_end;
  }
}

struct Beginning {
  Zxid zxid{};
  std::vector<std::pair<SessionId, std::int32_t>> sessions;
  std::vector<std::pair<std::int64_t, state::AclListPtr>> acls;
};

Beginning begin(state::Machine& machine) {
  Beginning b;
  b.zxid = machine.last_zxid;
  b.sessions.assign(machine.sessions.begin(), machine.sessions.end());
  b.acls = machine.tree.acls().all();
  machine.tree.begin_walk();
  return b;
}

void write_beginning(storage::SnapshotWriter& writer, const Beginning& b) {
  writer.begin_sessions(static_cast<std::uint32_t>(b.sessions.size()));
  for (const auto& [session, timeout_ms] : b.sessions) writer.session(session, timeout_ms);
  writer.begin_acls(static_cast<std::uint32_t>(b.acls.size()));
  for (const auto& [key, list] : b.acls) writer.acl(key, list->bytes);
}

// False when the snapshot is to be given up.
bool settle(storage::SnapshotWriter& writer, const SnapshotPace& pace) {
  if (!pace || writer.unsynced_bytes() < kPieceBytes) return true;
  const auto begin = std::chrono::steady_clock::now();
  writer.sync();
  return pace(std::chrono::steady_clock::now() - begin);
}

void end_walk(state::Machine& machine, TreeLock& lock, std::size_t slot) {
  TreeLock::Reading reading(lock, slot);
  machine.tree.end_walk();
}

}  // namespace

std::chrono::nanoseconds pause_after(std::chrono::nanoseconds took) {
  return std::min<std::chrono::nanoseconds>(took * kPausePerPiece, kPauseMax);
}

IoResult<SnapshotResult> write_snapshot(storage::Disk& disk, const std::string& directory,
                                        state::Machine& machine, TreeLock& lock, std::size_t slot,
                                        const SnapshotThreadOptions& options, const SnapshotPace& pace) {
  const std::int64_t started = monotonic_now().ms;
  Beginning beginning;
  {
    TreeLock::Reading reading(lock, slot);
    beginning = begin(machine);
  }
  TRY_ASSIGN(storage::SnapshotWriter writer,
             storage::SnapshotWriter::open(disk, directory, beginning.zxid, options.writer));
  write_beginning(writer, beginning);

  SnapshotResult result;
  result.zxid = beginning.zxid;
  storage::SnapshotSeals seals;
  Step step;
  for (bool more = true; more && !writer.failed();) {
    {
      TreeLock::Reading reading(lock, slot);
      more = copy_step(machine.tree, step);
      if (!more) {
        // The digest is the one at the end of the walk: replay compares when it gets there.
        if (machine.options.digest_enabled) {
          seals.digest =
              storage::SnapshotDigest{machine.last_zxid, storage::kDigestVersion, machine.tree.digest()};
        }
        if (options.with_last_processed) seals.last_processed = machine.last_zxid;
      }
    }
    write_step(writer, step);
    result.nodes += step.items.size();
    result.bytes += step.bytes.size() + step.items.size() * (wire::kStatPersistedBytes + 16);
    if (!settle(writer, pace)) {
      end_walk(machine, lock, slot);
      return std::unexpected(io_error(ECANCELED, "write a snapshot"));
    }
  }
  end_walk(machine, lock, slot);
  TRY_ASSIGN(result.file, writer.finish(seals));
  result.took_ms = monotonic_now().ms - started;
  return result;
}

SnapshotThread::SnapshotThread(storage::Disk& disk, storage::DataDirs dirs, state::Machine& machine,
                               TreeLock& lock, std::size_t slot, const SnapshotThreadOptions& options,
                               Callbacks callbacks)
    : disk_(disk, dirs.logs, callbacks.fatal),
      dirs_(std::move(dirs)),
      machine_(machine),
      lock_(lock),
      slot_(slot),
      options_(options),
      callbacks_(std::move(callbacks)) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "drover-snap");
    // Nobody waits for a snapshot. (On Linux this is the thread's priority, not the process's.)
    setpriority(PRIO_PROCESS, 0, kSnapshotNice);
    run();
  });
}

SnapshotThread::~SnapshotThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
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
      busy_ = false;
      const auto ready = [&] { return requested_ || stopping_; };
      if (options_.purge_interval_ms > 0) {
        work_.wait_for(
            lock, std::chrono::milliseconds(std::max<std::int64_t>(0, next_purge - monotonic_now())), ready);
      } else {
        work_.wait(lock, ready);
      }
      if (stopping_) return;
      wanted = std::exchange(requested_, false);
      busy_ = true;
    }
    if (wanted) snapshot();
    if (options_.purge_interval_ms > 0 && ((wanted && too_large()) || monotonic_now() >= next_purge)) {
      purge();
      next_purge = monotonic_now() + options_.purge_interval_ms;
    }
  }
}

void SnapshotThread::snapshot() {
  const auto result = write_snapshot(disk_, dirs_.snapshots, machine_, lock_, slot_, options_,
                                     [this](std::chrono::nanoseconds took) { return pause(took); });
  if (!result && result.error().code == ECANCELED) return;
  std::unique_lock lock(mutex_);
  if (!result) {
    ++stats_.failures;
    lock.unlock();
    log_error("snapshot", "not written: {}; the log keeps everything", result.error().what);
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

// False when the thread is to end.
bool SnapshotThread::pause(std::chrono::nanoseconds took) {
  std::unique_lock lock(mutex_);
  return !work_.wait_for(lock, pause_after(took), [&] { return stopping_; });
}

// Under heavy load files pile up faster than the interval: purge reads whole snapshots to verify them, so
// it does not run behind each one.
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

// SPDX-License-Identifier: Apache-2.0
//
// Writes fuzzy snapshots and removes old files in the background.
//
// The tree is walked in small steps under a reader slot of its lock; transactions are applied between steps.
// The file is named after the last transaction applied when the walk began, and contains at least everything
// up to it. Replay of later transactions is idempotent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "runtime/log_directory_guard.h"
#include "runtime/tree_lock.h"
#include "state/machine.h"
#include "storage/data_dir.h"
#include "storage/purge.h"
#include "storage/snapshot_writer.h"

namespace drover::server {

struct SnapshotThreadOptions {
  storage::SnapshotOptions writer;
  bool with_last_processed = true;
  storage::PurgeOptions purge;
  std::int64_t purge_interval_ms = 0;  // 0: never
};

struct SnapshotResult {
  std::string file;
  Zxid zxid{};
  std::uint64_t nodes = 0;
  std::uint64_t bytes = 0;
  std::int64_t took_ms = 0;
};

// Called after each piece with the time that the disk needed for it; false cancels the snapshot.
using SnapshotPace = std::function<bool(std::chrono::nanoseconds took)>;

// Writes one snapshot now, on the calling thread. With `pace` it is
// written in small pieces; without it, as fast as possible. Fails with ECANCELED if it was cancelled.
IoResult<SnapshotResult> write_snapshot(storage::Disk& disk, const std::string& directory,
                                        state::Machine& machine, TreeLock& lock,
                                        const SnapshotThreadOptions& options, const SnapshotPace& pace = {});

// The same, to a writer that the caller opened and will finish, without seals and without a pace.
IoResult<void> write_state(storage::SnapshotWriter& writer, state::Machine& machine, TreeLock& lock);

// How long to leave the disk to the log after a piece that took `took`.
std::chrono::nanoseconds pause_after(std::chrono::nanoseconds took);

class SnapshotThread {
 public:
  struct Callbacks {
    std::function<void(const SnapshotResult&)> finished;
    // Called when a snapshot begins, which can be long after the request. Empty: always allowed.
    std::function<bool()> may_begin;
    // The log's directory could not be synced; does not return. See log_directory_guard.h.
    std::function<void(const IoError&)> fatal;
  };
  SnapshotThread(storage::Disk& disk, storage::DataDirs dirs, state::Machine& machine, TreeLock& lock,
                 const SnapshotThreadOptions& options, Callbacks callbacks);
  // Cancels a snapshot that is being written: the log has all the data.
  ~SnapshotThread();

  // Cancels the current snapshot, writes no more, and releases the threads that wait in take().
  void stop();

  // Between pause() and resume() no file is written or removed; a snapshot that is being written is
  // cancelled. Only one other thread calls these.
  void pause();
  void resume();

  // Requests a snapshot. Returns false and does nothing while one is being written or files are purged.
  bool request();

  // Writes a snapshot and waits until it is on the disk. Several threads can wait at once.
  IoResult<SnapshotResult> take();

  struct Stats {
    std::uint64_t snapshots = 0;
    std::uint64_t failures = 0;
    std::int64_t last_ms = 0;
    std::int64_t sum_ms = 0;
    std::int64_t min_ms = 0;
    std::int64_t max_ms = 0;
    Zxid last_zxid{};
    std::int64_t last_time_ms = 0;  // since 1970
  };
  Stats stats() const;

 private:
  void run();
  void snapshot();
  IoResult<SnapshotResult> write_one();
  bool leaves_room();
  bool rest(std::chrono::nanoseconds took);
  void purge();
  bool too_large();

  LogDirectoryGuard disk_;
  storage::DataDirs dirs_;
  state::Machine& machine_;
  TreeLock& lock_;
  SnapshotThreadOptions options_;
  Callbacks callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  bool requested_ = false;
  bool busy_ = false;
  bool stopping_ = false;
  bool paused_ = false;
  std::uint64_t begun_ = 0;  // number of attempts begun
  std::uint64_t ended_ = 0;
  IoResult<SnapshotResult> last_;  // result of the last attempt
  Stats stats_;
  std::thread thread_;
};

}  // namespace drover::server

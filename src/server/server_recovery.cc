// SPDX-License-Identifier: Apache-2.0
//
// The state of a server when it starts, and when it starts over with a leader's state.
#include "server/server_process.h"

#include <sys/stat.h>

#include "log/log.h"
#include "replica/state_builder.h"
#include "runtime/ensemble_settings.h"
#include "runtime/replay_sink.h"
#include "runtime/settings.h"
#include "storage/recovery_sink_adapter.h"

namespace drover::server {

IoResult<void> ServerProcess::recover() {
  const auto dirs = storage::data_dirs(config_.data_dir, config_.data_log_dir);
  TRY_ASSIGN(data_dir_, storage::DataDir::open(disk_, dirs, {.create = config_.storage.data_dir_autocreate}));
  zab::History history(window_limits(config_));
  bool begun = false;
  replica::StateBuilder builder(machine_, [&](Zxid zxid, std::string_view entry) {
    if (!is_member()) return;
    if (!std::exchange(begun, true)) history.begin_at(builder.loaded_at());
    history.replay(zxid, entry);
  });
  ReplaySink sink(builder);
  TRY_ASSIGN(recovered_, storage::recover(disk_, dirs, recovery_options(config_), sink));
  if (!sink.finish()) {
    history = zab::History(window_limits(config_));
    begun = false;
    storage::RecoverySinkAdapter one_by_one(builder);
    TRY_ASSIGN(recovered_, storage::recover(disk_, dirs, recovery_options(config_), one_by_one));
  }
  for (const std::string& finding : recovered_.findings) log_warn("recovery", "{}", finding);
  if (recovered_.damaged() && is_member()) {
    log_error("recovery", "{}: this server asks the leader for its state, and does not vote until it has it",
              recovered_.damage);
    clear_state();
    member_start_.peer.knows_history = false;
  } else if (recovered_.damaged()) {
    return std::unexpected(
        data_error(recovered_.damage +
                   ": the server does not start on a part of its history. Restore the files from "
                   "a backup, or keep a copy and repair them"));
  } else if (recovered_.outcome == storage::RecoveryOutcome::kEmpty) {
    TRY(begin_empty());
  } else {
    builder.finish();
  }
  const std::string snapshot = dirs.snapshots + "/" + recovered_.snapshot_file;
  if (struct stat file{}; recovered_.snapshot && ::stat(snapshot.c_str(), &file) == 0)
    snapshot_at_start_time_s_ = file.st_mtime;
  startup_snapshot_ms_ = sink.loaded_at() - started_;
  startup_txns_ms_ = monotonic_now() - sink.loaded_at();
  for (const std::string& finding : builder.findings()) {
    log_error("recovery", "{}", finding);
    ++digest_mismatches_;
  }
  if (is_member() && builder.is_contradicted() && !recovered_.damaged()) {
    log_error(
        "recovery",
        "this server serves no client until it has compared its state with a leader's, and leads only if "
        "nobody else does. If the states differ, it takes the one that a quorum has");
    member_start_.peer.contradicted = true;
  }
  if (!begun || raw(machine_.last_zxid) <= 0) history.begin_at(machine_.last_zxid);
  member_start_.history = std::move(history);
  member_start_.exact = builder.is_exact();
  return {};
}

IoResult<void> ServerProcess::begin_empty() {
  machine_.tree.ensure_special_nodes();
  machine_.last_zxid = Zxid{0};
  if (is_member() && !recovered_.may_start_empty) {
    log_warn("recovery", "{} is empty and was not initialized: this server asks the leader for its state",
             config_.data_dir);
    member_start_.peer.knows_history = false;
    return {};
  }
  // It is unknown whether an empty disk is correct. It is if all other servers are empty too, so their
  // answers decide.
  if (is_member() && !config_.storage.db_autocreate && !recovered_.has_initialize_mark) {
    member_start_.peer.fresh = true;
    return {};
  }
  if (!recovered_.may_start_empty) {
    return std::unexpected(
        data_error(config_.data_dir +
                   " is empty, and zookeeper.db.autocreate=false: put a file named `initialize` "
                   "beside version-2 if a new database is meant"));
  }
  // From here on a log without a snapshot means damage.
  const auto first = write_snapshot(disk_, data_dir_->dirs().snapshots, machine_, lock_, io_count_,
                                    snapshot_options(config_));
  TRY(first);
  recovered_.snapshot = first->zxid;
  recovered_.snapshot_file = first->file;
  return storage::remove_initialize_mark(disk_, data_dir_->dirs());
}

IoResult<void> ServerProcess::open_journal() {
  const storage::DataDirs& dirs = data_dir_->dirs();
  if (recovered_.damaged()) {
    journal_ = storage::Journal::closed(disk_, dirs, txn_log_options(config_));
    return {};
  }
  TRY_ASSIGN(journal_, storage::Journal::open(disk_, dirs, recovered_.tail, txn_log_options(config_)));
  return {};
}

// Transactions that were logged but never committed are gone from the disk. The state is rebuilt from the
// disk.
IoResult<bool> ServerProcess::reload_state() {
  TreeLock::Writing alone(lock_);
  replica::StateBuilder builder(machine_);
  builder.reset();
  storage::RecoverySinkAdapter sink(builder);
  storage::RecoveryOptions options = recovery_options(config_);
  options.repair = false;
  TRY_ASSIGN(const storage::RecoveryReport report, storage::recover(disk_, data_dir_->dirs(), options, sink));
  if (report.damaged()) return std::unexpected(data_error(report.damage));
  builder.finish();
  return builder.is_exact();
}

void ServerProcess::clear_state() {
  TreeLock::Writing alone(lock_);
  replica::StateBuilder builder(machine_);
  builder.reset();
  machine_.tree.ensure_special_nodes();
  machine_.last_zxid = Zxid{0};
}

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// The state of a server when it starts, and when it starts over with a leader's state.
#include "server/server_process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "log/log.h"
#include "runtime/ensemble_settings.h"
#include "runtime/replay_sink.h"
#include "runtime/settings.h"

namespace drover::server {

IoResult<void> ServerProcess::recover() {
  const auto dirs = storage::data_dirs(config_.data_dir, config_.data_log_dir);
  TRY_ASSIGN(data_dir_, storage::DataDir::open(disk_, dirs, {.create = config_.storage.data_dir_autocreate}));
  host::StartOptions options;
  options.is_member = is_member();
  options.recovery = recovery_options(config_);
  options.empty_is_meant = config_.storage.db_autocreate.has_value();
  options.window = window_limits(config_);
  TRY_ASSIGN(host::Start start, host::recover(disk_, dirs, machine_, options, *this));
  for (const std::string& line : start.warnings) log_warn("recovery", "{}", line);
  for (const std::string& line : start.errors) log_error("recovery", "{}", line);
  for (const std::string& line : start.contradictions) log_error("recovery", "{}", line);
  digest_mismatches_ += start.contradictions.size();
  if (is_member() && start.member.peer.contradicted) {
    log_error(
        "recovery",
        "this server serves no client until it has compared its state with a leader's, and leads only if "
        "nobody else does. If the states differ, it takes the one that a quorum has");
  }
  recovered_ = std::move(start.report);
  member_start_ = std::move(start.member);
  TRY(recover_memberships());
  const std::string snapshot = dirs.snapshots + "/" + recovered_.snapshot_file;
  if (struct stat file{}; recovered_.snapshot && ::stat(snapshot.c_str(), &file) == 0)
    snapshot_at_start_time_s_ = file.st_mtime;
  TRY_ASSIGN(journal_, host::open_journal(disk_, dirs, recovered_, txn_log_options(config_)));
  return {};
}

// Without reconfigEnabled the members are those of the configuration, whatever the log contains.
IoResult<void> ServerProcess::recover_memberships() {
  member_start_.memberships = membership_of(config_);
  const EnsembleConfig& e = config_.ensemble;
  if (!is_member() || !e.reconfig_enabled) return {};
  const std::string folder = std::filesystem::path(config_.file_path).parent_path().string();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return std::unexpected(
        io_error(errno, "reconfigEnabled=true: this server must be able to create files in " + folder +
                            ", because new members are stored beside " + config_.file_path +
                            ". Make the folder writable for the user of the server, or move the file"));
  // Other servers may have several addresses, even if this one has multiAddress.enabled=false.
  membership_files_.emplace(
      disk_,
      host::MembershipFilesOptions{.static_file = config_.file_path, .me = *e.my_id, .multi_address = true});
  TRY_ASSIGN(member_start_.memberships,
             host::recover_memberships(*membership_files_, machine_, member_start_.peer));
  return {};
}

// Two threads share the work: one reads, the other applies.
IoResult<storage::RecoveryReport> ServerProcess::replay(storage::Disk& disk, const storage::DataDirs& dirs,
                                                        const storage::RecoveryOptions& options,
                                                        replica::StateBuilder& builder) {
  ReplaySink sink(builder);
  TRY_ASSIGN(storage::RecoveryReport report, storage::recover(disk, dirs, options, sink));
  const bool applied = sink.finish();
  startup_snapshot_ms_ = sink.loaded_at() - started_;
  startup_txns_ms_ = monotonic_now() - sink.loaded_at();
  if (applied) return report;
  return StartHooks::replay(disk, dirs, options, builder);
}

IoResult<std::string> ServerProcess::write_first_snapshot() {
  TRY_ASSIGN(const SnapshotResult first,
             write_snapshot(disk_, data_dir_->dirs().snapshots, machine_, lock_, snapshot_options(config_)));
  return first.file;
}

IoResult<void> ServerProcess::write_state(storage::SnapshotWriter& writer) {
  return server::write_state(writer, machine_, lock_);
}

// Transactions that were logged but never committed are gone from the disk. The state is rebuilt from the
// disk.
IoResult<bool> ServerProcess::reload_state() {
  TreeLock::Writing alone(lock_);
  std::vector<std::string> contradictions;
  TRY_ASSIGN(const bool exact,
             host::reload(disk_, data_dir_->dirs(), machine_, recovery_options(config_), contradictions));
  for (const std::string& line : contradictions) log_error("recovery", "{}", line);
  return exact;
}

void ServerProcess::clear_state() {
  TreeLock::Writing alone(lock_);
  host::clear(machine_);
}

}  // namespace drover::server

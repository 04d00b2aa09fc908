// SPDX-License-Identifier: Apache-2.0
#include "host/start.h"

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "storage/epoch_files.h"
#include "storage/recovery_sink_adapter.h"
#include "zab/membership_text.h"

namespace drover::host {
namespace {

class Starter {
 public:
  Starter(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
          const StartOptions& options, StartHooks& hooks)
      : disk_(disk), dirs_(dirs), machine_(machine), options_(options), hooks_(hooks) {}

  IoResult<Start> run() {
    TRY(read_history());
    start_.warnings = start_.report.findings;
    if (start_.report.damaged()) {
      TRY(begin_damaged());
    } else if (start_.report.outcome == storage::RecoveryOutcome::kEmpty) {
      TRY(begin_empty());
    }
    if (options_.is_member) TRY(read_epochs());
    // The epoch files of a standalone server are of a time when it was a member, or there are none.
    if (!options_.is_member)
      start_.member.peer.accepted_epoch = start_.member.peer.current_epoch = epoch_of(machine_.last_zxid);
    return std::move(start_);
  }

 private:
  IoResult<void> read_history() {
    zab::History history(options_.window);
    Zxid window_of{-1};  // the snapshot that the window begins with
    replica::StateBuilder builder(machine_, [&](Zxid zxid, std::string_view entry) {
      hooks_.on_txn(entry);
      if (!options_.is_member) return;
      if (std::exchange(window_of, builder.loaded_at()) != builder.loaded_at() || zxid <= history.last())
        history = begin_window(builder.loaded_at());
      history.replay(zxid, entry);
    });
    TRY_ASSIGN(start_.report, hooks_.replay(disk_, dirs_, options_.recovery, builder));
    if (start_.report.outcome == storage::RecoveryOutcome::kRecovered) builder.finish();
    start_.contradictions = builder.findings();
    start_.member.peer.contradicted = builder.is_contradicted() && !start_.report.damaged();
    start_.member.exact = builder.is_exact();
    if (history.last() != machine_.last_zxid) history = begin_window(machine_.last_zxid);
    start_.member.history = std::move(history);
    return {};
  }

  zab::History begin_window(Zxid zxid) const {
    zab::History history(options_.window);
    history.begin_at(zxid);
    return history;
  }

  IoResult<void> begin_damaged() {
    if (!options_.is_member) {
      return std::unexpected(
          data_error(start_.report.damage +
                     ": the server does not start on a part of its history. Restore the files from a backup, "
                     "or keep a copy and repair them"));
    }
    start_.errors.push_back(start_.report.damage +
                            ": this server asks the leader for its state, and does not vote until it has it");
    start_.member.peer.knows_history = false;
    clear(machine_);
    start_.member.history = begin_window(Zxid{0});
    return {};
  }

  IoResult<void> begin_empty() {
    clear(machine_);
    start_.member.history = begin_window(Zxid{0});
    const storage::RecoveryReport& report = start_.report;
    if (options_.is_member && !report.may_start_empty) {
      start_.warnings.push_back(
          dirs_.snapshots + " is empty and was not initialized: this server asks the leader for its state");
      start_.member.peer.knows_history = false;
      return {};
    }
    // It is unknown whether an empty disk is correct. It is if all other servers are empty too, so their
    // answers decide.
    if (options_.is_member && !options_.empty_is_meant && !report.has_initialize_mark) {
      start_.member.peer.fresh = true;
      return {};
    }
    if (!report.may_start_empty) {
      return std::unexpected(data_error(dirs_.snapshots +
                                        " is empty, and zookeeper.db.autocreate=false: put a file named "
                                        "`initialize` beside version-2 if a new database is meant"));
    }
    TRY_ASSIGN(start_.report.snapshot_file, hooks_.write_first_snapshot());
    start_.report.snapshot = Zxid{0};
    return storage::remove_initialize_mark(disk_, dirs_);
  }

  // A server that cannot read its promises does not start.
  IoResult<void> read_epochs() {
    TRY_ASSIGN(const storage::Epochs epochs,
               storage::load_epochs(disk_, dirs_.snapshots, machine_.last_zxid));
    for (const std::string& finding : epochs.findings) start_.warnings.push_back(finding);
    start_.member.peer.accepted_epoch = epochs.accepted;
    start_.member.peer.current_epoch = epochs.current;
    start_.member.peer.history_id = epochs.history_id;
    return {};
  }

  storage::Disk& disk_;
  const storage::DataDirs& dirs_;
  state::Machine& machine_;
  const StartOptions& options_;
  StartHooks& hooks_;
  Start start_;
};

// The last reconfiguration in the log or the snapshot.
std::optional<zab::Membership> logged_membership(const state::Machine& machine) {
  const state::NodeRef node = machine.tree.find(kConfigPath);
  if (node == state::kNoNode) return std::nullopt;
  auto logged = zab::parse_membership(machine.tree.at(node).data().value_or(std::string_view{}),
                                      {.multi_address = true});
  if (!logged || logged->servers().empty()) return std::nullopt;
  return std::move(*logged);
}

// A version is the zxid of a transaction, or the beginning of an epoch: then a leader has numbered members
// that came from files.
bool is_acknowledged(const zab::Membership& proposed, const std::optional<zab::Membership>& logged,
                     const zab::PeerStart& start) {
  if (counter_of(Zxid{proposed.version()}) == 0)
    return epoch_of(Zxid{proposed.version()}) <= start.current_epoch;
  return logged && logged->version() >= proposed.version();
}

}  // namespace

IoResult<storage::RecoveryReport> StartHooks::replay(storage::Disk& disk, const storage::DataDirs& dirs,
                                                     const storage::RecoveryOptions& options,
                                                     replica::StateBuilder& builder) {
  storage::RecoverySinkAdapter sink(builder);
  return storage::recover(disk, dirs, options, sink);
}

IoResult<Start> recover(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
                        const StartOptions& options, StartHooks& hooks) {
  return Starter(disk, dirs, machine, options, hooks).run();
}

IoResult<zab::Memberships> recover_memberships(MembershipFiles& files, const state::Machine& machine,
                                               const zab::PeerStart& start) {
  TRY_ASSIGN(StoredMembership stored, files.load());
  std::optional<zab::Membership> logged = logged_membership(machine);
  // The file is written before its transaction is. If a crash came between the two, or another leader's state
  // replaced the log, the file says nothing. It has to go now: once the log has passed its version, it would
  // look valid.
  if (stored.proposed && !is_acknowledged(*stored.proposed, logged, start)) {
    TRY(files.withdraw());
    stored.proposed.reset();
  }
  std::optional<zab::Membership>& proposed = stored.proposed;
  if (logged && (!proposed || logged->version() > proposed->version())) proposed = std::move(logged);
  if (proposed && proposed->version() <= stored.committed.version()) proposed.reset();
  return zab::Memberships(std::move(stored.committed), std::move(proposed));
}

IoResult<storage::Journal> open_journal(storage::Disk& disk, const storage::DataDirs& dirs,
                                        const storage::RecoveryReport& report,
                                        const storage::TxnLogOptions& options) {
  if (report.damaged()) return storage::Journal::closed(disk, dirs, options);
  return storage::Journal::open(disk, dirs, report.tail, options);
}

IoResult<bool> reload(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
                      const storage::RecoveryOptions& options, std::vector<std::string>& contradictions) {
  replica::StateBuilder builder(machine);
  builder.reset();
  storage::RecoverySinkAdapter sink(builder);
  storage::RecoveryOptions without_repair = options;
  without_repair.repair = false;
  TRY_ASSIGN(const storage::RecoveryReport report, storage::recover(disk, dirs, without_repair, sink));
  if (report.damaged()) return std::unexpected(data_error(report.damage));
  builder.finish();
  contradictions = builder.findings();
  return builder.is_exact();
}

void clear(state::Machine& machine) {
  replica::StateBuilder builder(machine);
  builder.reset();
  machine.tree.ensure_special_nodes();
  machine.last_zxid = Zxid{0};
}

}  // namespace drover::host

// SPDX-License-Identifier: Apache-2.0
#include "tools/loaded_state.h"

#include <algorithm>
#include <ranges>

#include "replica/state_builder.h"
#include "storage/recovery_sink_adapter.h"
#include "storage/snapshot_reader.h"
#include "storage/txn_log_reader.h"
#include "tools/progress.h"
#include "tools/snapshot_file.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

using storage::SnapshotFile;

// A history begins in epoch 0 or 1. If the log begins in a later epoch, the rest was purged.
bool begins_history(Zxid first) { return epoch_of(first) <= 1 && counter_of(first) == 1; }

// True if the log continues after `zxid` without a gap. No log at all is not a gap.
bool log_continues(const std::vector<storage::LogFile>& logs, Zxid zxid) {
  return logs.empty() || logs.front().first <= next(zxid) || storage::follows(zxid, logs.front().first);
}

IoResult<void> replay_until(storage::TxnLogReader& log, Zxid zxid, replica::StateBuilder& builder,
                            LoadedState& state, Progress& progress) {
  std::uint64_t bytes = 0;
  while (state.last < zxid) {
    TRY_ASSIGN(const auto record, log.next());
    if (!record) {
      return std::unexpected(data_error(fmt::format("zxid {} is not in these files: the history ends at {}",
                                                    zxid_text(zxid), zxid_text(state.last))));
    }
    if (record->zxid > zxid) return {};
    if (!builder.txn(record->zxid, record->entry)) {
      return std::unexpected(data_error("transaction " + zxid_text(record->zxid) + " cannot be applied"));
    }
    progress.reached(bytes += record->entry.size());
    state.last = record->zxid;
    ++state.replayed;
  }
  return {};
}

}  // namespace

state::Options state_options() {
  state::Options options;
  options.extended_types = true;
  return options;
}

IoResult<ReplayBase> oldest_base(storage::Disk& disk, const storage::DataDirs& dirs) {
  TRY_ASSIGN(const auto logs, storage::list_logs(disk, dirs.logs));
  if (!logs.empty() && begins_history(logs.front().first)) return ReplayBase{};
  TRY_ASSIGN(const auto snapshots, storage::list_snapshots(disk, dirs.snapshots));
  std::string why = snapshots.empty() ? "there is none" : "the log does not continue after any of them";
  for (const SnapshotFile& file : snapshots) {
    if (!log_continues(logs, file.zxid)) continue;
    const auto info = storage::verify_snapshot(disk, dirs.snapshots, file);
    if (info) return ReplayBase{file, file.zxid};
    why = info.error().what;
  }
  return std::unexpected(data_error("no snapshot in " + dirs.snapshots + " to start from: " + why));
}

IoResult<ReplayBase> base_before(storage::Disk& disk, const storage::DataDirs& dirs, Zxid zxid) {
  TRY_ASSIGN(const auto snapshots, storage::list_snapshots(disk, dirs.snapshots));
  for (const SnapshotFile& file : std::views::reverse(snapshots)) {
    if (file.zxid > zxid) continue;
    const auto info = storage::verify_snapshot(disk, dirs.snapshots, file);
    if (info && !storage::reaches_beyond(file, *info, zxid)) return ReplayBase{file, file.zxid};
  }
  TRY_ASSIGN(const auto logs, storage::list_logs(disk, dirs.logs));
  if (!logs.empty() && begins_history(logs.front().first)) return ReplayBase{};
  std::string error = fmt::format("no intact snapshot in {} shows the state at or before zxid {}",
                                  dirs.snapshots, zxid_text(zxid));
  if (!snapshots.empty()) error += "; the oldest is " + snapshots.front().name;
  return std::unexpected(data_error(error + ". A backup from that time is needed"));
}

IoResult<std::unique_ptr<LoadedState>> load_newest(const Context& context, const storage::DataDirs& dirs) {
  auto state = std::make_unique<LoadedState>();
  replica::StateBuilder builder(state->machine);
  storage::RecoverySinkAdapter sink(builder);
  TRY_ASSIGN(const storage::RecoveryReport report,
             storage::recover(context.disk, dirs, {.repair = false}, sink));
  if (report.damaged()) return std::unexpected(data_error(report.damage));
  builder.finish();
  state->last = report.last;
  state->from = report.snapshot_file;
  state->replayed = report.txns_replayed;
  state->exact = builder.is_exact();
  state->findings = builder.findings();
  return state;
}

IoResult<std::unique_ptr<LoadedState>> load_at(const Context& context, const storage::DataDirs& dirs,
                                               Zxid zxid) {
  TRY_ASSIGN(const ReplayBase base, base_before(context.disk, dirs, zxid));
  auto state = std::make_unique<LoadedState>();
  replica::StateBuilder builder(state->machine);
  storage::RecoverySinkAdapter sink(builder);
  builder.reset();
  if (base.snapshot) {
    TRY_ASSIGN(const SnapshotPlace place, snapshot_at(context.disk, dirs.snapshots, base.snapshot->name));
    TRY_ASSIGN(const storage::SnapshotInfo info, read_snapshot(context, place, sink));
    sink.snapshot_loaded(base.zxid, info.digest);
    state->from = base.snapshot->name;
  }
  state->last = base.zxid;
  if (base.zxid < zxid) {
    TRY_ASSIGN(auto log, storage::TxnLogReader::open(context.disk, dirs.logs, {.after = base.zxid}));
    Progress progress("transactions", 0, context.show_progress);
    TRY(replay_until(log, zxid, builder, *state, progress));
  }
  builder.finish();
  state->exact = builder.is_exact();
  state->findings = builder.findings();
  return state;
}

bool give_state(const state::Machine& machine, storage::SnapshotSink& sink) {
  for (const auto& [id, timeout_ms] : machine.sessions) {
    if (!sink.session(id, timeout_ms)) return false;
  }
  const state::Tree& tree = machine.tree;
  for (const auto& [key, list] : tree.acls().all()) {
    if (!sink.acl(key, list->bytes)) return false;
  }
  bool wanted = true;
  tree.for_subtree_refs(tree.root(), [&](state::NodeRef ref) {
    if (!wanted) return;
    const state::Node& node = tree.at(ref);
    const std::string path = ref == tree.root() ? std::string() : tree.path_of(ref);
    wanted = sink.node(path, node.data(), static_cast<std::int32_t>(node.acl), state::persisted_stat(node));
  });
  return wanted;
}

}  // namespace drover::tools

// SPDX-License-Identifier: Apache-2.0
#include "tools/survey.h"

#include <algorithm>
#include <memory>

#include "replica/state_builder.h"
#include "storage/epoch_files.h"
#include "storage/file_names.h"
#include "storage/log_links.h"
#include "storage/recovery_sink_adapter.h"
#include "storage/txn_log_reader.h"
#include "tools/dry_disk.h"
#include "tools/loaded_state.h"
#include "tools/snapshot_file.h"
#include "tools/survey_files.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

using storage::RecoveryOutcome;
using storage::Replacing;

class Surveyor {
 public:
  Surveyor(const Context& context, const storage::DataDirs& dirs) : context_(context), dirs_(dirs) {}

  IoResult<Survey> run();

 private:
  IoResult<void> look_at_links();
  IoResult<void> recover();
  void look_at_epochs(DryDisk& disk);
  void look_at_sessions(const state::Machine& machine);
  IoResult<void> replay_older_history();
  void tell_start();
  void find(Verdict verdict, std::string text) { survey_.findings.push_back({verdict, std::move(text)}); }
  void raise(Zxid zxid) { survey_.highest = std::max(survey_.highest, zxid); }

  const Context& context_;
  const storage::DataDirs& dirs_;
  storage::LogEvidence evidence_;
  Survey survey_;
};

IoResult<Survey> Surveyor::run() {
  TRY(storage::check_layout(context_.disk, dirs_));
  survey_.replacing = storage::replacing_mark(context_.disk, dirs_);
  TRY(look_at_links());
  TRY_ASSIGN(survey_.snapshots, survey_snapshots(context_, dirs_));
  TRY_ASSIGN(survey_.logs, survey_logs(context_, dirs_, survey_.snapshots, evidence_));
  for (const SnapshotVerdict& snapshot : survey_.snapshots) raise(snapshot.zxid);
  for (const LogVerdict& log : survey_.logs) {
    raise(log.last.value_or(Zxid{0}));
    raise(log.end.beyond.value_or(Zxid{0}));
  }
  // For a backup, an empty directory is a problem.
  if (survey_.snapshots.empty() && survey_.logs.empty()) {
    find(Verdict::kBad, dirs_.snapshots + " holds no snapshot and no log");
  }
  TRY(recover());
  TRY(replay_older_history());
  tell_start();
  return std::move(survey_);
}

IoResult<void> Surveyor::look_at_links() {
  TRY_ASSIGN(evidence_, storage::read_log_evidence(context_.disk, dirs_.logs));
  const auto bytes = file_bytes(context_.disk, storage::join_path(dirs_.logs, storage::kLogLinksName));
  if (!bytes) return {};
  FileVerdict file{.name = std::string(storage::kLogLinksName), .bytes = *bytes};
  file.content = fmt::format("{} links", evidence_.links.size());
  if (evidence_.watermark) {
    const Zxid durable = evidence_.watermark->durable;
    file.content += durable == storage::kNoLog ? ", never synced" : ", durable up to " + zxid_text(durable);
    raise(evidence_.watermark->durable);
  }
  survey_.others.push_back(std::move(file));
  return {};
}

// Runs the server's recovery on a disk that only records writes.
IoResult<void> Surveyor::recover() {
  DryDisk disk(context_.disk);
  const auto state = std::make_unique<LoadedState>();
  replica::StateBuilder builder(state->machine);
  storage::RecoverySinkAdapter sink(builder);
  // A pending replacement would be read back under names that do not exist on this disk.
  const bool act = survey_.replacing != Replacing::kIncoming && survey_.replacing != Replacing::kTrying;
  TRY_ASSIGN(survey_.recovery, storage::recover(disk, dirs_, {.autocreate = true, .repair = act}, sink));
  for (const std::string& finding : survey_.recovery.findings) {
    find(finding.starts_with("DAMAGE") || finding.starts_with("skipped") ? Verdict::kBad : Verdict::kNote,
         finding);
  }
  builder.finish();
  for (const std::string& finding : builder.findings()) find(Verdict::kBad, finding);
  look_at_epochs(disk);
  survey_.actions = disk.actions();
  if (survey_.recovery.outcome != RecoveryOutcome::kRecovered) return {};
  survey_.digests_compared = builder.is_exact() && builder.findings().empty();
  survey_.nodes = state->machine.tree.node_count() - 1;
  survey_.sessions = state->machine.sessions.size();
  survey_.digest = state->machine.tree.digest();
  look_at_sessions(state->machine);
  return {};
}

void Surveyor::look_at_epochs(DryDisk& disk) {
  bool member = false;
  for (const auto& [which, name] : {std::pair{storage::EpochFile::kCurrent, "currentEpoch"},
                                    std::pair{storage::EpochFile::kAccepted, "acceptedEpoch"}}) {
    const auto epoch = storage::read_epoch(context_.disk, dirs_.snapshots, which);
    if (epoch && !*epoch) continue;
    member = true;
    FileVerdict file{.name = name};
    if (const auto bytes = file_bytes(context_.disk, storage::join_path(dirs_.snapshots, name)))
      file.bytes = *bytes;
    if (epoch) {
      file.content = fmt::format("epoch {}", **epoch);
    } else {
      file.verdict = Verdict::kBad;
      file.note = epoch.error().what;
    }
    survey_.others.push_back(std::move(file));
  }
  if (!member || survey_.recovery.damaged()) return;
  const auto epochs = storage::load_epochs(disk, dirs_.snapshots, survey_.recovery.last);
  if (!epochs) return find(Verdict::kBad, epochs.error().what);
  for (const std::string& finding : epochs->findings) find(Verdict::kNote, finding);
}

void Surveyor::look_at_sessions(const state::Machine& machine) {
  std::size_t nodes = 0;
  std::size_t sessions = 0;
  for (const auto& [session, refs] : machine.tree.ephemerals()) {
    if (machine.sessions.contains(session)) continue;
    ++sessions;
    nodes += refs.size();
  }
  if (sessions == 0) return;
  find(Verdict::kNote,
       fmt::format("{} ephemeral nodes belong to {} sessions that do not exist: the next leader removes them",
                   nodes, sessions));
}

// Recovery starts at the newest snapshot. Older transactions can be checked against their digests, too.
IoResult<void> Surveyor::replay_older_history() {
  const auto base = oldest_base(context_.disk, dirs_);
  if (!base || !survey_.recovery.snapshot || base->zxid >= *survey_.recovery.snapshot || survey_.logs.empty())
    return {};
  const auto state = std::make_unique<LoadedState>();
  replica::StateBuilder builder(state->machine);
  storage::RecoverySinkAdapter sink(builder);
  builder.reset();
  if (base->snapshot) {
    TRY_ASSIGN(const SnapshotPlace place, snapshot_at(context_.disk, dirs_.snapshots, base->snapshot->name));
    TRY_ASSIGN(const auto info, read_snapshot(context_, place, sink));
    sink.snapshot_loaded(base->zxid, info.digest);
  }
  TRY_ASSIGN(auto log,
             storage::TxnLogReader::open(context_.disk, dirs_.logs,
                                         {.after = base->zxid, .until = survey_.recovery.snapshot}));
  for (;;) {
    const auto record = log.next();
    if (!record) {
      find(Verdict::kNote, "before the newest snapshot: " + record.error().what);
      return {};
    }
    if (!*record) break;
    if (!builder.txn((*record)->zxid, (*record)->entry)) break;  // Reported with the file.
  }
  builder.finish();
  for (const std::string& finding : builder.findings()) find(Verdict::kBad, finding);
  return {};
}

void Surveyor::tell_start() {
  const storage::RecoveryReport& r = survey_.recovery;
  if (survey_.replacing == Replacing::kIncoming) {
    survey_.start = "completes the interrupted replacement of its history by a leader's state";
  } else if (survey_.replacing == Replacing::kTrying) {
    survey_.start = "loads the state that was uploaded with `restore`, or this history if that fails";
  } else if (r.damaged()) {
    survey_.start =
        "standalone: does not start. In an ensemble: asks the leader for its state, and does not vote until "
        "it has it";
  } else if (r.outcome == RecoveryOutcome::kEmpty) {
    survey_.start =
        r.may_start_empty ? "starts with an empty tree" : "is empty but not new: asks a leader for its state";
  } else {
    survey_.start =
        fmt::format("starts at zxid {} with {} nodes and {} sessions, from {} and {} transactions",
                    zxid_text(r.last), survey_.nodes, survey_.sessions,
                    r.snapshot_file.empty() ? "the empty tree" : r.snapshot_file, r.txns_replayed);
  }
}

}  // namespace

bool Survey::is_fine() const {
  const auto bad = [](const auto& file) { return file.verdict == Verdict::kBad; };
  return !recovery.damaged() && std::ranges::none_of(snapshots, bad) && std::ranges::none_of(logs, bad) &&
         std::ranges::none_of(others, bad) && std::ranges::none_of(findings, bad);
}

IoResult<Survey> survey(const Context& context, const storage::DataDirs& dirs) {
  return Surveyor(context, dirs).run();
}

}  // namespace drover::tools

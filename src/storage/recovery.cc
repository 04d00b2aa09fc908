// SPDX-License-Identifier: Apache-2.0
#include "storage/recovery.h"

#include <algorithm>

#include "storage/file_names.h"
#include "storage/set_aside.h"
#include "storage/snapshot_reader.h"
#include "storage/txn_log_reader.h"

namespace drover::storage {
namespace {

// Java tries the same number of snapshots. A server with a hundred corrupt ones has another problem.
constexpr std::size_t kSnapshotsTried = 100;

class Recovery {
 public:
  Recovery(Disk& disk, const DataDirs& dirs, const RecoveryOptions& options, RecoverySink& sink)
      : disk_(disk), dirs_(dirs), options_(options), sink_(sink) {}

  IoResult<RecoveryReport> run() {
    TRY(check_layout(disk_, dirs_));
    sink_.reset();
    replacing_ = replacing_mark(disk_, dirs_);
    if (replacing_ == Replacing::kIncoming && options_.repair) {
      TRY(complete_replacement(disk_, dirs_));
      replacing_ = Replacing::kNo;
    }
    if (replacing_ == Replacing::kMoving || replacing_ == Replacing::kIncoming) {
      damaged("moving the old history aside was interrupted (see drover.replacing in " + dirs_.snapshots +
              ")");
      return report_;
    }
    if (replacing_ == Replacing::kTrying) {
      if (options_.repair) TRY(try_sent_state());
      replacing_ = Replacing::kNo;
    }
    if (!report_.snapshot) TRY(load_snapshot());
    TRY(replay());
    if (report_.damaged()) return report_;
    if (!report_.snapshot) TRY(judge_missing_snapshot());
    if (!report_.damaged()) judge_skipped_snapshots();
    return report_;
  }

 private:
  IoResult<void> try_sent_state();
  IoResult<void> load_snapshot();
  void note_loaded(const SnapshotFile& file, const SnapshotInfo& info);
  IoResult<void> replay();
  IoResult<void> replay_all(TxnLogReader& log);
  IoResult<void> repair(const TxnLogReader& log);
  IoResult<void> secure_snapshot();
  IoResult<void> judge_missing_snapshot();
  IoResult<void> judge_empty();
  void judge_skipped_snapshots();
  void damaged(std::string what);
  bool has_history() const { return report_.txns_replayed > 0; }

  Disk& disk_;
  const DataDirs& dirs_;
  const RecoveryOptions& options_;
  RecoverySink& sink_;
  RecoveryReport report_;
  Replacing replacing_ = Replacing::kNo;
  std::optional<Zxid> newest_skipped_;  // a corrupt snapshot still shows how far the history once went
};

// The old history is not touched before the new state is loaded completely. So if loading fails, nothing has
// to be restored, and after a crash the next start tries the new state again.
IoResult<void> Recovery::try_sent_state() {
  TRY_ASSIGN(std::optional<SnapshotFile> file, find_incoming_snapshot(disk_, dirs_));
  IoResult<SnapshotInfo> info = std::unexpected(data_error("its file is missing"));
  if (file) info = read_snapshot(disk_, dirs_.snapshots, *file, sink_);
  if (!info) {
    sink_.reset();
    report_.findings.push_back("the restored state cannot be loaded (" + info.error().what +
                               "): the restore is undone, and the previous state is served again");
    TRY(set_replacing_mark(disk_, dirs_, Replacing::kNo));
    return remove_incoming(disk_, dirs_);
  }
  TRY(complete_replacement(disk_, dirs_));
  file->name = *parse_incoming_name(file->name);
  note_loaded(*file, *info);
  return {};
}

void Recovery::note_loaded(const SnapshotFile& file, const SnapshotInfo& info) {
  report_.snapshot = file.zxid;
  report_.snapshot_file = file.name;
  report_.nodes_loaded = info.nodes;
  report_.last = file.zxid;
  sink_.snapshot_loaded(file.zxid, info.digest);
}

IoResult<void> Recovery::load_snapshot() {
  TRY_ASSIGN(std::vector<SnapshotFile> files, list_snapshots(disk_, dirs_.snapshots));
  std::ranges::reverse(files);
  if (files.size() > kSnapshotsTried) files.resize(kSnapshotsTried);
  for (const SnapshotFile& file : files) {
    const auto info = read_snapshot(disk_, dirs_.snapshots, file, sink_);
    if (info) {
      note_loaded(file, *info);
      return {};
    }
    report_.findings.push_back("skipped " + info.error().what);
    if (!newest_skipped_) newest_skipped_ = file.zxid;
    sink_.reset();
  }
  return {};
}

IoResult<void> Recovery::replay() {
  const Zxid from = report_.snapshot.value_or(Zxid{0});
  TRY_ASSIGN(TxnLogReader log, TxnLogReader::open(disk_, dirs_.logs, {.after = from, .from_device = true}));
  TRY(replay_all(log));
  std::ranges::copy(log.findings(), std::back_inserter(report_.findings));
  report_.torn_tail = log.torn_tail().has_value();
  report_.tail = log.tail();
  if (report_.snapshot || has_history()) report_.last = log.last();
  if (!report_.damaged()) {
    report_.outcome =
        report_.snapshot || has_history() ? RecoveryOutcome::kRecovered : RecoveryOutcome::kEmpty;
    if (options_.repair) TRY(repair(log));
  }
  return {};
}

IoResult<void> Recovery::replay_all(TxnLogReader& log) {
  for (;;) {
    const auto record = log.next();
    if (!record && !log.damage()) return std::unexpected(record.error());
    if (!record) {
      damaged(record.error().what);
      return {};
    }
    if (!*record) return {};
    // Without a snapshot there is no state to apply to, unless the operator trusts the empty tree.
    ++report_.txns_replayed;
    if (!report_.snapshot && !options_.trust_empty) return {};
    if (!sink_.txn((*record)->zxid, (*record)->entry)) {
      damaged("transaction 0x" + hex((*record)->zxid) + " cannot be applied");
      return {};
    }
  }
}

// The data read so far may only be in the page cache, but from now on this server claims to have it, so it
// must be durable. Also, a tear with complete records after it would look like damage to the next reader of
// the file.
IoResult<void> Recovery::repair(const TxnLogReader& log) {
  if (report_.snapshot) TRY(secure_snapshot());
  if (log.leftover()) {
    TRY(disk_.unlink(join_path(dirs_.logs, *log.leftover())));
    TRY(disk_.sync_directory(dirs_.logs));
  }
  if (log.torn_tail() && log.torn_tail()->records_beyond) {
    TRY_ASSIGN(const auto file, disk_.open(join_path(dirs_.logs, log.torn_tail()->file), OpenMode::kWrite));
    TRY(file->truncate(log.torn_tail()->offset));
    TRY(file->sync());
  }
  if (report_.tail.file == kNoLog) return {};
  TRY_ASSIGN(const auto file,
             disk_.open(join_path(dirs_.logs, log_name(report_.tail.file)), OpenMode::kWrite));
  return file->sync();
}

// If a process is killed right after it named a leader's snapshot, the name may not be durable, and no log
// can replace it. Only when the name is durable has the leader's state really arrived.
IoResult<void> Recovery::secure_snapshot() {
  TRY(disk_.sync_directory(dirs_.snapshots));
  if (replacing_ == Replacing::kNo) return {};
  return set_replacing_mark(disk_, dirs_, Replacing::kNo);
}

IoResult<void> Recovery::judge_missing_snapshot() {
  if (has_history() && !options_.trust_empty) {
    report_.txns_replayed = 0;
    report_.last = Zxid{-1};
    damaged("there are transaction logs, but no snapshot to replay them on");
    return {};
  }
  if (has_history()) return {};
  // A corrupt snapshot of the empty tree loses nothing; every other one held data.
  if (newest_skipped_ && *newest_skipped_ > Zxid{0}) {
    damaged("every snapshot is corrupt");
    return {};
  }
  return judge_empty();
}

IoResult<void> Recovery::judge_empty() {
  TRY_ASSIGN(const bool mark, has_initialize_mark(disk_, dirs_));
  report_.has_initialize_mark = mark;
  // The history was set aside and its replacement has not arrived: the directory is empty, but not new. An
  // initialize mark found now was created after that, so the operator knows.
  report_.may_start_empty = mark || (options_.autocreate && replacing_ == Replacing::kNo);
  report_.last = report_.may_start_empty ? Zxid{0} : Zxid{-1};
  return {};
}

void Recovery::judge_skipped_snapshots() {
  if (!newest_skipped_ || *newest_skipped_ <= report_.last || !report_.snapshot) return;
  damaged("the snapshot at zxid 0x" + hex(*newest_skipped_) +
          " is corrupt and the log ends before it, at 0x" + hex(report_.last));
}

void Recovery::damaged(std::string what) {
  report_.outcome = RecoveryOutcome::kDamaged;
  report_.findings.push_back("DAMAGE: " + what);
  report_.damage = std::move(what);
}

}  // namespace

IoResult<RecoveryReport> recover(Disk& disk, const DataDirs& dirs, const RecoveryOptions& options,
                                 RecoverySink& sink) {
  return Recovery(disk, dirs, options, sink).run();
}

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/journal.h"

#include <utility>

#include "base/ensure.h"
#include "storage/file_names.h"
#include "storage/set_aside.h"

namespace drover::storage {
namespace {

// Enough for diagnosis, but not so much that the disk fills.
constexpr std::size_t kSetAsideKept = 2;

}  // namespace

IoResult<Journal> Journal::open(Disk& disk, const DataDirs& dirs, const LogTail& tail,
                                const TxnLogOptions& options) {
  Journal journal(disk, dirs, options);
  TRY(journal.open_log(tail));
  return journal;
}

Journal Journal::closed(Disk& disk, const DataDirs& dirs, const TxnLogOptions& options) {
  return Journal(disk, dirs, options);
}

IoResult<void> Journal::open_log(const LogTail& tail) {
  TRY_ASSIGN(TxnLogWriter log, TxnLogWriter::open(*disk_, dirs_.logs, tail, options_));
  log_.emplace(std::move(log));
  return {};
}

TxnLogWriter& Journal::log() {
  ENSURE(log_.has_value(), "a log is used only after a complete history");
  return *log_;
}

IoResult<void> Journal::save_epoch(EpochFile which, std::uint32_t epoch, std::uint64_t history_id) {
  return write_epoch(*disk_, dirs_.snapshots, which, epoch, history_id);
}

IoResult<TruncateReport> Journal::truncate(Zxid last) {
  if (!log_) return std::unexpected(data_error("cannot truncate: the history is not complete"));
  TRY(log_->sync());
  log_.reset();
  TRY_ASSIGN(TruncateReport report, truncate_history(*disk_, dirs_, last));
  TRY(open_log(report.tail));
  return report;
}

IoResult<void> Journal::discard() {
  log_.reset();
  TRY(set_aside_history(*disk_, dirs_));
  TRY(remove_old_set_aside(*disk_, dirs_, kSetAsideKept));
  return open_log({});
}

IoResult<std::string> Journal::replace(Zxid zxid, const WriteState& write, const SnapshotOptions& options) {
  if (zxid < Zxid{0}) return std::unexpected(data_error("the new state has no zxid"));
  log_.reset();
  // The old history stays until the new one is complete. Otherwise a crash while gigabytes are written would
  // cost the ensemble a voter, and if two of three servers are synced at once, no leader could ever be
  // elected again. Once the mark is set, the new history counts, and recovery finishes the remaining steps.
  // The two must never be mixed: the old history may reach beyond `zxid`.
  TRY(remove_incoming(*disk_, dirs_));
  TRY_ASSIGN(const bool history, has_history(*disk_, dirs_));
  SnapshotOptions as = options;
  as.incoming = history;
  TRY_ASSIGN(std::string name, write_snapshot(zxid, write, as));
  if (history) {
    TRY(complete_replacement(*disk_, dirs_));
    name = *parse_incoming_name(name);
  } else {
    TRY(set_replacing_mark(*disk_, dirs_, Replacing::kNo));
    TRY(remove_initialize_mark(*disk_, dirs_));
  }
  // Also removes histories that an earlier call left because of a crash.
  TRY(remove_old_set_aside(*disk_, dirs_, kSetAsideKept));
  TRY(open_log({}));
  return name;
}

IoResult<std::string> Journal::write_snapshot(Zxid zxid, const WriteState& write,
                                              const SnapshotOptions& options) {
  TRY_ASSIGN(SnapshotWriter snapshot, SnapshotWriter::open(*disk_, dirs_.snapshots, zxid, options));
  TRY(write(snapshot));
  return snapshot.finish();
}

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/truncate.h"

#include <algorithm>
#include <ranges>

#include "storage/file_names.h"
#include "storage/log_file_reader.h"
#include "storage/snapshot_reader.h"
#include "storage/txn_log_reader.h"

namespace drover::storage {
namespace {

struct SnapshotPlan {
  std::optional<Zxid> base;             // the newest valid one that stays
  std::vector<SnapshotFile> to_remove;  // newest first
};

IoResult<SnapshotPlan> plan_snapshots(Disk& disk, const DataDirs& dirs, Zxid zxid) {
  TRY_ASSIGN(const std::vector<SnapshotFile> files, list_snapshots(disk, dirs.snapshots));
  SnapshotPlan plan;
  for (const SnapshotFile& file : std::views::reverse(files)) {
    if (file.zxid > zxid) {
      plan.to_remove.push_back(file);
      continue;
    }
    const auto info = verify_snapshot(disk, dirs.snapshots, file);
    if (!info) continue;
    if (reaches_beyond(file, *info, zxid)) {
      plan.to_remove.push_back(file);
    } else if (!plan.base) {
      plan.base = file.zxid;
    }
  }
  return plan;
}

// Reads the history that stays. Nothing changes before it is known to be complete.
IoResult<Zxid> check_kept_history(Disk& disk, const DataDirs& dirs, Zxid base, Zxid zxid) {
  TRY_ASSIGN(TxnLogReader log, TxnLogReader::open(disk, dirs.logs, {.after = base, .until = zxid}));
  for (;;) {
    TRY_ASSIGN(const auto record, log.next());
    if (!record) return log.last();
  }
}

struct CutPoint {
  LogTail tail;
  std::uint64_t offset = 0;
};

// Finds where the last remaining log file has to end.
IoResult<CutPoint> find_cut(Disk& disk, const std::string& path, Zxid first, Zxid zxid) {
  TRY_ASSIGN(LogFileReader reader, LogFileReader::open(disk, path, {.first = first}));
  CutPoint cut{reader.tail(), kLogHeaderBytes};
  while (const auto record = reader.next()) {
    if (record->zxid > zxid) break;
    cut = {reader.tail(), record->offset + record->entry.size() + kFrameOverheadBytes};
  }
  return cut;
}

IoResult<void> remove_durably(Disk& disk, const std::string& directory, const std::string& name,
                              TruncateReport& report) {
  TRY(disk.unlink(join_path(directory, name)));
  TRY(disk.sync_directory(directory));
  report.removed.push_back(name);
  return {};
}

IoResult<void> cut_file(Disk& disk, const std::string& path, std::uint64_t offset) {
  TRY_ASSIGN(const auto file, disk.open(path, OpenMode::kWrite));
  TRY(file->truncate(offset));
  return file->sync();
}

IoResult<void> cut_logs(Disk& disk, const DataDirs& dirs, Zxid zxid, TruncateReport& report) {
  TRY_ASSIGN(std::vector<LogFile> logs, list_logs(disk, dirs.logs));
  const auto later = std::ranges::upper_bound(logs, zxid, {}, &LogFile::first);
  CutPoint cut;
  std::string kept;
  if (later != logs.begin()) {
    const LogFile& last = *std::prev(later);
    kept = join_path(dirs.logs, last.name);
    TRY_ASSIGN(cut, find_cut(disk, kept, last.first, zxid));
    if (cut.tail.last != kNoLog) report.tail = cut.tail;
  }
  // Lower the watermark first: a crash after this must not look like a log that lost its end.
  TRY(LogLinks::open(disk, dirs.logs, {report.tail.file, report.tail.last}));
  for (const LogFile& log : std::views::reverse(std::ranges::subrange(later, logs.end()))) {
    TRY(remove_durably(disk, dirs.logs, log.name, report));
  }
  if (!kept.empty()) TRY(cut_file(disk, kept, cut.offset));
  return {};
}

}  // namespace

IoResult<TruncateReport> truncate_history(Disk& disk, const DataDirs& dirs, Zxid zxid) {
  TRY_ASSIGN(const SnapshotPlan plan, plan_snapshots(disk, dirs, zxid));
  if (!plan.base) {
    return std::unexpected(
        data_error("cannot truncate to zxid 0x" + hex(zxid) + ": no snapshot is old enough"));
  }
  TruncateReport report;
  TRY_ASSIGN(report.last, check_kept_history(disk, dirs, *plan.base, zxid));
  // The leader's next transactions follow `zxid` and no other.
  if (report.last != zxid)
    return std::unexpected(data_error("cannot truncate to zxid 0x" + hex(zxid) + ": it is not in the log"));
  for (const SnapshotFile& file : plan.to_remove) {
    TRY(remove_durably(disk, dirs.snapshots, file.name, report));
  }
  TRY(cut_logs(disk, dirs, zxid, report));
  return report;
}

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/purge.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "storage/file_names.h"
#include "storage/snapshot_reader.h"

namespace drover::storage {
namespace {

// The newest snapshots that verify, newest first, at most `retain`.
std::vector<SnapshotFile> verified(Disk& disk, const DataDirs& dirs, const std::vector<SnapshotFile>& files,
                                   std::size_t retain, PurgeReport& report) {
  std::vector<SnapshotFile> good;
  for (const SnapshotFile& file : std::views::reverse(files)) {
    if (good.size() == retain) break;
    if (const auto info = verify_snapshot(disk, dirs.snapshots, file)) {
      good.push_back(file);
    } else {
      report.findings.push_back("snapshot not counted: " + info.error().what);
    }
  }
  return good;
}

IoResult<std::uint64_t> size_of(Disk& disk, const std::string& directory, const std::string& name) {
  TRY_ASSIGN(const auto file, disk.open(join_path(directory, name), OpenMode::kRead));
  return file->size();
}

struct History {
  std::vector<SnapshotFile> snapshots;
  std::vector<LogFile> logs;
};

IoResult<std::uint64_t> bytes_from(Disk& disk, const DataDirs& dirs, const History& history, Zxid oldest) {
  std::uint64_t total = 0;
  for (const SnapshotFile& file : history.snapshots) {
    if (file.zxid < oldest) continue;
    TRY_ASSIGN(const std::uint64_t size, size_of(disk, dirs.snapshots, file.name));
    total += size;
  }
  for (std::size_t i = index_of_file_with(history.logs, oldest); i < history.logs.size(); ++i) {
    TRY_ASSIGN(const std::uint64_t size, size_of(disk, dirs.logs, history.logs[i].name));
    total += size;
  }
  return total;
}

IoResult<void> remove(Disk& disk, const std::string& directory, const std::string& name,
                      PurgeReport& report) {
  const std::string path = join_path(directory, name);
  TRY(unlink_if_exists(disk, path));
  report.removed.push_back(path);
  return {};
}

}  // namespace

IoResult<std::uint64_t> history_bytes(Disk& disk, const DataDirs& dirs) {
  History history;
  TRY_ASSIGN(history.snapshots, list_snapshots(disk, dirs.snapshots));
  TRY_ASSIGN(history.logs, list_logs(disk, dirs.logs));
  return bytes_from(disk, dirs, history, Zxid{std::numeric_limits<std::int64_t>::min()});
}

IoResult<PurgeReport> purge(Disk& disk, const DataDirs& dirs, const PurgeOptions& options) {
  PurgeReport report;
  History history;
  TRY_ASSIGN(history.snapshots, list_snapshots(disk, dirs.snapshots));
  TRY_ASSIGN(history.logs, list_logs(disk, dirs.logs));
  auto kept = verified(disk, dirs, history.snapshots, std::max<std::size_t>(options.retain, 1), report);
  if (kept.empty()) return report;
  while (options.bytes_max && kept.size() > 1) {
    TRY_ASSIGN(const std::uint64_t total, bytes_from(disk, dirs, history, kept.back().zxid));
    if (total <= *options.bytes_max) break;
    kept.pop_back();
  }

  // Remove snapshots first, and durably: a snapshot without its logs would be a starting point that leads
  // nowhere.
  const Zxid oldest = kept.back().zxid;
  for (const SnapshotFile& file : history.snapshots) {
    if (file.zxid < oldest) TRY(remove(disk, dirs.snapshots, file.name, report));
  }
  TRY(disk.sync_directory(dirs.snapshots));
  const std::size_t needed = index_of_file_with(history.logs, oldest);
  for (std::size_t i = 0; i < needed; ++i) TRY(remove(disk, dirs.logs, history.logs[i].name, report));
  TRY(disk.sync_directory(dirs.logs));
  return report;
}

}  // namespace drover::storage

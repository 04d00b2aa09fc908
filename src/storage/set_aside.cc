// SPDX-License-Identifier: Apache-2.0
#include "storage/set_aside.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "storage/file_names.h"
#include "storage/log_links.h"

namespace drover::storage {
namespace {

constexpr std::string_view kPrefix = "set-aside.";

std::string name_of(std::uint32_t number) { return std::string(kPrefix) + std::to_string(number); }

// Returns nothing for a name that only resembles ours, such as an operator's copy.
std::optional<std::uint32_t> parse_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return name_of(number) == name ? std::optional(number) : std::nullopt;
}

std::vector<std::string> directories_of(const DataDirs& dirs) {
  if (dirs.logs == dirs.snapshots) return {dirs.snapshots};
  return {dirs.snapshots, dirs.logs};
}

// Set-aside numbers of both directories, in ascending order.
IoResult<std::set<std::uint32_t>> numbers_in_use(Disk& disk, const DataDirs& dirs) {
  std::set<std::uint32_t> numbers;
  for (const std::string& directory : directories_of(dirs)) {
    TRY_ASSIGN(const std::vector<std::string> names, disk.list(directory));
    for (const std::string& name : names) {
      if (const auto number = parse_name(name)) numbers.insert(*number);
    }
  }
  return numbers;
}

struct KeptFiles {
  std::vector<std::string> snapshots;
  std::vector<std::string> logs;

  bool empty() const { return snapshots.empty() && logs.empty(); }
};

IoResult<KeptFiles> list_history(Disk& disk, const DataDirs& dirs) {
  KeptFiles history;
  TRY_ASSIGN(const std::vector<SnapshotFile> snapshots, list_snapshots(disk, dirs.snapshots));
  for (const SnapshotFile& file : snapshots) history.snapshots.push_back(file.name);
  TRY_ASSIGN(const std::vector<LogFile> logs, list_logs(disk, dirs.logs));
  for (const LogFile& file : logs) history.logs.push_back(file.name);
  return history;
}

// Moves files, and makes the change durable in both directories. Returns the new directory.
IoResult<std::string> move_files(Disk& disk, const std::string& from, const std::string& name,
                                 const std::vector<std::string>& files) {
  std::string to = join_path(from, name);
  TRY(disk.make_directories(to));
  for (const std::string& file : files) TRY(disk.rename(join_path(from, file), join_path(to, file)));
  TRY(disk.sync_directory(to));
  TRY(disk.sync_directory(from));
  return to;
}

IoResult<std::vector<std::string>> move_history(Disk& disk, const DataDirs& dirs, KeptFiles history) {
  // The links and the watermark describe these logs, and would be wrong for the next ones.
  TRY_ASSIGN(const bool links, disk.exists(join_path(dirs.logs, kLogLinksName)));
  if (links) history.logs.emplace_back(kLogLinksName);
  TRY_ASSIGN(const std::set<std::uint32_t> in_use, numbers_in_use(disk, dirs));
  const std::string name = name_of(in_use.empty() ? 1 : *in_use.rbegin() + 1);
  std::vector<std::string> made;
  if (!history.snapshots.empty()) {
    TRY_ASSIGN(made.emplace_back(), move_files(disk, dirs.snapshots, name, history.snapshots));
  }
  if (!history.logs.empty()) {
    TRY_ASSIGN(std::string to, move_files(disk, dirs.logs, name, history.logs));
    if (made.empty() || made.front() != to) made.push_back(std::move(to));
  }
  return made;
}

IoResult<std::optional<std::string>> find_incoming(Disk& disk, const DataDirs& dirs) {
  TRY_ASSIGN(const std::vector<std::string> names, disk.list(dirs.snapshots));
  for (const std::string& name : names) {
    if (parse_incoming_name(name)) return name;
  }
  return std::nullopt;
}

}  // namespace

IoResult<bool> has_history(Disk& disk, const DataDirs& dirs) {
  TRY_ASSIGN(const KeptFiles history, list_history(disk, dirs));
  return !history.empty();
}

IoResult<std::vector<std::string>> set_aside_history(Disk& disk, const DataDirs& dirs) {
  TRY_ASSIGN(KeptFiles history, list_history(disk, dirs));
  TRY(remove_initialize_mark(disk, dirs));
  std::vector<std::string> made;
  if (!history.empty()) {
    TRY(set_replacing_mark(disk, dirs, Replacing::kMoving));
    TRY_ASSIGN(made, move_history(disk, dirs, std::move(history)));
  }
  TRY(set_replacing_mark(disk, dirs, Replacing::kAwaiting));
  return made;
}

IoResult<void> complete_replacement(Disk& disk, const DataDirs& dirs) {
  // Set the mark even if it is set already: it may have been read from the page cache, and no file may move
  // before the mark is durable.
  TRY(set_replacing_mark(disk, dirs, Replacing::kIncoming));
  std::vector<std::string> made;
  TRY_ASSIGN(const std::optional<std::string> incoming, find_incoming(disk, dirs));
  // If there is no incoming snapshot, it already has its final name, and only the mark is left to remove.
  if (incoming) {
    TRY_ASSIGN(KeptFiles history, list_history(disk, dirs));
    if (!history.empty()) {
      TRY_ASSIGN(made, move_history(disk, dirs, std::move(history)));
    }
    // The links are moved last, and a crash may have come before that.
    TRY(unlink_if_exists(disk, join_path(dirs.logs, kLogLinksName)));
    TRY(disk.sync_directory(dirs.logs));
    TRY(remove_initialize_mark(disk, dirs));
    TRY(disk.rename(join_path(dirs.snapshots, *incoming),
                    join_path(dirs.snapshots, *parse_incoming_name(*incoming))));
    TRY(disk.sync_directory(dirs.snapshots));
  }
  TRY(set_replacing_mark(disk, dirs, Replacing::kNo));
  for (const std::string& directory : made) TRY(remove_set_aside(disk, directory));
  return {};
}

IoResult<void> keep_sent_snapshot(Disk& disk, const DataDirs& dirs, const std::string& file,
                                  const std::string& snapshot) {
  TRY(remove_incoming(disk, dirs));
  TRY(disk.rename(join_path(dirs.snapshots, file), join_path(dirs.snapshots, incoming_name(snapshot))));
  return disk.sync_directory(dirs.snapshots);
}

IoResult<std::optional<SnapshotFile>> find_incoming_snapshot(Disk& disk, const DataDirs& dirs) {
  TRY_ASSIGN(const std::optional<std::string> incoming, find_incoming(disk, dirs));
  if (!incoming) return std::nullopt;
  std::optional<SnapshotFile> file = parse_snapshot_name(*parse_incoming_name(*incoming));
  if (file) file->name = *incoming;
  return file;
}

IoResult<void> remove_incoming(Disk& disk, const DataDirs& dirs) {
  for (;;) {
    TRY_ASSIGN(const std::optional<std::string> incoming, find_incoming(disk, dirs));
    if (!incoming) return {};
    TRY(disk.unlink(join_path(dirs.snapshots, *incoming)));
    TRY(disk.sync_directory(dirs.snapshots));
  }
}

IoResult<void> remove_set_aside(Disk& disk, const std::string& directory) {
  const auto names = disk.list(directory);
  if (!names) return {};  // Gone, or not a directory. This only costs space.
  for (const std::string& name : *names) {
    if (!parse_snapshot_name(name) && !parse_log_name(name) && name != kLogLinksName) continue;
    TRY(unlink_if_exists(disk, join_path(directory, name)));
  }
  auto removed = disk.remove_directory(directory);
  if (!removed && removed.error().code == ENOTEMPTY) return {};
  return removed;
}

IoResult<void> remove_old_set_aside(Disk& disk, const DataDirs& dirs, std::size_t keep) {
  TRY_ASSIGN(const std::set<std::uint32_t> numbers, numbers_in_use(disk, dirs));
  std::size_t surplus = numbers.size() - std::min(keep, numbers.size());
  for (const std::uint32_t number : numbers) {
    if (surplus-- == 0) break;
    for (const std::string& directory : directories_of(dirs)) {
      TRY(remove_set_aside(disk, join_path(directory, name_of(number))));
    }
  }
  return {};
}

}  // namespace drover::storage

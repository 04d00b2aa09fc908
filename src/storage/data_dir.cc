// SPDX-License-Identifier: Apache-2.0
#include "storage/data_dir.h"

#include <cerrno>

#include "storage/file_names.h"

namespace drover::storage {
namespace {

constexpr std::string_view kVersionDirectory = "version-2";
constexpr std::string_view kLockName = "drover.lock";
constexpr std::string_view kInitializeName = "initialize";
constexpr std::string_view kReplacingName = "drover.replacing";
constexpr std::size_t kReplacingBytesMax = 64;
constexpr std::string_view kMovingText = "moving the old history away\n";
constexpr std::string_view kAwaitingText = "waiting for a leader's state\n";
constexpr std::string_view kIncomingText = "a leader's state takes the old history's place\n";
constexpr std::string_view kTryingText = "a restored state is to be tried\n";

std::string initialize_directory(const DataDirs& dirs) {
  const std::size_t slash = dirs.logs.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : dirs.logs.substr(0, slash);
}

std::string initialize_mark(const DataDirs& dirs) {
  return join_path(initialize_directory(dirs), kInitializeName);
}

IoResult<void> provide_directory(Disk& disk, const std::string& path, const DataDirOptions& options) {
  TRY_ASSIGN(const bool there, disk.exists(path));
  if (there) return {};
  if (!options.create) {
    return std::unexpected(io_error(
        ENOENT, "data directory " + path + " does not exist, and zookeeper.datadir.autocreate is off"));
  }
  return disk.make_directories(path);
}

IoResult<std::unique_ptr<DirectoryLock>> lock_directory(Disk& disk, const std::string& path) {
  auto lock = disk.lock(join_path(path, kLockName));
  if (!lock && lock.error().code == EWOULDBLOCK) {
    return std::unexpected(IoError{EWOULDBLOCK, path + " is in use by another server"});
  }
  return lock;
}

std::vector<std::string> distinct(const DataDirs& dirs) {
  if (dirs.logs == dirs.snapshots) return {dirs.snapshots};
  return {dirs.snapshots, dirs.logs};
}

IoResult<void> remove_temporaries(Disk& disk, const std::string& directory) {
  TRY_ASSIGN(const std::vector<std::string> names, disk.list(directory));
  for (const std::string& name : names) {
    if (is_temporary(name)) TRY(disk.unlink(join_path(directory, name)));
  }
  return {};
}

}  // namespace

DataDirs data_dirs(const std::string& data_dir, const std::string& data_log_dir) {
  return {join_path(data_dir, kVersionDirectory),
          join_path(data_log_dir.empty() ? data_dir : data_log_dir, kVersionDirectory)};
}

IoResult<DataDir> DataDir::open(Disk& disk, const DataDirs& dirs, const DataDirOptions& options) {
  DataDir opened;
  opened.dirs_ = dirs;
  const std::vector<std::string> paths = distinct(dirs);
  for (const std::string& path : paths) TRY(provide_directory(disk, path, options));
  TRY_ASSIGN(opened.locks_, lock_data_dirs(disk, dirs));
  TRY(check_layout(disk, dirs));
  for (const std::string& path : paths) TRY(remove_temporaries(disk, path));
  return opened;
}

IoResult<std::vector<std::unique_ptr<DirectoryLock>>> lock_data_dirs(Disk& disk, const DataDirs& dirs) {
  std::vector<std::unique_ptr<DirectoryLock>> locks;
  for (const std::string& path : distinct(dirs)) {
    TRY_ASSIGN(auto lock, lock_directory(disk, path));
    locks.push_back(std::move(lock));
  }
  return locks;
}

IoResult<void> check_layout(Disk& disk, const DataDirs& dirs) {
  if (dirs.logs == dirs.snapshots) return {};
  TRY_ASSIGN(const auto misplaced_logs, list_logs(disk, dirs.snapshots));
  if (!misplaced_logs.empty()) {
    return std::unexpected(data_error(dirs.snapshots + " holds transaction logs (" +
                                      misplaced_logs.front().name +
                                      "), but dataLogDir is another directory: move them there"));
  }
  TRY_ASSIGN(const auto misplaced_snapshots, list_snapshots(disk, dirs.logs));
  if (!misplaced_snapshots.empty()) {
    return std::unexpected(data_error(dirs.logs + " holds snapshots (" + misplaced_snapshots.front().name +
                                      "), but dataDir is another directory: move them there"));
  }
  return {};
}

IoResult<bool> has_initialize_mark(Disk& disk, const DataDirs& dirs) {
  return disk.exists(initialize_mark(dirs));
}

IoResult<void> remove_initialize_mark(Disk& disk, const DataDirs& dirs) {
  TRY_ASSIGN(const bool there, has_initialize_mark(disk, dirs));
  if (!there) return {};
  TRY(disk.unlink(initialize_mark(dirs)));
  return disk.sync_directory(initialize_directory(dirs));
}

Replacing replacing_mark(Disk& disk, const DataDirs& dirs) {
  const auto text = read_file(disk, join_path(dirs.snapshots, kReplacingName), kReplacingBytesMax);
  if (!text && text.error().code == ENOENT) return Replacing::kNo;
  if (text && *text == kIncomingText) return Replacing::kIncoming;
  if (text && *text == kTryingText) return Replacing::kTrying;
  return text && *text == kAwaitingText ? Replacing::kAwaiting : Replacing::kMoving;
}

IoResult<void> set_replacing_mark(Disk& disk, const DataDirs& dirs, Replacing mark) {
  if (mark == Replacing::kNo) {
    TRY(unlink_if_exists(disk, join_path(dirs.snapshots, kReplacingName)));
    return disk.sync_directory(dirs.snapshots);
  }
  const std::string_view text = mark == Replacing::kMoving     ? kMovingText
                                : mark == Replacing::kAwaiting ? kAwaitingText
                                : mark == Replacing::kTrying   ? kTryingText
                                                               : kIncomingText;
  return replace_file(disk, {dirs.snapshots, std::string(kReplacingName), temporary_name(kReplacingName)},
                      text);
}

}  // namespace drover::storage

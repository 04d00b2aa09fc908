// SPDX-License-Identifier: Apache-2.0
#include "tools/context.h"

#include <cerrno>

namespace drover::tools {
namespace {

constexpr std::string_view kVersionDirectory = "version-2";

// version-2 of `path`, or `path` itself if the files are there.
IoResult<std::string> version_directory(storage::Disk& disk, const std::string& path) {
  TRY_ASSIGN(const bool directory, is_directory(disk, path));
  if (!directory) return std::unexpected(data_error(path + " is a file; expected a data directory"));
  const std::string below = storage::join_path(path, kVersionDirectory);
  TRY_ASSIGN(const bool there, disk.exists(below));
  return there ? below : path;
}

}  // namespace

IoResult<bool> is_directory(storage::Disk& disk, const std::string& path) {
  TRY_ASSIGN(const bool there, disk.exists(path));
  if (!there) return std::unexpected(io_error(ENOENT, path));
  return disk.list(path).has_value();
}

IoResult<storage::DataDirs> find_directories(storage::Disk& disk, const DirectoryArguments& arguments) {
  storage::DataDirs dirs;
  TRY_ASSIGN(dirs.snapshots, version_directory(disk, arguments.directory));
  dirs.logs = dirs.snapshots;
  if (!arguments.log_directory.empty()) {
    TRY_ASSIGN(dirs.logs, version_directory(disk, arguments.log_directory));
  }
  return dirs;
}

PathParts split_path(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

IoResult<std::uint64_t> file_bytes(storage::Disk& disk, const std::string& path) {
  TRY_ASSIGN(const auto file, disk.open(path, storage::OpenMode::kRead));
  return file->size();
}

}  // namespace drover::tools

// SPDX-License-Identifier: Apache-2.0
#include "storage/disk.h"

#include <cerrno>

namespace drover::storage {

std::string join_path(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (path.empty() || path.back() != '/') path += '/';
  path += name;
  return path;
}

IoResult<std::string> read_file(Disk& disk, const std::string& path, std::size_t bytes_max) {
  TRY_ASSIGN(const std::unique_ptr<File> file, disk.open(path, OpenMode::kRead));
  TRY_ASSIGN(const std::uint64_t size, file->size());
  if (size > bytes_max) return std::unexpected(data_error(path + ": too large for a file of this kind"));
  std::string bytes(size, '\0');
  TRY_ASSIGN(const std::size_t n, file->read_at(0, bytes.data(), bytes.size()));
  bytes.resize(n);
  return bytes;
}

IoResult<void> replace_file(Disk& disk, const ReplaceFile& file, std::string_view bytes) {
  const std::string temporary = join_path(file.directory, file.temporary_name);
  {
    TRY_ASSIGN(const std::unique_ptr<File> out, disk.open(temporary, OpenMode::kCreate));
    TRY(out->write_at(0, bytes));
    TRY(out->sync());
  }
  TRY(disk.rename(temporary, join_path(file.directory, file.name)));
  return disk.sync_directory(file.directory);
}

IoResult<void> unlink_if_exists(Disk& disk, const std::string& path) {
  auto result = disk.unlink(path);
  if (!result && result.error().code == ENOENT) return {};
  return result;
}

}  // namespace drover::storage

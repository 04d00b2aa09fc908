// SPDX-License-Identifier: Apache-2.0
#include "tools/copy_directory.h"

#include <cerrno>
#include <string_view>

#include "tools/progress.h"

namespace drover::tools {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

IoResult<void> copy_file(const Context& context, const std::string& from, const std::string& to) {
  TRY_ASSIGN(const auto source, context.disk.open(from, storage::OpenMode::kRead));
  TRY_ASSIGN(const std::uint64_t size, source->size());
  TRY_ASSIGN(const auto copy, context.disk.open(to, storage::OpenMode::kCreate));
  Progress progress("copying " + from, size, context.show_progress);
  std::string piece(kPieceBytes, '\0');
  for (std::uint64_t at = 0; at < size;) {
    TRY_ASSIGN(const std::size_t n, source->read_at(at, piece.data(), piece.size()));
    if (n == 0) break;
    TRY(copy->write_at(at, std::string_view(piece).substr(0, n)));
    progress.reached(at += n);
  }
  return copy->sync();
}

}  // namespace

IoResult<std::uint64_t> directory_bytes(storage::Disk& disk, const std::string& directory) {
  TRY_ASSIGN(const auto names, disk.list(directory));
  std::uint64_t bytes = 0;
  for (const std::string& name : names) {
    const std::string path = storage::join_path(directory, name);
    TRY_ASSIGN(const bool is_below, is_directory(disk, path));
    if (is_below) continue;
    TRY_ASSIGN(const std::uint64_t size, file_bytes(disk, path));
    bytes += size;
  }
  return bytes;
}

IoResult<void> copy_directory(const Context& context, const std::string& from, const std::string& to) {
  TRY_ASSIGN(const bool there, context.disk.exists(to));
  if (there) return std::unexpected(io_error(EEXIST, to + " already exists; the copy needs a new directory"));
  TRY(context.disk.make_directories(to));
  TRY_ASSIGN(const auto names, context.disk.list(from));
  for (const std::string& name : names) {
    const std::string path = storage::join_path(from, name);
    TRY_ASSIGN(const bool is_below, is_directory(context.disk, path));
    if (!is_below) TRY(copy_file(context, path, storage::join_path(to, name)));
  }
  return context.disk.sync_directory(to);
}

}  // namespace drover::tools

// SPDX-License-Identifier: Apache-2.0
#include "tools/snapshot_file.h"

#include "storage/byte_stream.h"
#include "storage/compression.h"
#include "storage/snapshot_reader.h"
#include "tools/progress.h"

namespace drover::tools {
namespace {

using storage::Compression;

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kSnappyMagic{"\x82SNAPPY\0", 8};

Compression sniff(std::string_view bytes) {
  if (bytes.starts_with(kGzipMagic)) return Compression::kGzip;
  return bytes.starts_with(kSnappyMagic) ? Compression::kSnappy : Compression::kNone;
}

class WatchedSource final : public storage::ByteSource {
 public:
  WatchedSource(storage::ByteSource& from, Progress& progress) : from_(from), progress_(progress) {}
  IoResult<std::size_t> read(char* into, std::size_t size) override {
    TRY_ASSIGN(const std::size_t n, from_.read(into, size));
    progress_.reached(done_ += n);
    return n;
  }

 private:
  storage::ByteSource& from_;
  Progress& progress_;
  std::uint64_t done_ = 0;
};

}  // namespace

IoResult<SnapshotPlace> snapshot_at(storage::Disk& disk, const std::string& directory,
                                    const std::string& name) {
  SnapshotPlace place{.directory = directory, .file = {}};
  const auto named = storage::parse_snapshot_name(name);
  place.has_zxid = named.has_value();
  if (named) place.file.zxid = named->zxid;
  place.file.name = name;
  TRY_ASSIGN(const auto file, disk.open(storage::join_path(directory, name), storage::OpenMode::kRead));
  std::string magic(8, '\0');
  TRY_ASSIGN(const std::size_t n, file->read_at(0, magic.data(), magic.size()));
  place.file.compression = sniff(std::string_view(magic).substr(0, n));
  TRY_ASSIGN(place.bytes, file->size());
  return place;
}

IoResult<SnapshotPlace> find_snapshot(const Context& context, const std::string& source) {
  TRY_ASSIGN(const bool directory, is_directory(context.disk, source));
  if (!directory) {
    const PathParts parts = split_path(source);
    return snapshot_at(context.disk, parts.directory, parts.name);
  }
  TRY_ASSIGN(const storage::DataDirs dirs, find_directories(context.disk, {source, {}}));
  TRY_ASSIGN(const auto files, storage::list_snapshots(context.disk, dirs.snapshots));
  if (files.empty()) return std::unexpected(data_error(dirs.snapshots + " holds no snapshot"));
  return snapshot_at(context.disk, dirs.snapshots, files.back().name);
}

IoResult<storage::SnapshotInfo> read_snapshot(const Context& context, const SnapshotPlace& place,
                                              storage::SnapshotSink& sink) {
  const std::string path = storage::join_path(place.directory, place.file.name);
  TRY_ASSIGN(const auto file, context.disk.open(path, storage::OpenMode::kRead));
  Progress progress(place.file.name, place.bytes, context.show_progress);
  storage::FileSource source(*file);
  WatchedSource watched(source, progress);
  const auto plain = storage::decompress(place.file.compression, watched);
  auto info = storage::read_snapshot(*plain, sink);
  if (!info) info.error().what = path + ": " + info.error().what;
  return info;
}

}  // namespace drover::tools

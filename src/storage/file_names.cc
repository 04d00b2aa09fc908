// SPDX-License-Identifier: Apache-2.0
#include "storage/file_names.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace drover::storage {
namespace {

constexpr std::string_view kLogPrefix = "log.";
constexpr std::string_view kSnapshotPrefix = "snapshot.";
constexpr std::string_view kTemporaryPrefix = "tmp.";
constexpr std::string_view kIncomingPrefix = "incoming.";

// Parses a zxid at the front of `name` and removes it.
std::optional<Zxid> take_zxid(std::string_view& name) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value, 16);
  if (error != std::errc{} || value < 0 || name.front() == '-') return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  return Zxid{value};
}

template <class Parse>
auto list_parsed(Disk& disk, const std::string& directory, Parse parse)
    -> IoResult<std::vector<typename decltype(parse(std::string_view{}))::value_type>> {
  std::vector<typename decltype(parse(std::string_view{}))::value_type> files;
  const auto names = disk.list(directory);
  if (!names) {
    if (names.error().code == ENOENT) return files;
    return std::unexpected(names.error());
  }
  for (const std::string& name : *names) {
    if (auto file = parse(name)) files.push_back(std::move(*file));
  }
  return files;
}

}  // namespace

std::string hex(Zxid zxid) {
  char digits[16];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(raw(zxid)), 16).ptr;
  return {digits, end};
}

std::string log_name(Zxid first) { return std::string(kLogPrefix) + hex(first); }

std::string snapshot_name(Zxid zxid, Compression compression) {
  return std::string(kSnapshotPrefix) + hex(zxid) + std::string(suffix_of(compression));
}

std::string temporary_name(std::string_view name) {
  return std::string(kTemporaryPrefix) + std::string(name);
}

bool is_temporary(std::string_view name) { return name.starts_with(kTemporaryPrefix); }

std::string incoming_name(std::string_view name) { return std::string(kIncomingPrefix).append(name); }

std::optional<std::string> parse_incoming_name(std::string_view name) {
  if (!name.starts_with(kIncomingPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kIncomingPrefix.size());
  return parse_snapshot_name(rest) ? std::optional(std::string(rest)) : std::nullopt;
}

std::optional<LogFile> parse_log_name(std::string_view name) {
  if (!name.starts_with(kLogPrefix)) return std::nullopt;
  std::string_view rest = name.substr(kLogPrefix.size());
  const auto zxid = take_zxid(rest);
  if (!zxid || !rest.empty()) return std::nullopt;
  return LogFile{*zxid, std::string(name)};
}

std::optional<SnapshotFile> parse_snapshot_name(std::string_view name) {
  if (!name.starts_with(kSnapshotPrefix)) return std::nullopt;
  std::string_view rest = name.substr(kSnapshotPrefix.size());
  const auto zxid = take_zxid(rest);
  if (!zxid) return std::nullopt;
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kSnappy}) {
    if (rest == suffix_of(compression)) return SnapshotFile{*zxid, compression, std::string(name)};
  }
  return std::nullopt;
}

std::size_t index_of_file_with(const std::vector<LogFile>& logs, Zxid zxid) {
  const auto above = std::ranges::upper_bound(logs, zxid, {}, &LogFile::first);
  return above == logs.begin() ? 0 : static_cast<std::size_t>(above - logs.begin()) - 1;
}

IoResult<std::vector<LogFile>> list_logs(Disk& disk, const std::string& directory) {
  TRY_ASSIGN(auto files, list_parsed(disk, directory, parse_log_name));
  std::ranges::sort(files, {}, &LogFile::first);
  return files;
}

IoResult<std::vector<SnapshotFile>> list_snapshots(Disk& disk, const std::string& directory) {
  TRY_ASSIGN(auto files, list_parsed(disk, directory, parse_snapshot_name));
  std::ranges::sort(files, {}, &SnapshotFile::zxid);
  return files;
}

}  // namespace drover::storage

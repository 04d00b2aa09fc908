// SPDX-License-Identifier: Apache-2.0
#include "storage/log_links.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/ensure.h"
#include "base/hash.h"
#include "storage/file_names.h"
#include "wire/jute.h"

namespace drover::storage {
namespace {

constexpr std::string_view kMagic = "DROVERLK";
constexpr std::int32_t kVersion = 1;
// The watermark has its own sector: disks write whole sectors, so it is either the old one or the new one.
constexpr std::size_t kWatermarkOffset = 512;
constexpr std::size_t kWatermarkBytes = 24;
constexpr std::size_t kLinksOffset = 1024;
constexpr std::size_t kLinkBytes = 40;
constexpr std::size_t kGrowBytes = 4096;
// There is one link per log file, and purge keeps few files: a larger file is not ours.
constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;
constexpr std::uint64_t kCheckSeed = 0x6C696E6B73;

std::uint64_t load64(const char* at) {
  std::uint64_t v;
  std::memcpy(&v, at, 8);
  return v;
}

// Part of the file format. It detects damage only: an attacker who can write here does not need a collision.
std::int64_t check_of(std::string_view bytes) {
  constexpr std::uint64_t k0 = 0xA0761D6478BD642Full;
  constexpr std::uint64_t k1 = 0xE7037ED1A0B428DBull;
  ENSURE(bytes.size() >= 16 && bytes.size() % 16 == 0, "only complete blocks are checked");
  std::uint64_t h = kCheckSeed ^ k0;
  std::size_t at = 0;
  for (; at + 16 < bytes.size(); at += 16) {
    h = mix64(load64(bytes.data() + at) ^ k1, load64(bytes.data() + at + 8) ^ h);
  }
  const std::uint64_t last = mix64(load64(bytes.data() + at) ^ k1, load64(bytes.data() + at + 8) ^ h);
  return static_cast<std::int64_t>(mix64(k1 ^ bytes.size(), last));
}

void append_checked(std::string& out, std::string_view fields) {
  wire::Writer w(out);
  w.raw(fields);
  w.i64(check_of(fields));
}

std::string encode(const Watermark& watermark) {
  std::string fields;
  wire::Writer w(fields);
  w.i64(raw(watermark.file));
  w.i64(raw(watermark.durable));
  std::string out;
  append_checked(out, fields);
  return out;
}

std::string encode(const LogLink& link) {
  std::string fields;
  wire::Writer w(fields);
  w.i64(raw(link.file));
  w.i64(raw(link.predecessor.file));
  w.i64(raw(link.predecessor.last));
  w.i64(static_cast<std::int64_t>(link.predecessor.chain));
  std::string out;
  append_checked(out, fields);
  return out;
}

// True if the last eight bytes are the checksum of the rest.
bool checks(std::string_view bytes) {
  const std::string_view fields = bytes.substr(0, bytes.size() - 8);
  return wire::load_be<std::int64_t>(bytes.data() + fields.size()) == check_of(fields);
}

LogEvidence decode(std::string_view bytes) {
  LogEvidence evidence;
  if (bytes.size() < kLinksOffset || !bytes.starts_with(kMagic)) return evidence;
  const std::string_view watermark = bytes.substr(kWatermarkOffset, kWatermarkBytes);
  if (checks(watermark)) {
    wire::Reader r(watermark);
    const Zxid file{r.i64()};
    evidence.watermark = Watermark{file, Zxid{r.i64()}};
  }
  for (std::size_t at = kLinksOffset; bytes.size() - at >= kLinkBytes; at += kLinkBytes) {
    const std::string_view link = bytes.substr(at, kLinkBytes);
    if (!checks(link)) continue;
    wire::Reader r(link);
    LogLink decoded;
    decoded.file = Zxid{r.i64()};
    decoded.predecessor.file = Zxid{r.i64()};
    decoded.predecessor.last = Zxid{r.i64()};
    decoded.predecessor.chain = static_cast<std::uint64_t>(r.i64());
    evidence.links.push_back(decoded);
  }
  return evidence;
}

std::string encode(const LogEvidence& evidence) {
  std::string bytes(kMagic);
  wire::Writer(bytes).i32(kVersion);
  bytes.resize(kWatermarkOffset, '\0');
  if (evidence.watermark) bytes += encode(*evidence.watermark);
  bytes.resize(kLinksOffset, '\0');
  for (const LogLink& link : evidence.links) bytes += encode(link);
  return bytes;
}

// The last link of each log file that still exists.
IoResult<std::vector<LogLink>> links_in_use(Disk& disk, const std::string& directory,
                                            const LogEvidence& evidence) {
  TRY_ASSIGN(const std::vector<LogFile> logs, list_logs(disk, directory));
  std::vector<LogLink> links;
  for (const LogFile& log : logs) {
    if (const LogLink* link = evidence.link_of(log.first)) links.push_back(*link);
  }
  return links;
}

}  // namespace

const LogLink* LogEvidence::link_of(Zxid file) const {
  // Search from the back: a file that had to be started again has two links.
  const auto it =
      std::find_if(links.rbegin(), links.rend(), [file](const LogLink& l) { return l.file == file; });
  return it == links.rend() ? nullptr : &*it;
}

IoResult<LogEvidence> read_log_evidence(Disk& disk, const std::string& directory) {
  const auto bytes = read_file(disk, join_path(directory, kLogLinksName), kFileBytesMax);
  if (!bytes) {
    if (bytes.error().code == EACCES) return std::unexpected(bytes.error());
    return LogEvidence{};
  }
  return decode(*bytes);
}

IoResult<LogLinks> LogLinks::open(Disk& disk, const std::string& directory, const Watermark& watermark) {
  TRY_ASSIGN(LogEvidence evidence, read_log_evidence(disk, directory));
  TRY_ASSIGN(evidence.links, links_in_use(disk, directory, evidence));
  evidence.watermark = watermark;
  const std::string bytes = encode(evidence);
  const std::string name(kLogLinksName);
  TRY(replace_file(disk, {directory, name, temporary_name(name)}, bytes));
  TRY_ASSIGN(auto file, disk.open(join_path(directory, name), OpenMode::kWrite));
  return LogLinks(std::move(file), bytes.size());
}

IoResult<void> LogLinks::add(const LogLink& link) {
  TRY_ASSIGN(const std::uint64_t size, file_->size());
  if (end_ + kLinkBytes > size) TRY(file_->allocate(size + kGrowBytes));
  TRY(file_->write_at(end_, encode(link)));
  end_ += kLinkBytes;
  return file_->sync();
}

IoResult<void> LogLinks::set_watermark(const Watermark& watermark) {
  return file_->write_at(kWatermarkOffset, encode(watermark));
}

}  // namespace drover::storage

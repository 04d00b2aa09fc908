// SPDX-License-Identifier: Apache-2.0
//
// A side file that Java ignores (`drover.links`). It holds facts that the log format has no room for:
//
// - For each log file: where its predecessor ended, and a hash of its content. Without this, a predecessor
//   that lost its tail looks like one that ended there, if the next file starts a new epoch.
// - How far the log was known to be durable. A break before that point is damage; a break after it is the
//   torn tail of a crash, because those records were never acknowledged.
//
// The file is evidence only. A directory that Java wrote has none, one that Java continued has less, and
// neither is damage. A log file without a link was written by another program; the watermark does not cover
// that file, so it is not applied.
//
//   sector 0   "DROVERLK" version:i32
//   sector 1   watermark: file:i64 durable:i64 check:i64, overwritten in place
//   then links of 40 bytes: file:i64 predecessor:i64 predecessor_end:i64 predecessor_chain:i64 check:i64
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "storage/disk.h"

namespace drover::storage {

inline constexpr std::string_view kLogLinksName = "drover.links";
// The predecessor of the very first log file.
inline constexpr Zxid kNoLog{-1};

// The end of a log file, which the next file links to.
struct LogTail {
  Zxid file = kNoLog;
  Zxid last = kNoLog;
  std::uint64_t chain = 0;
  friend bool operator==(const LogTail&, const LogTail&) = default;
};

struct LogLink {
  Zxid file{};
  LogTail predecessor;
  friend bool operator==(const LogLink&, const LogLink&) = default;
};

// Everything up to and including `durable` is synced and is in `file` or an earlier file. A log that was
// never synced has kNoLog. That is information too: a torn record in it was never acknowledged.
struct Watermark {
  Zxid file{};
  Zxid durable{};
  friend bool operator==(const Watermark&, const Watermark&) = default;
};

struct LogEvidence {
  std::vector<LogLink> links;
  std::optional<Watermark> watermark;

  const LogLink* link_of(Zxid file) const;
};

// Reads the side file. Skips missing or unreadable parts: missing evidence is not damage.
IoResult<LogEvidence> read_log_evidence(Disk& disk, const std::string& directory);

// The side file, open for the log writer.
class LogLinks {
 public:
  // Rewrites the file, durably. Keeps the links of log files that still exist. Replaces the old watermark by
  // `watermark`, because another program may have continued this log since.
  static IoResult<LogLinks> open(Disk& disk, const std::string& directory, const Watermark& watermark);

  // Durable when it returns, and so is the watermark.
  IoResult<void> add(const LogLink& link);
  // Not synced: after a power loss the watermark may be older than the log, but must never be ahead of it.
  IoResult<void> set_watermark(const Watermark& watermark);
  IoResult<void> sync() { return file_->sync(); }

 private:
  LogLinks(std::unique_ptr<File> file, std::uint64_t end) : file_(std::move(file)), end_(end) {}

  std::unique_ptr<File> file_;
  std::uint64_t end_;
};

}  // namespace drover::storage

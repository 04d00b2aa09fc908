// SPDX-License-Identifier: Apache-2.0
//
// What the log format cannot say about itself, in a side file that Java ignores (`drover.links`):
//
// - for each log file, where its predecessor ended and what it contained. Without it a predecessor that
//   lost its tail cannot be told from one that ended there, when the next file begins a new epoch;
// - how far the log was known to be durable. What breaks off before that is damage; what breaks off after
//   it was never acknowledged and is the torn tail of a crash.
//
// It is evidence only. A directory that Java wrote has none, one that Java continued has less, and neither
// is damage: a log file without a link was written by somebody else, and then the watermark, which knows
// nothing of it, says nothing.
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
// The predecessor of the first log file of all.
inline constexpr Zxid kNoLog{-1};

// The end of one log file, which the next one is linked to.
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

// Everything up to and including `durable` has been synced; it is in `file` or before it. A log that was
// never synced says kNoLog, which is knowledge too: what is torn then was never acknowledged.
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

// What the side file says. Missing or unreadable parts are left out: no evidence is not damage.
IoResult<LogEvidence> read_log_evidence(Disk& disk, const std::string& directory);

// The side file, open for the log writer.
class LogLinks {
 public:
  // Rewrites the file, durably: links that still concern a log file here, and the watermark given instead
  // of the old one, which may be from before somebody else went on with this log.
  static IoResult<LogLinks> open(Disk& disk, const std::string& directory, const Watermark& watermark);

  // Durable when it returns, and the watermark with it.
  IoResult<void> add(const LogLink& link);
  // Not synced: it may lag behind the truth after a power loss, and must never be ahead of it.
  IoResult<void> set_watermark(const Watermark& watermark);
  IoResult<void> sync() { return file_->sync(); }

 private:
  LogLinks(std::unique_ptr<File> file, std::uint64_t end) : file_(std::move(file)), end_(end) {}

  std::unique_ptr<File> file_;
  std::uint64_t end_;
};

}  // namespace drover::storage

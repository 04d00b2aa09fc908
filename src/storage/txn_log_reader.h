// SPDX-License-Identifier: Apache-2.0
//
// Reads the log across its files, in order, starting after a zxid that is already known.
//
// It never skips a gap. Java's reader takes a zero length, a short read or a bad trailer for the end of a
// file and continues with the next file; one zeroed sector then makes a server lead with half a tree. This
// reader accepts a break only if it is proven, or at least possible, that no acknowledged transaction is
// missing. Everything else is damage, reported with file, offset, zxid and reason:
//
//   break in an older file   fine if the next file continues right after it inside the epoch, or is linked
//                            to exactly this end; damage if complete records follow it or the link disagrees
//   break in the last file   torn tail if it is at or after the durable watermark; without a watermark,
//                            if no complete record follows it
//   log ends before the watermark, or a file is missing   damage
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/disk.h"
#include "storage/file_names.h"
#include "storage/log_file_reader.h"
#include "storage/log_links.h"

namespace drover::storage {

struct LogDamage {
  std::string file;
  std::uint64_t offset = 0;
  Zxid last_good{};  // the history is complete up to here
  std::string reason;

  std::string describe() const;
};

struct TornTail {
  std::string file;
  std::uint64_t offset = 0;
  bool records_beyond = false;  // complete records of the same unsynced batch follow the tear
};

struct LogReadOptions {
  Zxid after{};                 // already known: a snapshot's zxid. Older records and this one are skipped.
  std::optional<Zxid> until{};  // stop after it, and read nothing further
  bool from_device = false;     // bypass the page cache
  // Opens all files at once, those up to `until`, so that a purge takes away none of them. More are an error.
  std::optional<std::size_t> held_files_max{};
};

class TxnLogReader {
 public:
  static IoResult<TxnLogReader> open(Disk& disk, const std::string& directory, const LogReadOptions& options);

  // The next transaction, nothing at the end, or an error: either damage() (code 0, or the errno of the
  // failed read) or an unreadable directory. The entry is valid until the next call.
  IoResult<std::optional<LogRecord>> next();

  const std::optional<LogDamage>& damage() const { return damage_; }
  const std::optional<TornTail>& torn_tail() const { return torn_; }
  // An empty or header-less last file, left by a crash right after its creation.
  const std::optional<std::string>& leftover() const { return leftover_; }
  // Messages for the operator about cases in which nothing is lost.
  const std::vector<std::string>& findings() const { return findings_; }
  // The last known transaction: the last one read, or the starting point.
  Zxid last() const { return known_; }
  // After the end is reached: the end of the last file, for the writer that continues.
  const LogTail& tail() const { return tail_; }

 private:
  TxnLogReader(Disk& disk, std::string directory, const LogReadOptions& options);

  IoResult<void> hold_files();
  IoResult<LogFileReader> open_file(std::size_t index);
  IoResult<void> open_next_file();
  IoResult<void> check_link(const LogFile& file);
  IoResult<void> check_order(const LogRecord& record);
  IoResult<void> leave_file();
  IoResult<void> judge_older_break(const LogFileEnd& end);
  IoResult<void> judge_last_break(const LogFileEnd& end);
  IoResult<void> check_watermark();
  std::unexpected<IoError> fail(std::string reason, std::uint64_t offset, int code = 0);
  bool watermark_applies() const;
  const LogFile& current_file() const { return files_[next_file_ - 1]; }

  Disk* disk_;
  std::string directory_;
  LogReadOptions options_;
  std::vector<LogFile> files_;
  LogEvidence evidence_;
  std::size_t next_file_ = 0;                          // index of the file after the open one
  std::map<std::size_t, std::unique_ptr<File>> held_;  // by index
  std::optional<LogFileReader> reader_;
  bool finished_ = false;
  Zxid known_{};
  LogTail tail_;
  std::optional<LogDamage> damage_;
  std::optional<TornTail> torn_;
  std::optional<std::string> leftover_;
  std::vector<std::string> findings_;
};

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
//
// Reads the log across its files, in order, from a point of the history that is already known.
//
// It never jumps over a hole. Java's reader takes a zero length, a short read or a bad trailer for the end
// of a file and goes on with the next one; one zeroed sector then makes a server lead with half a tree.
// Here a break is accepted only where it is proved or at least possible that nothing acknowledged is
// missing, and everything else is damage, told with file, offset, zxid and reason:
//
//   break in an older file   fine if the next file continues right after it inside the epoch, or is linked
//                            to exactly this end; damage if whole records follow it or the link disagrees
//   break in the last file   torn tail if it lies at or behind the durable watermark; without a watermark,
//                            if no whole record follows it
//   end before the watermark, or a file, that should be there   damage
#pragma once

#include <cstdint>
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
  Zxid last_good{};  // the history is whole up to here
  std::string reason;

  std::string describe() const;
};

struct TornTail {
  std::string file;
  std::uint64_t offset = 0;
  bool records_beyond = false;  // whole records of the same unsynced batch lie behind the tear
};

struct LogReadOptions {
  Zxid after{};                 // known already: a snapshot's zxid. What is not newer is skipped.
  std::optional<Zxid> until{};  // stop behind it, and look at nothing further
  bool from_device = false;     // do not believe the page cache
};

class TxnLogReader {
 public:
  static IoResult<TxnLogReader> open(Disk& disk, const std::string& directory, const LogReadOptions& options);

  // The next transaction, nothing at the end, or an error: either damage() (code 0, or the errno of the
  // failed read) or a directory that cannot be read. The entry's bytes live until the next call.
  IoResult<std::optional<LogRecord>> next();

  const std::optional<LogDamage>& damage() const { return damage_; }
  const std::optional<TornTail>& torn_tail() const { return torn_; }
  // An empty or header-less last file, left by a crash right after its creation.
  const std::optional<std::string>& leftover() const { return leftover_; }
  // What is worth telling an operator although nothing is lost.
  const std::vector<std::string>& findings() const { return findings_; }
  // The last transaction known: read, or the starting point.
  Zxid last() const { return known_; }
  // Once the end was reached: the last file's end, for the writer that continues.
  const LogTail& tail() const { return tail_; }

 private:
  TxnLogReader(Disk& disk, std::string directory, const LogReadOptions& options);

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
  std::size_t next_file_ = 0;  // index of the file after the open one
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

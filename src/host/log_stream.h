// SPDX-License-Identifier: Apache-2.0
//
// Transactions from the log files to a learner that is behind what the leader has in memory.
//
// look() reads them once before anything is sent, because nothing that was sent can be taken back: is the
// learner's last transaction in the log, is everything after it there, and is that less than a snapshot?
// What send() appends is what the leader would send from memory: PROPOSAL and COMMIT for each transaction.
//
// The log may be written meanwhile: everything up to `until` is durable. Purge may remove files: look() opens
// all that are needed before it says that they are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "host/stream_pace.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/txn_log_reader.h"
#include "zab/effects.h"

namespace drover::host {

struct LogStreamOptions {
  storage::DataDirs dirs;
  // zookeeper.snapshotSizeFactor: the files from the one with the learner's last transaction on may have this
  // part of the size of the newest snapshot. 0: any size. Unlike Java's, reserved space does not count.
  double size_factor = 0.33;
  std::size_t piece_bytes = kStreamPieceBytes;
};

class LogStream {
 public:
  enum class Progress : std::uint8_t { kMore, kEnd, kFailed };

  // The disk outlives it.
  LogStream(storage::Disk& disk, LogStreamOptions options, const zab::LogRange& range);

  // Call it as long as there is more. kEnd: send() may begin. kFailed: the learner needs a snapshot.
  Progress look();
  // Appends the next piece. kFailed: the link must be closed.
  Progress send(std::string& out);
  // After kFailed.
  const std::string& why() const { return why_; }

 private:
  IoResult<void> begin_to_look();
  IoResult<void> open(std::optional<std::size_t> held_files_max);
  IoResult<bool> look_at_piece();
  IoResult<bool> send_piece(std::string& out);
  IoResult<storage::LogRecord> next();
  IoResult<void> check_size(std::uint64_t in_last_file) const;
  Progress progress(const IoResult<bool>& at_end);

  storage::Disk& disk_;
  LogStreamOptions options_;
  zab::LogRange range_;
  std::optional<storage::TxnLogReader> log_;
  bool has_begun_ = false;              // the log reader has read the learner's last transaction
  std::uint64_t limit_ = 0;             // of the size of the files; 0: none
  std::uint64_t in_earlier_files_ = 0;  // without the last one, which has reserved space
  Zxid last_file_{};
  std::uint64_t last_file_size_ = 0;
  std::uint64_t looked_at_ = 0;
  std::string why_;
};

}  // namespace drover::host

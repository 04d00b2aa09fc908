// SPDX-License-Identifier: Apache-2.0
//
// Reads one log file up to where it ends or breaks, and says which. It does not judge: whether a break is
// the torn tail of a crash or damage depends on what else is known (txn_log_reader.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/disk.h"
#include "storage/input_window.h"
#include "storage/log_format.h"
#include "storage/log_links.h"

namespace drover::storage {

struct LogRecord {
  Zxid zxid{};
  std::string_view entry;    // until the next read
  std::uint64_t offset = 0;  // of its frame in the file
};

// How a file ended. After a clean end only zeros follow, or nothing.
struct LogFileEnd {
  std::uint64_t offset = 0;  // behind the last whole record
  std::string broken;        // why it broke off there; empty when it ended cleanly
  int read_error = 0;        // errno when the device could not read
  bool no_header = false;    // shorter than a header, or zeros in its place
  // The highest zxid of whole records found behind the break: proof that it is not the end.
  std::optional<Zxid> beyond;

  bool clean() const { return broken.empty(); }
};

struct LogFileOptions {
  Zxid first{};              // as the file's name says; kNoLog when it has another name
  bool from_device = false;  // do not believe the page cache
};

class LogFileReader {
 public:
  static IoResult<LogFileReader> open(Disk& disk, const std::string& path, const LogFileOptions& options);

  // The next whole record, or nothing: then end() says why.
  std::optional<LogRecord> next();

  const LogFileEnd& end() const { return end_; }
  // What was read so far, as a successor would link to it.
  LogTail tail() const { return {first_, last_, chain_.value()}; }

 private:
  LogFileReader(std::unique_ptr<File> file, Zxid first, std::uint64_t size);

  bool read_header();
  std::optional<LogRecord> take(std::string_view frame);
  std::optional<LogRecord> at_zero_length();
  std::optional<LogRecord> finish(std::string broken, int read_error = 0,
                                  std::optional<std::uint64_t> offset = std::nullopt);

  std::unique_ptr<File> file_;
  std::unique_ptr<FileSource> source_;
  std::unique_ptr<InputWindow> window_;
  std::uint64_t size_ = 0;
  Zxid first_{};
  Zxid last_ = kNoLog;
  LogChain chain_;
  LogFileEnd end_;
  bool header_read_ = false;
  bool done_ = false;
  std::size_t pending_ = 0;  // frame given out by the last next(), consumed by the following one
};

struct RecordSearchRange {
  std::uint64_t from = 0;
  std::uint64_t size = 0;  // of the file
  Zxid last{};             // older records do not count
};

// The highest zxid of any whole record at or after `from`. When hostile bytes make the search too long it
// answers with the highest zxid there is: not knowing must count as knowing the worst.
IoResult<std::optional<Zxid>> find_records_beyond(File& file, const RecordSearchRange& range);

}  // namespace drover::storage

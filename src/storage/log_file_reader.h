// SPDX-License-Identifier: Apache-2.0
//
// Reads one log file up to its end or its first break, and reports which one it was. It does not decide
// whether a break is a crash's torn tail or damage: that depends on other evidence (txn_log_reader.h).
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
  std::string_view entry;    // valid until the next read
  std::uint64_t offset = 0;  // where its frame starts in the file
};

// How a file ended. A clean end is followed by zeros only, or by nothing.
struct LogFileEnd {
  std::uint64_t offset = 0;  // after the last complete record
  std::string broken;        // why reading stopped there; empty after a clean end
  int read_error = 0;        // errno if the device failed to read
  bool no_header = false;    // shorter than a header, or zeros in its place
  // The highest zxid of complete records found after the break: proof that the break is not the end.
  std::optional<Zxid> beyond;

  bool clean() const { return broken.empty(); }
};

struct LogFileOptions {
  Zxid first{};              // from the file's name; kNoLog if it has another name
  bool from_device = false;  // bypass the page cache
};

class LogFileReader {
 public:
  static IoResult<LogFileReader> open(Disk& disk, const std::string& path, const LogFileOptions& options);
  static IoResult<LogFileReader> open(std::unique_ptr<File> file, const LogFileOptions& options);

  // The next complete record, or nothing: then end() says why.
  std::optional<LogRecord> next();

  const LogFileEnd& end() const { return end_; }
  // The tail read so far, as a successor file would link to it.
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
  std::size_t pending_ = 0;  // size of the frame returned by the last next(); the following call consumes it
};

struct RecordSearchRange {
  std::uint64_t from = 0;
  std::uint64_t size = 0;  // file size
  Zxid last{};             // older records do not count
};

// Returns the highest zxid of any complete record at or after `from`. If hostile bytes make the search too
// long, returns the highest possible zxid: an unknown result counts as the worst case.
IoResult<std::optional<Zxid>> find_records_beyond(File& file, const RecordSearchRange& range);

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/log_file_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "storage/file_names.h"

namespace drover::storage {
namespace {

bool all_zero(std::string_view bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

constexpr std::size_t kScanBytes = std::size_t{1} << 20;

}  // namespace

LogFileReader::LogFileReader(std::unique_ptr<File> file, Zxid first, std::uint64_t size)
    : file_(std::move(file)),
      source_(std::make_unique<FileSource>(*file_)),
      window_(std::make_unique<InputWindow>(*source_)),
      size_(size),
      first_(first) {}

IoResult<LogFileReader> LogFileReader::open(Disk& disk, const std::string& path,
                                            const LogFileOptions& options) {
  TRY_ASSIGN(auto file, disk.open(path, OpenMode::kRead));
  return open(std::move(file), options);
}

IoResult<LogFileReader> LogFileReader::open(std::unique_ptr<File> file, const LogFileOptions& options) {
  if (options.from_device) file->drop_cache();
  TRY_ASSIGN(const std::uint64_t size, file->size());
  return LogFileReader(std::move(file), options.first, size);
}

std::optional<LogRecord> LogFileReader::next() {
  if (done_) return std::nullopt;
  if (!header_read_ && !read_header()) return std::nullopt;
  window_->consume(std::exchange(pending_, 0));

  const auto header = window_->need(kFrameHeaderBytes);
  if (!header) return finish("cannot be read: " + header.error().what, header.error().code);
  if (header->size() < kFrameHeaderBytes)
    return finish(all_zero(*header) ? "" : "the file ends inside a record");
  const std::int32_t length = wire::load_be<std::int32_t>(header->data() + 8);
  if (length == 0) return at_zero_length();
  const std::uint64_t room = size_ - std::min(size_, window_->position());
  if (length < 0 || static_cast<std::size_t>(length) < kEntryBytesMin)
    return finish("invalid length of a record");
  const std::size_t frame_bytes = static_cast<std::size_t>(length) + kFrameOverheadBytes;
  if (frame_bytes > room) return finish("a record runs past the end of the file");

  const auto frame = window_->need(frame_bytes);
  if (!frame) return finish("cannot be read: " + frame.error().what, frame.error().code);
  if (frame->size() < frame_bytes) return finish("the file ends inside a record");
  return take(frame->substr(0, frame_bytes));
}

std::optional<LogRecord> LogFileReader::take(std::string_view frame) {
  const std::string_view entry = frame.substr(kFrameHeaderBytes, frame.size() - kFrameOverheadBytes);
  const std::uint32_t checksum = adler32_of(entry);
  if (frame.back() != kEndOfRecord) return finish("a record has no end mark");
  if (wire::load_be<std::int64_t>(frame.data()) != checksum) return finish("checksum mismatch");
  const Zxid zxid = zxid_of_entry(entry);
  if (last_ == kNoLog && first_ != kNoLog && zxid != first_)
    return finish("the first record has zxid 0x" + hex(zxid));
  last_ = zxid;
  chain_.add(zxid, checksum, entry.size());
  pending_ = frame.size();
  return LogRecord{zxid, entry, window_->position()};
}

bool LogFileReader::read_header() {
  header_read_ = true;
  const auto header = window_->need(kLogHeaderBytes);
  if (!header) {
    finish("cannot be read: " + header.error().what, header.error().code);
    return false;
  }
  if (header->size() < kLogHeaderBytes || all_zero(header->substr(0, kLogHeaderBytes))) {
    end_.no_header = true;
    finish("missing file header");
    return false;
  }
  if (wire::load_be<std::int32_t>(header->data()) != kLogMagic) {
    finish("not a transaction log");
    return false;
  }
  window_->consume(kLogHeaderBytes);
  return true;
}

// A clean end if only zeros follow: the preallocated rest of the file.
std::optional<LogRecord> LogFileReader::at_zero_length() {
  const std::uint64_t offset = window_->position();
  for (;;) {
    const auto rest = window_->need(1);
    if (!rest) return finish("cannot be read: " + rest.error().what, rest.error().code, offset);
    if (rest->empty()) return finish("", 0, offset);
    if (!all_zero(*rest)) return finish("a record of length 0 is followed by data", 0, offset);
    window_->consume(rest->size());
  }
}

std::optional<LogRecord> LogFileReader::finish(std::string broken, int read_error,
                                               std::optional<std::uint64_t> offset) {
  done_ = true;
  end_.offset = offset.value_or(window_->position());
  end_.broken = std::move(broken);
  end_.read_error = read_error;
  if (!end_.clean()) {
    const auto beyond = find_records_beyond(*file_, {.from = end_.offset, .size = size_, .last = last_});
    if (beyond) {
      end_.beyond = *beyond;
    } else {
      end_.read_error = beyond.error().code;
    }
  }
  return std::nullopt;
}

// --- Searching for records after a break

namespace {

// Tries to parse a record at each byte after a break. The work is bounded: otherwise crafted bytes could
// delay a server's start for hours.
class RecordSearch {
 public:
  RecordSearch(File& file, const RecordSearchRange& range)
      : file_(file), range_(range), budget_(4 * range.size + (std::uint64_t{64} << 20)) {}

  IoResult<std::optional<Zxid>> run() {
    std::uint64_t at = range_.from;
    while (at + kEntryBytesMin + kFrameOverheadBytes <= range_.size) {
      TRY_ASSIGN(const std::string_view chunk, read(at, kScanBytes, chunk_));
      if (chunk.size() < kFrameHeaderBytes) break;
      TRY_ASSIGN(at, scan(chunk, at));
      if (exhausted_) return Zxid{std::numeric_limits<std::int64_t>::max()};
    }
    return found_;
  }

 private:
  // Tries every position of the chunk; returns where to continue.
  IoResult<std::uint64_t> scan(std::string_view chunk, std::uint64_t base) {
    std::size_t i = 0;
    for (; i + kFrameHeaderBytes <= chunk.size() && !exhausted_; ++i) {
      const std::size_t length = plausible_length(chunk.data() + i, base + i);
      if (length == 0) continue;
      TRY_ASSIGN(const bool whole, is_record(base + i, length));
      if (whole) return base + i + length + kFrameOverheadBytes;
    }
    return base + i;
  }

  std::size_t plausible_length(const char* frame, std::uint64_t at) const {
    if (wire::load_be<std::uint32_t>(frame) != 0) return 0;
    const std::int32_t length = wire::load_be<std::int32_t>(frame + 8);
    if (length < static_cast<std::int32_t>(kEntryBytesMin)) return 0;
    const std::size_t n = static_cast<std::size_t>(length);
    if (n > kRecordBytesMax || at + n + kFrameOverheadBytes > range_.size) return 0;
    return n;
  }

  IoResult<bool> is_record(std::uint64_t at, std::size_t length) {
    char mark = 0;
    TRY_ASSIGN(const std::size_t got, file_.read_at(at + kFrameHeaderBytes + length, &mark, 1));
    spend(kSectorCost);
    if (got != 1 || mark != kEndOfRecord || exhausted_) return false;
    spend(length);
    if (exhausted_) return false;
    TRY_ASSIGN(const std::string_view frame, read(at, length + kFrameHeaderBytes, candidate_));
    const std::string_view entry = frame.substr(kFrameHeaderBytes);
    if (entry.size() != length || wire::load_be<std::int64_t>(frame.data()) != adler32_of(entry))
      return false;
    const Zxid zxid = zxid_of_entry(entry);
    if (zxid > range_.last && (!found_ || zxid > *found_)) found_ = zxid;
    return true;
  }

  IoResult<std::string_view> read(std::uint64_t at, std::size_t n, std::string& into) {
    into.resize(std::min<std::uint64_t>(n, range_.size - at));
    TRY_ASSIGN(const std::size_t got, file_.read_at(at, into.data(), into.size()));
    return std::string_view(into).substr(0, got);
  }

  void spend(std::uint64_t bytes) {
    exhausted_ = exhausted_ || bytes > budget_;
    if (!exhausted_) budget_ -= bytes;
  }

  static constexpr std::uint64_t kSectorCost = 512;

  File& file_;
  RecordSearchRange range_;
  std::uint64_t budget_;
  bool exhausted_ = false;
  std::optional<Zxid> found_;
  std::string chunk_;
  std::string candidate_;
};

}  // namespace

IoResult<std::optional<Zxid>> find_records_beyond(File& file, const RecordSearchRange& range) {
  return RecordSearch(file, range).run();
}

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/txn_log_reader.h"

#include <algorithm>

#include "base/ensure.h"

namespace drover::storage {
namespace {

std::string in_hex(Zxid zxid) { return "0x" + hex(zxid); }

}  // namespace

std::string LogDamage::describe() const {
  std::string text = file.empty() ? "transaction log" : file + " at byte " + std::to_string(offset);
  return text + ": " + reason + " (the history is complete up to zxid " + in_hex(last_good) + ")";
}

TxnLogReader::TxnLogReader(Disk& disk, std::string directory, const LogReadOptions& options)
    : disk_(&disk), directory_(std::move(directory)), options_(options), known_(options.after) {}

IoResult<TxnLogReader> TxnLogReader::open(Disk& disk, const std::string& directory,
                                          const LogReadOptions& options) {
  TxnLogReader reader(disk, directory, options);
  TRY_ASSIGN(reader.files_, list_logs(disk, directory));
  TRY_ASSIGN(reader.evidence_, read_log_evidence(disk, directory));
  reader.next_file_ = index_of_file_with(reader.files_, drover::next(options.after));
  if (options.held_files_max) TRY(reader.hold_files());
  return reader;
}

IoResult<std::optional<LogRecord>> TxnLogReader::next() {
  if (damage_) return std::unexpected(data_error(damage_->describe()));
  // Read nothing after `until`: it may be half written.
  if (options_.until && known_ >= *options_.until) finished_ = true;
  while (!finished_) {
    if (!reader_) {
      if (next_file_ == files_.size()) {
        TRY(check_watermark());
        finished_ = true;
        break;
      }
      TRY(open_next_file());
    }
    if (const auto record = reader_->next()) {
      if (record->zxid <= options_.after) continue;
      if (options_.until && record->zxid > *options_.until) {
        finished_ = true;
        break;
      }
      TRY(check_order(*record));
      known_ = record->zxid;
      return record;
    }
    TRY(leave_file());
  }
  return std::nullopt;
}

IoResult<void> TxnLogReader::hold_files() {
  std::size_t end = files_.size();
  if (options_.until) end = std::min(end, index_of_file_with(files_, *options_.until) + 1);
  if (end - std::min(end, next_file_) > *options_.held_files_max)
    return std::unexpected(data_error("too many log files"));
  for (std::size_t i = next_file_; i < end; ++i) {
    TRY_ASSIGN(held_[i], disk_->open(join_path(directory_, files_[i].name), OpenMode::kRead));
  }
  return {};
}

IoResult<LogFileReader> TxnLogReader::open_file(std::size_t index) {
  const LogFile& file = files_[index];
  const LogFileOptions options{.first = file.first, .from_device = options_.from_device};
  if (auto held = held_.extract(index)) return LogFileReader::open(std::move(held.mapped()), options);
  return LogFileReader::open(*disk_, join_path(directory_, file.name), options);
}

IoResult<void> TxnLogReader::open_next_file() {
  const LogFile& file = files_[next_file_++];
  auto reader = open_file(next_file_ - 1);
  if (!reader) return fail("cannot be opened: " + reader.error().what, 0, reader.error().code);
  TRY(check_link(file));
  reader_.emplace(*std::move(reader));
  return {};
}

// The link of this file records what its writer knew about the previous file. It must match what we have
// read.
IoResult<void> TxnLogReader::check_link(const LogFile& file) {
  const LogLink* link = evidence_.link_of(file.first);
  if (!link) return {};
  const LogTail& before = link->predecessor;
  if (before.last > known_) {
    return fail(
        "written when the log reached zxid " + in_hex(before.last) + ", but the files before it end earlier",
        0);
  }
  if (before.file != tail_.file || tail_.file == kNoLog) return {};  // not read, or not written by us
  if (tail_.last > options_.after && before.last != tail_.last) {
    return fail("written when " + log_name(before.file) + " ended at zxid " + in_hex(before.last) +
                    ", but that file continues to " + in_hex(tail_.last),
                0);
  }
  if (before.last == tail_.last && before.chain != tail_.chain) {
    return fail(log_name(before.file) + " has changed since this file was started", 0);
  }
  return {};
}

IoResult<void> TxnLogReader::check_order(const LogRecord& record) {
  if (follows(known_, record.zxid)) return {};
  return fail("zxid " + in_hex(record.zxid) + " does not follow " + in_hex(known_), record.offset);
}

IoResult<void> TxnLogReader::leave_file() {
  const LogFileEnd end = reader_->end();
  const LogTail tail = reader_->tail();
  if (tail.last != kNoLog) tail_ = tail;
  reader_.reset();
  if (end.clean()) return {};
  return next_file_ == files_.size() ? judge_last_break(end) : judge_older_break(end);
}

// After a crash the log continues in a new file, so an older file may end in a torn record. The question is
// whether the next file continues from there.
IoResult<void> TxnLogReader::judge_older_break(const LogFileEnd& end) {
  const LogFile& successor = files_[next_file_];
  const auto accept = [&](const char* why) {
    findings_.push_back(current_file().name + " breaks off at byte " + std::to_string(end.offset) + " (" +
                        end.broken + "); " + why);
    return IoResult<void>{};
  };
  if (end.no_header) return fail(end.broken, end.offset, end.read_error);
  if (successor.first == drover::next(known_)) return accept("the next file continues from there");
  if (const LogLink* link = evidence_.link_of(successor.first)) {
    // check_link() compares all of it when the successor is opened.
    if (link->predecessor.last <= known_) return accept("it already did when the next file was started");
    return fail(end.broken, end.offset, end.read_error);
  }
  if (end.read_error != 0 || end.beyond > known_) return fail(end.broken, end.offset, end.read_error);
  return accept("no record follows");
}

IoResult<void> TxnLogReader::judge_last_break(const LogFileEnd& end) {
  const bool beyond = end.beyond > known_;
  if (end.read_error != 0) return fail(end.broken, end.offset, end.read_error);
  if (beyond && !(watermark_applies() && evidence_.watermark->durable <= known_)) {
    return fail(end.broken + ", and complete records follow up to zxid " + in_hex(*end.beyond), end.offset);
  }
  if (end.no_header && !beyond) {
    leftover_ = current_file().name;
    findings_.push_back(current_file().name + " is empty: a crash happened right after it was created");
    return {};
  }
  if (end.offset == 0) return fail(end.broken, end.offset);
  torn_ = TornTail{current_file().name, end.offset, beyond};
  findings_.push_back(current_file().name + " has a torn tail at byte " + std::to_string(end.offset) + " (" +
                      end.broken + "): the lost bytes were never acknowledged");
  return {};
}

IoResult<void> TxnLogReader::check_watermark() {
  if (!watermark_applies() || evidence_.watermark->durable <= known_) return {};
  return fail("the log was durable up to zxid " + in_hex(evidence_.watermark->durable) + " but ends earlier",
              torn_ ? torn_->offset : 0);
}

// If the newest file has no link and is not the watermark's file, another program wrote it. That program may
// also have truncated our records.
bool TxnLogReader::watermark_applies() const {
  if (!evidence_.watermark) return false;
  if (files_.empty()) return true;
  const Zxid newest = files_.back().first;
  return newest == evidence_.watermark->file || evidence_.link_of(newest) != nullptr;
}

std::unexpected<IoError> TxnLogReader::fail(std::string reason, std::uint64_t offset, int code) {
  damage_ = LogDamage{next_file_ > 0 ? current_file().name : "", offset, known_, std::move(reason)};
  return std::unexpected(IoError{code, damage_->describe()});
}

}  // namespace drover::storage

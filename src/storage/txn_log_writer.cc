// SPDX-License-Identifier: Apache-2.0
#include "storage/txn_log_writer.h"

#include <algorithm>
#include <cerrno>

#include "base/ensure.h"
#include "storage/file_names.h"

namespace drover::storage {
namespace {

// A new file gets this name until its first zxid is known.
const std::string& unnamed() {
  static const std::string name = temporary_name("log.next");
  return name;
}

constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kZerosAheadBytes = std::uint64_t{128} << 10;
constexpr std::size_t kSmallBatchBytes = std::size_t{32} << 10;
// The watermark is written after every sync, but synced only this often. This bounds how much of the
// acknowledged log is not covered by the watermark after a power loss.
constexpr std::uint64_t kWatermarkSyncBytes = std::uint64_t{4} << 20;

std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

TxnLogWriter::TxnLogWriter(Disk& disk, std::string directory, const LogTail& tail,
                           const TxnLogOptions& options, LogLinks links)
    : disk_(&disk),
      directory_(std::move(directory)),
      options_(options),
      links_(std::move(links)),
      predecessor_(tail) {}

IoResult<TxnLogWriter> TxnLogWriter::open(Disk& disk, const std::string& directory, const LogTail& tail,
                                          const TxnLogOptions& options) {
  if (tail.file != kNoLog) {
    // Recovery may have read from the page cache. The data counts from now on, so it must be durable.
    TRY_ASSIGN(const auto file, disk.open(join_path(directory, log_name(tail.file)), OpenMode::kWrite));
    TRY(file->sync());
  }
  TRY_ASSIGN(LogLinks links, LogLinks::open(disk, directory, {tail.file, tail.last}));
  return TxnLogWriter(disk, directory, tail, options, std::move(links));
}

IoResult<void> TxnLogWriter::append(const wire::TxnBatch& batch) {
  TRY(dead());
  if (batch.empty()) return {};
  ENSURE(batch.ends.back() == batch.bytes.size(), "a batch's ends cover its bytes");
  TRY(reserve(batch.bytes.size(), batch.ends.size()));
  if (!named_) TRY(name_file(batch.first));
  return write_batch(batch);
}

IoResult<void> TxnLogWriter::write_batch(const wire::TxnBatch& batch) {
  buffer_.clear();
  std::uint64_t start = 0;
  for (const std::uint64_t end : batch.ends) {
    const std::string_view entry = std::string_view(batch.bytes).substr(start, end - start);
    ENSURE(entry.size() >= kEntryBytesMin, "an entry begins with a transaction header");
    const Zxid zxid = zxid_of_entry(entry);
    ENSURE(last_appended_ == kNoLog || follows(last_appended_, zxid), "the log has no holes");
    append_frame(buffer_, entry, chain_);
    last_appended_ = zxid;
    start = end;
  }
  ENSURE(last_appended_ == batch.last, "a batch ends with its last zxid");
  unsynced_ = true;
  const std::size_t bytes = buffer_.size();
  add_zeros_behind_small_batch();
  TRY(kill(file_->write_at(position_, buffer_)));
  position_ += bytes;
  watermark_bytes_ += bytes;
  txns_ += batch.ends.size();
  return {};
}

// The first write into a block that is only reserved changes the file's metadata, so its sync must commit the
// file system's journal: on ext4 this takes half as long again as a sync of data alone (docs/performance.md,
// "The log's sync"). Therefore a small batch also writes zeros into some blocks after it, and the next syncs
// are short. A large batch would use those blocks up at once.
void TxnLogWriter::add_zeros_behind_small_batch() {
  const std::uint64_t end = position_ + buffer_.size();
  if (end <= written_) return;
  written_ = end;
  if (buffer_.size() > kSmallBatchBytes) return;
  written_ = std::max(end, std::min(allocated_, round_up(end + kZerosAheadBytes, kBlockBytes)));
  buffer_.resize(static_cast<std::size_t>(written_ - position_), '\0');
}

IoResult<void> TxnLogWriter::sync() {
  TRY(dead());
  if (!unsynced_) return {};
  if (options_.force_sync) {
    TRY(kill(file_->sync()));
    TRY(kill(links_.set_watermark({file_first_, last_appended_})));
    if (watermark_bytes_ >= kWatermarkSyncBytes) {
      TRY(kill(links_.sync()));
      watermark_bytes_ = 0;
    }
  }
  unsynced_ = false;
  last_durable_ = last_appended_;
  if (options_.size_limit_bytes > 0 && position_ > options_.size_limit_bytes) roll();
  return {};
}

void TxnLogWriter::roll() {
  if (file_ && named_) roll_due_ = true;
  txns_ = 0;
}

IoResult<void> TxnLogWriter::reserve(std::uint64_t entry_bytes, std::uint64_t entries) {
  TRY(dead());
  if (roll_due_) TRY(finish_file());
  if (!file_) TRY(begin_file());
  return grow(position_ + entry_bytes + entries * kFrameOverheadBytes);
}

bool TxnLogWriter::has_room(std::uint64_t entry_bytes, std::uint64_t entries) const {
  return file_ && named_ && !roll_due_ &&
         position_ + entry_bytes + entries * kFrameOverheadBytes + kFrameHeaderBytes <= allocated_;
}

IoResult<void> TxnLogWriter::begin_file() {
  const auto give_up = [this](IoError error) -> IoResult<void> {
    file_.reset();
    if (error.code != ENOSPC) failed_ = true;
    (void)disk_->unlink(join_path(directory_, unnamed()));  // its blocks are needed elsewhere
    return std::unexpected(std::move(error));
  };
  auto created = disk_->open(join_path(directory_, unnamed()), OpenMode::kCreate);
  if (!created) return give_up(created.error());
  file_ = *std::move(created);
  named_ = false;
  allocated_ = 0;
  written_ = 0;
  position_ = kLogHeaderBytes;
  if (auto grown = grow(kLogHeaderBytes); !grown) return give_up(grown.error());
  std::string header;
  append_log_header(header);
  if (auto written = file_->write_at(0, header); !written) return give_up(written.error());
  TRY(kill(file_->sync()));
  return {};
}

IoResult<void> TxnLogWriter::name_file(Zxid first) {
  // The link is durable before the name: without a link, our own file would look like another program's.
  if (auto linked = links_.add({first, predecessor_}); !linked) {
    if (linked.error().code != ENOSPC) failed_ = true;
    return linked;
  }
  watermark_bytes_ = 0;
  TRY(kill(disk_->rename(join_path(directory_, unnamed()), join_path(directory_, log_name(first)))));
  TRY(kill(disk_->sync_directory(directory_)));
  named_ = true;
  file_first_ = first;
  chain_ = {};
  return {};
}

IoResult<void> TxnLogWriter::finish_file() {
  // Free the unused blocks; they are allocated, not the holes of a sparse file.
  TRY(kill(file_->truncate(position_)));
  TRY(kill(file_->sync()));
  TRY(kill(links_.set_watermark({file_first_, last_appended_})));
  unsynced_ = false;
  last_durable_ = last_appended_;
  predecessor_ = tail();
  file_.reset();
  named_ = false;
  roll_due_ = false;
  return {};
}

// Zeros always follow the last record, so that a concurrent reader finds the end. On a nearly full disk the
// large allocation may fail while the small one still fits.
IoResult<void> TxnLogWriter::grow(std::uint64_t needed) {
  needed += kFrameHeaderBytes;
  if (needed <= allocated_) return {};
  const std::uint64_t modest = round_up(needed, kBlockBytes);
  std::uint64_t size = modest;
  if (options_.preallocate_bytes > 0) {
    const std::uint64_t base = std::max<std::uint64_t>(allocated_, kLogHeaderBytes);
    size = base + round_up(needed - std::min(base, needed) + 1, options_.preallocate_bytes);
  }
  auto grown = file_->allocate(size);
  if (!grown && grown.error().code == ENOSPC && modest < size) {
    size = modest;
    grown = file_->allocate(size);
  }
  if (grown) {
    allocated_ = size;
  } else if (grown.error().code != ENOSPC) {
    failed_ = true;
  }
  return grown;
}

LogTail TxnLogWriter::tail() const {
  if (!file_ || !named_) return predecessor_;
  return {file_first_, last_appended_, chain_.value()};
}

IoResult<void> TxnLogWriter::dead() const {
  if (!failed_) return {};
  return std::unexpected(io_error(EIO, "the transaction log failed earlier and must not be used again"));
}

template <class T>
IoResult<T> TxnLogWriter::kill(IoResult<T> result) {
  if (!result) failed_ = true;
  return result;
}

}  // namespace drover::storage

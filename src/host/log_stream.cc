// SPDX-License-Identifier: Apache-2.0
#include "host/log_stream.h"

#include <utility>

#include "storage/file_names.h"
#include "wire/quorum.h"

namespace drover::host {
namespace {

// As many files are open at a time. With more, a snapshot is cheaper.
constexpr std::size_t kHeldFilesMax = 64;
// The learner hears nothing while the log is read for the first time, and its patience ends with initLimit.
// What comes after this is trusted to be there; if it is not, the link is closed, and the learner gets a
// snapshot.
constexpr std::uint64_t kLookedAtMax = std::uint64_t{256} << 20;

IoResult<std::uint64_t> size_of_file(storage::Disk& disk, const std::string& directory,
                                     const std::string& name) {
  TRY_ASSIGN(const auto file, disk.open(storage::join_path(directory, name), storage::OpenMode::kRead));
  return file->size();
}

}  // namespace

LogStream::LogStream(storage::Disk& disk, LogStreamOptions options, const zab::LogRange& range)
    : disk_(disk), options_(std::move(options)), range_(range) {}

LogStream::Progress LogStream::progress(const IoResult<bool>& at_end) {
  if (at_end) return *at_end ? Progress::kEnd : Progress::kMore;
  why_ = at_end.error().what;
  log_.reset();
  return Progress::kFailed;
}

LogStream::Progress LogStream::look() { return progress(look_at_piece()); }

LogStream::Progress LogStream::send(std::string& out) { return progress(send_piece(out)); }

IoResult<void> LogStream::begin_to_look() {
  TRY_ASSIGN(const auto snapshots, storage::list_snapshots(disk_, options_.dirs.snapshots));
  if (!snapshots.empty()) {
    TRY_ASSIGN(const std::uint64_t size, size_of_file(disk_, options_.dirs.snapshots, snapshots.back().name));
    limit_ = static_cast<std::uint64_t>(static_cast<double>(size) * options_.size_factor);
  }
  TRY_ASSIGN(const auto logs, storage::list_logs(disk_, options_.dirs.logs));
  if (logs.empty()) return std::unexpected(data_error("there is no log"));
  const std::size_t last = storage::index_of_file_with(logs, range_.until);
  for (std::size_t i = storage::index_of_file_with(logs, range_.after); i < last; ++i) {
    TRY_ASSIGN(const std::uint64_t size, size_of_file(disk_, options_.dirs.logs, logs[i].name));
    in_earlier_files_ += size;
  }
  last_file_ = logs[last].first;
  TRY_ASSIGN(last_file_size_, size_of_file(disk_, options_.dirs.logs, logs[last].name));
  TRY(check_size(0));
  return open(std::nullopt);
}

// The first transaction that the reader returns must be the learner's last one.
IoResult<void> LogStream::open(std::optional<std::size_t> held_files_max) {
  TRY_ASSIGN(log_, storage::TxnLogReader::open(disk_, options_.dirs.logs,
                                               {.after = Zxid{raw(range_.after) - 1},
                                                .until = range_.until,
                                                .held_files_max = held_files_max}));
  has_begun_ = false;
  return {};
}

IoResult<void> LogStream::check_size(std::uint64_t in_last_file) const {
  if (limit_ == 0 || in_earlier_files_ + in_last_file <= limit_) return {};
  return std::unexpected(
      data_error("it is larger than " + std::to_string(limit_) +
                 " bytes, the part of the newest snapshot that snapshotSizeFactor allows"));
}

IoResult<storage::LogRecord> LogStream::next() {
  TRY_ASSIGN(const auto record, log_->next());
  if (!record)
    return std::unexpected(data_error("the log ends too early, at 0x" + storage::hex(log_->last())));
  if (!std::exchange(has_begun_, true) && record->zxid != range_.after)
    return std::unexpected(data_error("0x" + storage::hex(range_.after) + " is not in the log"));
  return *record;
}

IoResult<bool> LogStream::look_at_piece() {
  if (!log_) TRY(begin_to_look());
  for (std::uint64_t bytes = 0; bytes < options_.piece_bytes;) {
    TRY_ASSIGN(const storage::LogRecord record, next());
    bytes += record.entry.size();
    looked_at_ += record.entry.size();
    if (record.zxid >= last_file_) TRY(check_size(record.offset + record.entry.size()));
    if (looked_at_ >= kLookedAtMax) TRY(check_size(last_file_size_));
    if (record.zxid == range_.until || looked_at_ >= kLookedAtMax) {
      TRY(open(kHeldFilesMax));
      return true;
    }
  }
  return false;
}

IoResult<bool> LogStream::send_piece(std::string& out) {
  const std::size_t begin = out.size();
  while (out.size() - begin < options_.piece_bytes) {
    TRY_ASSIGN(const storage::LogRecord record, next());
    if (record.zxid == range_.after) continue;
    wire::append_packet(out, wire::PacketType::kProposal, record.zxid, record.entry);
    wire::append_packet(out, wire::PacketType::kCommit, record.zxid);
    if (record.zxid == range_.until) return true;
  }
  return false;
}

}  // namespace drover::host

// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/text.h"
#include "storage/file_names.h"

namespace drover::storage {
namespace {

constexpr std::size_t kEpochFileBytesMax = 64;

std::string name_of(EpochFile which) {
  return which == EpochFile::kCurrent ? "currentEpoch" : "acceptedEpoch";
}

std::string temporary_of(EpochFile which) { return name_of(which) + ".tmp"; }

// Java reads only the first line.
std::string_view first_line(std::string_view text) { return trimmed(text.substr(0, text.find('\n'))); }

// Reads the epoch from the file. If the file does not exist, creates it with `otherwise`.
IoResult<std::uint32_t> read_or_make(Disk& disk, const std::string& directory, EpochFile which,
                                     std::uint32_t otherwise) {
  TRY_ASSIGN(const std::optional<std::uint32_t> epoch, read_epoch(disk, directory, which));
  if (epoch) return *epoch;
  TRY(write_epoch(disk, directory, which, otherwise));
  return otherwise;
}

}  // namespace

IoResult<std::optional<std::uint32_t>> read_epoch(Disk& disk, const std::string& directory, EpochFile which) {
  const std::string path = join_path(directory, name_of(which));
  const auto bytes = read_file(disk, path, kEpochFileBytesMax);
  if (!bytes && bytes.error().code == ENOENT) return std::nullopt;
  if (!bytes) return std::unexpected(bytes.error());
  const std::string_view text = first_line(trimmed(*bytes));
  std::uint32_t epoch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::unexpected(data_error(path + " does not hold an epoch"));
  }
  return epoch;
}

IoResult<std::uint64_t> read_history_id(Disk& disk, const std::string& directory) {
  const auto bytes = read_file(disk, join_path(directory, name_of(EpochFile::kCurrent)), kEpochFileBytesMax);
  if (!bytes && bytes.error().code == ENOENT) return 0;
  if (!bytes) return std::unexpected(bytes.error());
  const std::size_t end = bytes->find('\n');
  if (end == std::string::npos) return 0;
  const std::string_view text = trimmed(std::string_view(*bytes).substr(end));
  std::uint64_t id = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return error == std::errc{} && at == text.data() + text.size() ? id : 0;
}

IoResult<void> write_epoch(Disk& disk, const std::string& directory, EpochFile which, std::uint32_t epoch,
                           std::uint64_t history_id) {
  std::string text = std::to_string(epoch);
  if (history_id != 0) text += "\n" + hex(Zxid{static_cast<std::int64_t>(history_id)}) + "\n";
  return replace_file(disk, {directory, name_of(which), temporary_of(which)}, text);
}

IoResult<Epochs> load_epochs(Disk& disk, const std::string& directory, Zxid last) {
  const std::uint32_t logged = last < Zxid{0} ? 0 : epoch_of(last);
  Epochs epochs;
  TRY_ASSIGN(epochs.current, read_or_make(disk, directory, EpochFile::kCurrent, logged));
  TRY_ASSIGN(epochs.accepted,
             read_or_make(disk, directory, EpochFile::kAccepted, std::max(logged, epochs.current)));
  TRY_ASSIGN(epochs.history_id, read_history_id(disk, directory));
  if (epochs.accepted < epochs.current) {
    return std::unexpected(data_error("acceptedEpoch " + std::to_string(epochs.accepted) + " in " +
                                      directory + " is older than currentEpoch " +
                                      std::to_string(epochs.current)));
  }
  if (logged <= epochs.current) return epochs;

  // A learner makes the leader's history durable before it writes currentEpoch. A crash in between leaves
  // transactions of an epoch that the learner has accepted. A learner that has them also has all earlier
  // ones, so it may adopt that epoch.
  TRY_ASSIGN(const bool interrupted, disk.exists(join_path(directory, temporary_of(EpochFile::kCurrent))));
  if (epochs.accepted < logged && !interrupted) {
    return std::unexpected(data_error("currentEpoch " + std::to_string(epochs.current) + " in " + directory +
                                      " is older than the last transaction's epoch " +
                                      std::to_string(logged)));
  }
  if (epochs.accepted < logged) TRY(write_epoch(disk, directory, EpochFile::kAccepted, logged));
  TRY(write_epoch(disk, directory, EpochFile::kCurrent, logged));
  epochs.findings.push_back("currentEpoch was " + std::to_string(epochs.current) +
                            " and is raised to the last transaction's epoch " + std::to_string(logged));
  epochs.current = logged;
  // The leader of these transactions had a history id, but the learner did not write it yet.
  epochs.history_id = 0;
  epochs.accepted = std::max(epochs.accepted, logged);
  return epochs;
}

}  // namespace drover::storage

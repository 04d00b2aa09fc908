// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace drover::storage {
namespace {

constexpr std::size_t kEpochFileBytesMax = 64;

std::string name_of(EpochFile which) {
  return which == EpochFile::kCurrent ? "currentEpoch" : "acceptedEpoch";
}

std::string temporary_of(EpochFile which) { return name_of(which) + ".tmp"; }

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

// The epoch of the file, or of the last transaction where the file has never been written.
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
  const std::string_view text = trimmed(*bytes);
  std::uint32_t epoch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::unexpected(data_error(path + " does not hold an epoch"));
  }
  return epoch;
}

IoResult<void> write_epoch(Disk& disk, const std::string& directory, EpochFile which, std::uint32_t epoch) {
  return replace_file(disk, {directory, name_of(which), temporary_of(which)}, std::to_string(epoch));
}

IoResult<Epochs> load_epochs(Disk& disk, const std::string& directory, Zxid last) {
  const std::uint32_t logged = last < Zxid{0} ? 0 : epoch_of(last);
  Epochs epochs;
  TRY_ASSIGN(epochs.current, read_or_make(disk, directory, EpochFile::kCurrent, logged));
  TRY_ASSIGN(epochs.accepted,
             read_or_make(disk, directory, EpochFile::kAccepted, std::max(logged, epochs.current)));
  if (epochs.accepted < epochs.current) {
    return std::unexpected(data_error("acceptedEpoch " + std::to_string(epochs.accepted) + " in " +
                                      directory + " is older than currentEpoch " +
                                      std::to_string(epochs.current)));
  }
  if (logged <= epochs.current) return epochs;

  // A learner makes the leader's history durable before it writes currentEpoch; a crash in between leaves
  // transactions of an epoch that it had accepted. Having them, it has all before them: it may say so.
  TRY_ASSIGN(const bool interrupted, disk.exists(join_path(directory, temporary_of(EpochFile::kCurrent))));
  if (epochs.accepted < logged && !interrupted) {
    return std::unexpected(data_error("currentEpoch " + std::to_string(epochs.current) + " in " + directory +
                                      " is older than the last transaction's epoch " +
                                      std::to_string(logged)));
  }
  if (epochs.accepted < logged) TRY(write_epoch(disk, directory, EpochFile::kAccepted, logged));
  TRY(write_epoch(disk, directory, EpochFile::kCurrent, logged));
  epochs.findings.push_back("currentEpoch was " + std::to_string(epochs.current) +
                            " and is brought up to the last transaction's epoch " + std::to_string(logged));
  epochs.current = logged;
  epochs.accepted = std::max(epochs.accepted, logged);
  return epochs;
}

}  // namespace drover::storage

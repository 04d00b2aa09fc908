// SPDX-License-Identifier: Apache-2.0
//
// File names in a data directory: `log.<zxid>` starts with that transaction; `snapshot.<zxid>` was started
// when that transaction was the last one applied. Lower-case hex without leading zeros.
//
// Temporary files start with "tmp.": Java takes every name that starts with "log." or "snapshot." for one of
// its own, whatever follows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/compression.h"
#include "storage/disk.h"

namespace drover::storage {

struct LogFile {
  Zxid first{};
  std::string name;
};

// Returns the index of the file that would hold this transaction: the last one that starts at or before
// `zxid`, or else the first one. `logs` is sorted by zxid.
std::size_t index_of_file_with(const std::vector<LogFile>& logs, Zxid zxid);

struct SnapshotFile {
  Zxid zxid{};
  Compression compression = Compression::kNone;
  std::string name;
};

std::string hex(Zxid zxid);
std::string log_name(Zxid first);
std::string snapshot_name(Zxid zxid, Compression compression);
std::string temporary_name(std::string_view name);
bool is_temporary(std::string_view name);
// The name of a leader's snapshot that is complete, but waits until the old history is moved away.
std::string incoming_name(std::string_view name);
// The final name of such a snapshot.
std::optional<std::string> parse_incoming_name(std::string_view name);

std::optional<LogFile> parse_log_name(std::string_view name);
std::optional<SnapshotFile> parse_snapshot_name(std::string_view name);

// Sorted by zxid. Empty if the directory does not exist.
IoResult<std::vector<LogFile>> list_logs(Disk& disk, const std::string& directory);
IoResult<std::vector<SnapshotFile>> list_snapshots(Disk& disk, const std::string& directory);

}  // namespace drover::storage

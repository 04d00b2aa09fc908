// SPDX-License-Identifier: Apache-2.0
//
// Names of the files of a data directory: `log.<zxid>` begins with that transaction, `snapshot.<zxid>` was
// begun when that one was the last applied. Lower-case hex without leading zeros.
//
// Temporary files begin with "tmp.": Java takes any name that begins with "log." or "snapshot." for one of
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

// Which of the files, in rising order, would hold this transaction: the last one that begins no later; or the
// first.
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
// Of a leader's snapshot that is whole, but waits for the old history to be put away.
std::string incoming_name(std::string_view name);
// The name that it gets then.
std::optional<std::string> parse_incoming_name(std::string_view name);

std::optional<LogFile> parse_log_name(std::string_view name);
std::optional<SnapshotFile> parse_snapshot_name(std::string_view name);

// In rising order of zxid. A directory that does not exist has none.
IoResult<std::vector<LogFile>> list_logs(Disk& disk, const std::string& directory);
IoResult<std::vector<SnapshotFile>> list_snapshots(Disk& disk, const std::string& directory);

}  // namespace drover::storage

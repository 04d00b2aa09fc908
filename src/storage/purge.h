// SPDX-License-Identifier: Apache-2.0
//
// Deletes history that no recovery needs: snapshots older than the retained ones, and the logs that only
// those snapshots needed. A snapshot counts only after it was read completely: three corrupt ones are no
// reason to delete the fourth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/data_dir.h"
#include "storage/disk.h"

namespace drover::storage {

struct PurgeOptions {
  std::size_t retain = 3;  // autopurge.snapRetainCount
  // Retain fewer snapshots, but at least one, if snapshots and logs together exceed this size.
  std::optional<std::uint64_t> bytes_max{};
};

struct PurgeReport {
  std::vector<std::string> removed;   // paths
  std::vector<std::string> findings;  // snapshots that do not verify
};

// Size of all snapshots and logs together.
IoResult<std::uint64_t> history_bytes(Disk& disk, const DataDirs& dirs);

// Safe while the log is being written: the newest log is never touched.
IoResult<PurgeReport> purge(Disk& disk, const DataDirs& dirs, const PurgeOptions& options);

}  // namespace drover::storage

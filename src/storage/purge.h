// SPDX-License-Identifier: Apache-2.0
//
// Deletes history that no recovery will need: snapshots older than the ones kept, and the logs that only
// those needed. Counts a snapshot only after reading it whole: three corrupt ones are no reason to delete
// the fourth.
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
  // Keep fewer, but at least one, when snapshots and logs together are larger than this.
  std::optional<std::uint64_t> bytes_max{};
};

struct PurgeReport {
  std::vector<std::string> removed;   // paths
  std::vector<std::string> findings;  // snapshots that do not verify
};

// All snapshots and logs together.
IoResult<std::uint64_t> history_bytes(Disk& disk, const DataDirs& dirs);

// May run while the log is being written: the newest log is never touched.
IoResult<PurgeReport> purge(Disk& disk, const DataDirs& dirs, const PurgeOptions& options);

}  // namespace drover::storage

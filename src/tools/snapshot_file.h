// SPDX-License-Identifier: Apache-2.0
//
// The snapshot that an argument means: a file of any name, or the newest one of a data directory.
#pragma once

#include <string>

#include "storage/file_names.h"
#include "storage/snapshot_format.h"
#include "tools/context.h"

namespace drover::tools {

struct SnapshotPlace {
  std::string directory;
  storage::SnapshotFile file;
  bool has_zxid = true;  // false: its name does not tell, and file.zxid is 0
  std::uint64_t bytes = 0;
};

IoResult<SnapshotPlace> find_snapshot(const Context& context, const std::string& source);
// This one. Whether it is compressed, its first bytes say, not the name.
IoResult<SnapshotPlace> snapshot_at(storage::Disk& disk, const std::string& directory,
                                    const std::string& name);

// Reads it whole, with progress. Errors begin with the file's path.
IoResult<storage::SnapshotInfo> read_snapshot(const Context& context, const SnapshotPlace& place,
                                              storage::SnapshotSink& sink);

}  // namespace drover::tools

// SPDX-License-Identifier: Apache-2.0
//
// Finds the snapshot for an argument: a file with any name, or the newest one of a data directory.
#pragma once

#include <string>

#include "storage/file_names.h"
#include "storage/snapshot_format.h"
#include "tools/context.h"

namespace drover::tools {

struct SnapshotPlace {
  std::string directory;
  storage::SnapshotFile file;
  bool has_zxid = true;  // false: the name has no zxid, and file.zxid is 0
  std::uint64_t bytes = 0;
};

IoResult<SnapshotPlace> find_snapshot(const Context& context, const std::string& source);
// Opens this file. Compression is detected by its first bytes, not by its name.
IoResult<SnapshotPlace> snapshot_at(storage::Disk& disk, const std::string& directory,
                                    const std::string& name);

// Reads all of it, with progress. Errors begin with the file's path.
IoResult<storage::SnapshotInfo> read_snapshot(const Context& context, const SnapshotPlace& place,
                                              storage::SnapshotSink& sink);

}  // namespace drover::tools

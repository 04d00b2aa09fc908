// SPDX-License-Identifier: Apache-2.0
//
// Truncates the history: a leader told us that our transactions after some zxid were never committed.
//
// The order of the steps ensures that a crash at any point leaves a shorter, complete history: first it
// removes snapshots that reach too far, then later log files from the newest backwards, then the tail of the
// last one.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/log_links.h"

namespace drover::storage {

struct TruncateReport {
  Zxid last{};  // the new end of the history: the requested zxid
  LogTail tail;
  std::vector<std::string> removed;
};

// Removes everything after `zxid`. No writer may be open. Fails, with nothing changed, if `zxid` was never
// logged or if no snapshot remains that the kept log continues from; then only a complete new snapshot helps.
// After any other failure the process must end, and a restart finds a complete history.
IoResult<TruncateReport> truncate_history(Disk& disk, const DataDirs& dirs, Zxid zxid);

}  // namespace drover::storage

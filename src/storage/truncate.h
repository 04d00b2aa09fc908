// SPDX-License-Identifier: Apache-2.0
//
// Takes history back: a leader told us that what we logged after some transaction was never agreed on.
//
// In an order in which every state that a crash can leave is a shorter, whole history: snapshots that
// reach too far first, then later log files from the newest backwards, then the tail of the last one.
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
  Zxid last{};  // the history's end now: the point asked for
  LogTail tail;
  std::vector<std::string> removed;
};

// Removes everything after `zxid`. No writer may be open. Fails, with nothing changed, when it was
// never logged or no snapshot remains that the kept log continues from; then only a whole new snapshot can
// help. After any other failure the process must end, and a restart finds a whole history.
IoResult<TruncateReport> truncate_history(Disk& disk, const DataDirs& dirs, Zxid zxid);

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
//
// Sets aside a history that is damaged or not the leader's, so that another one can replace it.
//
// Files are moved one by one, and a power loss may undo any of the moves. This can leave an older snapshot
// with some logs, which looks complete but is not. Therefore the replacing mark (data_dir.h) is durable
// before the first move and changes only after the last move is durable.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/file_names.h"

namespace drover::storage {

// True if there is any log or snapshot, valid or not.
IoResult<bool> has_history(Disk& disk, const DataDirs& dirs);

// Moves every log and snapshot into a directory `set-aside.<n>` beside them, or into two directories with the
// same number if logs and snapshots are in different directories. Returns the created directories; none if
// there is no history.
//
// If interrupted, it leaves a directory that recovery calls damaged. If done, it leaves an empty directory
// that may not start on its own. It removes an initialize mark, because the mark refers to an earlier time.
// Epoch files stay: promises outlive data.
IoResult<std::vector<std::string>> set_aside_history(Disk& disk, const DataDirs& dirs);

// The snapshot with the incoming name replaces all history here, however far a crash interrupted an earlier
// attempt. It sets the mark kIncoming and removes it at the end; while the mark is set, recovery would do the
// same work.
IoResult<void> complete_replacement(Disk& disk, const DataDirs& dirs);
// Gives a received snapshot, which is a synced file, its incoming name. Removes an earlier incoming snapshot.
// Nothing else changes before the mark is set.
IoResult<void> keep_sent_snapshot(Disk& disk, const DataDirs& dirs, const std::string& file,
                                  const std::string& snapshot);
// Finds such a snapshot: `name` is its current (incoming) name, `zxid` the one of its final name.
IoResult<std::optional<SnapshotFile>> find_incoming_snapshot(Disk& disk, const DataDirs& dirs);
// Deletes such a snapshot, for which no mark was set.
IoResult<void> remove_incoming(Disk& disk, const DataDirs& dirs);

// Deletes the history files in this set-aside directory. Other files in it stay.
IoResult<void> remove_set_aside(Disk& disk, const std::string& directory);

// Deletes all but the newest `keep` set-aside histories.
IoResult<void> remove_old_set_aside(Disk& disk, const DataDirs& dirs, std::size_t keep);

}  // namespace drover::storage

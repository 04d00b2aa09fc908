// SPDX-License-Identifier: Apache-2.0
//
// Puts a history away that is damaged or not the leader's, so that another can take its place.
//
// Files are moved one by one, and a power loss may undo any of the moves: an older snapshot with some logs
// can be left, which looks whole and is not. Hence the mark of data_dir.h, durable before the first move
// and changed only after the last one is.
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

// Whether there is any log or snapshot, whatever its state.
IoResult<bool> has_history(Disk& disk, const DataDirs& dirs);

// Moves every log and snapshot into a directory `set-aside.<n>` beside them: one, or two with the same
// number when logs and snapshots live apart. Returns those that were made, none without any history.
//
// Half done, it leaves what recovery calls damaged; done, an empty directory that may not start on its own.
// An initialize mark, which spoke of another time, is used up. Epoch files stay: promises outlive data.
IoResult<std::vector<std::string>> set_aside_history(Disk& disk, const DataDirs& dirs);

// The snapshot that has come under its incoming name takes the place of all history here, whatever of that a
// crash has left to do. From the mark kIncoming on, which it sets and removes, recovery would do the same.
IoResult<void> complete_replacement(Disk& disk, const DataDirs& dirs);
// Gives a snapshot that somebody has sent, a file that is synced, its incoming name: what waited under such a
// one goes. Nothing else changes before it is marked.
IoResult<void> keep_sent_snapshot(Disk& disk, const DataDirs& dirs, const std::string& file,
                                  const std::string& snapshot);
// Such a snapshot, under the name that it has now and with the zxid that it will be known by.
IoResult<std::optional<SnapshotFile>> find_incoming_snapshot(Disk& disk, const DataDirs& dirs);
// Deletes such a snapshot, which was never marked.
IoResult<void> remove_incoming(Disk& disk, const DataDirs& dirs);

// Deletes what was set aside in this directory. Where somebody keeps other things too, those stay.
IoResult<void> remove_set_aside(Disk& disk, const std::string& directory);

// Deletes what was set aside before the newest `keep` times.
IoResult<void> remove_old_set_aside(Disk& disk, const DataDirs& dirs, std::size_t keep);

}  // namespace drover::storage

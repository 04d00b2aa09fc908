// SPDX-License-Identifier: Apache-2.0
//
// Where the files are, and that nobody else is there: layout checks, creation and the lock of a server's
// directories.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/disk.h"

namespace drover::storage {

// The `version-2` directories of dataDir and dataLogDir; often the same.
struct DataDirs {
  std::string snapshots;
  std::string logs;
};

// From the directories as zoo.cfg names them; an empty dataLogDir means dataDir.
DataDirs data_dirs(const std::string& data_dir, const std::string& data_log_dir = {});

struct DataDirOptions {
  bool create = true;  // zookeeper.datadir.autocreate
};

// An opened and locked pair of directories. Keep it for as long as anything in them is used: a second
// server on the same files would destroy them.
class DataDir {
 public:
  // Makes what is missing, refuses a layout in which logs and snapshots are mixed up, locks, and removes
  // temporary files that a crash left behind.
  static IoResult<DataDir> open(Disk& disk, const DataDirs& dirs, const DataDirOptions& options);

  const DataDirs& dirs() const { return dirs_; }

 private:
  DataDir() = default;

  DataDirs dirs_;
  std::vector<std::unique_ptr<DirectoryLock>> locks_;
};

// The lock alone, of directories that exist: for whoever changes files and is not a server.
IoResult<std::vector<std::unique_ptr<DirectoryLock>>> lock_data_dirs(Disk& disk, const DataDirs& dirs);

// Logs where only snapshots belong, or the other way round: a configuration that was changed without
// moving the files. Starting on it would mean starting on half a history.
IoResult<void> check_layout(Disk& disk, const DataDirs& dirs);

// The operator's word that an empty directory is meant to be empty: a file named `initialize` beside
// version-2 of the log directory. Remove it only once the first snapshot is durable.
IoResult<bool> has_initialize_mark(Disk& disk, const DataDirs& dirs);
// Durable when it returns.
IoResult<void> remove_initialize_mark(Disk& disk, const DataDirs& dirs);

// A leader's state is to take the place of the history here (storage/set_aside.h), and a crash on the way
// must not be mistaken for something else. A file of its own, `drover.replacing` beside the snapshots, so
// that whoever needs the space may delete what was set aside at any time.
enum class Replacing {
  kNo,
  kMoving,    // files are being put away: whatever is here is no history
  kAwaiting,  // they are gone: as long as the directory is empty, it is not new
  kIncoming,  // the new state is whole under its incoming name: recovery finishes what was begun
  kTrying,    // a state somebody sent waits under that name: it takes the place of the history if it loads
};

// A mark that cannot be read or understood counts as kMoving: not knowing is knowing the worst.
Replacing replacing_mark(Disk& disk, const DataDirs& dirs);
// Durable when it returns. kNo removes the mark.
IoResult<void> set_replacing_mark(Disk& disk, const DataDirs& dirs, Replacing mark);

}  // namespace drover::storage

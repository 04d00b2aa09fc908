// SPDX-License-Identifier: Apache-2.0
//
// A server's data directories: layout checks, creation, and the lock that keeps other servers out.
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

// Converts the directories of zoo.cfg; an empty dataLogDir means dataDir.
DataDirs data_dirs(const std::string& data_dir, const std::string& data_log_dir = {});

struct DataDirOptions {
  bool create = true;  // zookeeper.datadir.autocreate
};

// An opened and locked pair of directories. Keep it as long as any of their files is in use: a second server
// on the same files would destroy them.
class DataDir {
 public:
  // Creates missing directories, refuses a layout that mixes up logs and snapshots, takes the lock, and
  // removes temporary files that a crash left behind.
  static IoResult<DataDir> open(Disk& disk, const DataDirs& dirs, const DataDirOptions& options);

  const DataDirs& dirs() const { return dirs_; }

 private:
  DataDir() = default;

  DataDirs dirs_;
  std::vector<std::unique_ptr<DirectoryLock>> locks_;
};

// Only locks the directories, which must exist: for tools that change files but are not a server.
IoResult<std::vector<std::unique_ptr<DirectoryLock>>> lock_data_dirs(Disk& disk, const DataDirs& dirs);

// Fails if logs are in the snapshot directory or snapshots in the log directory: somebody changed the
// configuration without moving the files. A server that started on it would have half a history.
IoResult<void> check_layout(Disk& disk, const DataDirs& dirs);

// The initialize mark is a file named `initialize` beside version-2 of the log directory. With it the
// operator confirms that an empty directory is meant to be empty. Remove it only once the first snapshot is
// durable.
IoResult<bool> has_initialize_mark(Disk& disk, const DataDirs& dirs);
// Durable when it returns.
IoResult<void> remove_initialize_mark(Disk& disk, const DataDirs& dirs);

// The replacing mark: a leader's state is about to replace the history here (storage/set_aside.h), and a
// crash in between must not be mistaken for something else. It is a file of its own, `drover.replacing`
// beside the snapshots, so that an operator who needs space may delete the set-aside files at any time.
enum class Replacing {
  kNo,
  kMoving,    // files are being moved away: the files here are not a history
  kAwaiting,  // files are moved away: while the directory is empty, it does not count as new
  kIncoming,  // the new state is complete under its incoming name: recovery finishes the replacement
  kTrying,    // a restored state has that name: it replaces the history if it can be loaded
};

// A mark that is unreadable or unknown counts as kMoving, which is the worst case.
Replacing replacing_mark(Disk& disk, const DataDirs& dirs);
// Durable when it returns. kNo removes the mark.
IoResult<void> set_replacing_mark(Disk& disk, const DataDirs& dirs, Replacing mark);

}  // namespace drover::storage

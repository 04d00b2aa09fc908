// SPDX-License-Identifier: Apache-2.0
//
// The snapshot thread's view of the disk: a failed sync of the log's directory is fatal there too.
//
// The kernel reports a write error to only one caller. When snapshots and logs share a directory, or when
// purge deletes logs, the snapshot thread can be the one that gets the error of a lost directory block. The
// log thread's next sync of that directory would then succeed, although the name of its new file never
// reached the disk. So the thread that gets the error ends the process. All other snapshot errors are
// harmless: the log has all the data.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "storage/forwarding_disk.h"

namespace drover::server {

class LogDirectoryGuard final : public storage::ForwardingDisk {
 public:
  // `disk` outlives this; `fatal` does not return.
  LogDirectoryGuard(storage::Disk& disk, std::string log_directory, std::function<void(const IoError&)> fatal)
      : ForwardingDisk(disk), log_directory_(std::move(log_directory)), fatal_(std::move(fatal)) {}

  IoResult<void> sync_directory(const std::string& path) override {
    auto done = ForwardingDisk::sync_directory(path);
    if (!done && path == log_directory_) fatal_(done.error());
    return done;
  }

 private:
  std::string log_directory_;
  std::function<void(const IoError&)> fatal_;
};

}  // namespace drover::server

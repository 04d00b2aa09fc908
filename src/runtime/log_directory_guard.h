// SPDX-License-Identifier: Apache-2.0
//
// The snapshot thread's view of the disk: a failed sync of the log's directory is final there too.
//
// The kernel reports a write error to one caller. When snapshots and logs share a directory, or when purge
// deletes logs, the snapshot thread may be the one that is told of a directory block that is lost, and the
// log thread's next sync of that directory would succeed although the name of its new file never reached the
// disk. So whoever is told ends the process. Everything else about snapshots may fail: the log has it all.
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

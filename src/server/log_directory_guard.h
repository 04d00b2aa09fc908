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
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "storage/disk.h"

namespace drover::server {

class LogDirectoryGuard final : public storage::Disk {
 public:
  // `disk` outlives this; `fatal` does not return.
  LogDirectoryGuard(storage::Disk& disk, std::string log_directory, std::function<void(const IoError&)> fatal)
      : disk_(disk), log_directory_(std::move(log_directory)), fatal_(std::move(fatal)) {}

  IoResult<void> sync_directory(const std::string& path) override {
    auto done = disk_.sync_directory(path);
    if (!done && path == log_directory_) fatal_(done.error());
    return done;
  }

  IoResult<std::unique_ptr<storage::File>> open(const std::string& path, storage::OpenMode mode) override {
    return disk_.open(path, mode);
  }
  IoResult<void> rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  IoResult<void> unlink(const std::string& path) override { return disk_.unlink(path); }
  IoResult<void> make_directories(const std::string& path) override { return disk_.make_directories(path); }
  IoResult<std::vector<std::string>> list(const std::string& path) override { return disk_.list(path); }
  IoResult<bool> exists(const std::string& path) override { return disk_.exists(path); }
  IoResult<std::uint64_t> free_bytes(const std::string& path) override { return disk_.free_bytes(path); }
  IoResult<std::unique_ptr<storage::DirectoryLock>> lock(const std::string& path) override {
    return disk_.lock(path);
  }

 private:
  storage::Disk& disk_;
  std::string log_directory_;
  std::function<void(const IoError&)> fatal_;
};

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// A disk that forwards every call to another disk. Derive from it to change single operations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/disk.h"

namespace drover::storage {

class ForwardingDisk : public Disk {
 public:
  // `disk` outlives this.
  explicit ForwardingDisk(Disk& disk) : disk_(disk) {}

  IoResult<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    return disk_.open(path, mode);
  }
  IoResult<void> rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  IoResult<void> unlink(const std::string& path) override { return disk_.unlink(path); }
  IoResult<void> sync_directory(const std::string& path) override { return disk_.sync_directory(path); }
  IoResult<void> make_directories(const std::string& path) override { return disk_.make_directories(path); }
  IoResult<void> remove_directory(const std::string& path) override { return disk_.remove_directory(path); }
  IoResult<std::vector<std::string>> list(const std::string& path) override { return disk_.list(path); }
  IoResult<bool> exists(const std::string& path) override { return disk_.exists(path); }
  IoResult<std::uint64_t> free_bytes(const std::string& path) override { return disk_.free_bytes(path); }
  IoResult<std::unique_ptr<DirectoryLock>> lock(const std::string& path) override { return disk_.lock(path); }

 private:
  Disk& disk_;
};

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
//
// The real disk. Files are created with mode 0600 and directories with 0700, symbolic links are not followed,
// and child processes inherit no file descriptors.
#pragma once

#include "storage/disk.h"

namespace drover::storage {

class PosixDisk final : public Disk {
 public:
  IoResult<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  IoResult<void> rename(const std::string& from, const std::string& to) override;
  IoResult<void> unlink(const std::string& path) override;
  IoResult<void> sync_directory(const std::string& path) override;
  IoResult<void> make_directories(const std::string& path) override;
  IoResult<void> remove_directory(const std::string& path) override;
  IoResult<std::vector<std::string>> list(const std::string& path) override;
  IoResult<bool> exists(const std::string& path) override;
  IoResult<std::uint64_t> free_bytes(const std::string& path) override;
  IoResult<std::unique_ptr<DirectoryLock>> lock(const std::string& path) override;
};

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
//
// What storage asks of a disk, and nothing more: so that the same log, snapshot and recovery code runs on
// the real one (posix_disk.h) and on one that loses, tears and damages what it was given (memory_disk.h).
//
// There is no memory mapping. A bad sector under a mapping is a SIGBUS, which kills the server; under a
// read it is an error, which recovery can report as damage.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::storage {

enum class OpenMode {
  kRead,    // must exist
  kWrite,   // must exist; reads and writes
  kCreate,  // is made, or emptied if it exists; reads and writes
};

// An open file. Closed when destroyed; what was not synced may then still be lost by a crash.
class File {
 public:
  virtual ~File() = default;

  virtual IoResult<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Reads until `size` bytes or the end of the file; returns how many there were.
  virtual IoResult<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) = 0;
  // Contents and size survive power loss once this returns. The name is sync_directory()'s business.
  virtual IoResult<void> sync() = 0;
  // Grows the file to `size` bytes with zeros for which blocks are reserved: writing inside them cannot
  // fail with ENOSPC. When it fails itself with ENOSPC, what the file held is intact.
  virtual IoResult<void> allocate(std::uint64_t size) = 0;
  virtual IoResult<void> truncate(std::uint64_t size) = 0;
  virtual IoResult<std::uint64_t> size() = 0;
  // The next reads come from the device. After a failed sync, which ended the process before, the page
  // cache may show bytes that never reached it.
  virtual void drop_cache() {}
};

// Held for as long as it lives.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
};

class Disk {
 public:
  virtual ~Disk() = default;

  virtual IoResult<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  // Atomic, and replaces `to`. Durable only after sync_directory() of the directory.
  virtual IoResult<void> rename(const std::string& from, const std::string& to) = 0;
  virtual IoResult<void> unlink(const std::string& path) = 0;
  virtual IoResult<void> sync_directory(const std::string& path) = 0;
  // Makes the directory and its missing parents, durably.
  virtual IoResult<void> make_directories(const std::string& path) = 0;
  // Removes an empty directory, durably; ENOTEMPTY when something is in it.
  virtual IoResult<void> remove_directory(const std::string& path) = 0;
  // Names of files and directories in a directory, sorted; ENOENT when it does not exist.
  virtual IoResult<std::vector<std::string>> list(const std::string& path) = 0;
  virtual IoResult<bool> exists(const std::string& path) = 0;
  virtual IoResult<std::uint64_t> free_bytes(const std::string& path) = 0;
  // Fails with EWOULDBLOCK when somebody else holds the lock. The file is made if need be.
  virtual IoResult<std::unique_ptr<DirectoryLock>> lock(const std::string& path) = 0;
};

std::string join_path(std::string_view directory, std::string_view name);

// The whole of a small file. More than `bytes_max` bytes are an error, not an allocation.
IoResult<std::string> read_file(Disk& disk, const std::string& path, std::size_t bytes_max);

// Replaces directory/name by `bytes` so that after a crash there is the old file or the new one, whole:
// temporary name, sync, rename, sync of the directory.
struct ReplaceFile {
  std::string directory;
  std::string name;
  std::string temporary_name;
};
IoResult<void> replace_file(Disk& disk, const ReplaceFile& file, std::string_view bytes);

// Unlinks, and treats a file that is already gone as done.
IoResult<void> unlink_if_exists(Disk& disk, const std::string& path);

}  // namespace drover::storage

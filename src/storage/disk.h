// SPDX-License-Identifier: Apache-2.0
//
// The operations that storage needs from a disk, and no others. So the same log, snapshot and recovery code
// runs on the real disk (posix_disk.h) and on one that loses, tears and damages data (memory_disk.h).
//
// Files are not memory-mapped. A bad sector under a mapping raises SIGBUS, which kills the server; in a read
// it is an error, which recovery can report as damage.
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
  kCreate,  // creates the file, or empties an existing one; reads and writes
};

// An open file. The destructor closes it; a crash may still lose data that was not synced.
class File {
 public:
  virtual ~File() = default;

  virtual IoResult<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Reads until `size` bytes or the end of the file; returns how many there were.
  virtual IoResult<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) = 0;
  // Contents and size survive power loss once this returns. The name needs sync_directory().
  virtual IoResult<void> sync() = 0;
  // Grows the file to `size` bytes with zeros and reserves their blocks: a write inside them cannot fail with
  // ENOSPC. If allocate() itself fails with ENOSPC, the old contents are intact.
  virtual IoResult<void> allocate(std::uint64_t size) = 0;
  virtual IoResult<void> truncate(std::uint64_t size) = 0;
  virtual IoResult<std::uint64_t> size() = 0;
  // Makes the next reads come from the device. If a failed sync ended the previous process, the page cache
  // may show bytes that never reached the device.
  virtual void drop_cache() {}
};

// Held until destroyed.
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
  // Fails with EWOULDBLOCK if another process holds the lock. Creates the file if necessary.
  virtual IoResult<std::unique_ptr<DirectoryLock>> lock(const std::string& path) = 0;
};

std::string join_path(std::string_view directory, std::string_view name);

// Reads a small file completely. More than `bytes_max` bytes are an error, not an allocation.
IoResult<std::string> read_file(Disk& disk, const std::string& path, std::size_t bytes_max);

// Replaces directory/name by `bytes`. After a crash the file is either the old one or the new one, complete:
// temporary name, sync, rename, sync of the directory.
struct ReplaceFile {
  std::string directory;
  std::string name;
  std::string temporary_name;
};
IoResult<void> replace_file(Disk& disk, const ReplaceFile& file, std::string_view bytes);

// Unlinks the file; succeeds if it is already gone.
IoResult<void> unlink_if_exists(Disk& disk, const std::string& path);

}  // namespace drover::storage

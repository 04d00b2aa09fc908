// SPDX-License-Identifier: Apache-2.0
//
// A disk in memory that simulates the faults of real disks: it loses or keeps unsynced data, tears it at
// sector borders, forgets directory entries, fills up, fails, and flips bits.
//
// A seed determines everything, so a failing run can be replayed. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/disk.h"

namespace drover::storage {

inline constexpr std::size_t kSectorBytes = 512;

// The fate of unsynced changes at a power loss.
enum class Survival {
  kLose,  // none of them reached the disk
  kKeep,  // all did
  kTear,  // a random subset did: per sector of a write, per change of a directory
};

// The operations that change the disk. Only they count as crash points.
enum class DiskOperation {
  kCreate,
  kWrite,
  kSync,
  kAllocate,
  kTruncate,
  kRename,
  kUnlink,
  kSyncDirectory,
  kMakeDirectory,
  kRemoveDirectory
};

struct DiskFault {
  int error = 0;                        // errno to fail with
  std::optional<DiskOperation> only{};  // any operation when absent
  std::string path_contains{};          // any path when empty
  std::uint64_t skip = 0;               // matching operations that still succeed first
  std::uint64_t times = 1;              // how many fail after that
};

class MemoryDisk final : public Disk {
 public:
  explicit MemoryDisk(std::uint64_t seed);
  ~MemoryDisk() override;

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

  // The faults that happened so far.
  struct Incidents {
    std::uint64_t failed = 0;        // operations failed by inject()
    std::uint64_t failed_syncs = 0;  // syncs among them
    std::uint64_t full = 0;          // operations that found no space
    std::uint64_t unreadable = 0;    // reads of broken sectors
    std::uint64_t lost = 0;          // file changes that were unsynced at a power loss
    std::uint64_t kept = 0;
    std::uint64_t torn = 0;
    std::uint64_t entries_lost = 0;  // directory changes lost in the same way
  };
  const Incidents& incidents() const { return incidents_; }

  // --- For tests and the simulator.

  // Power loss and restart: open files become invalid, locks are released, and `survival` decides what
  // happens to unsynced changes.
  void crash(Survival survival);
  // After `n` more changing operations every operation fails with EIO and changes nothing, until crash().
  void power_off_after(std::uint64_t n) { power_off_at_ = operations_ + n; }
  bool is_off() const { return operations_ >= power_off_at_; }
  std::uint64_t operations() const { return operations_; }
  std::uint64_t bytes_written() const { return bytes_written_; }
  void inject(DiskFault fault) { faults_.push_back(std::move(fault)); }
  // Removes injected faults that have not happened yet.
  void clear_faults() {
    faults_.clear();
    power_off_at_ = UINT64_MAX;
  }
  void set_capacity(std::uint64_t bytes) { capacity_bytes_ = bytes; }
  std::uint64_t used_bytes() const;
  // Reads of this sector fail with EIO.
  void break_sector(const std::string& path, std::uint64_t offset);

  // Direct access to the contents, to damage them and for assertions. Such changes are durable.
  std::string contents(const std::string& path) const;
  void set_contents(const std::string& path, std::string bytes);
  void flip_bit(const std::string& path, std::uint64_t bit);

 private:
  friend class MemoryFile;
  friend class MemoryLock;
  struct Inode;
  struct DirectoryChange;
  struct Directory;

  // Counts the operation; fails if it must not happen.
  IoResult<void> begin(DiskOperation operation, const std::string& path);
  IoResult<void> grow(Inode& inode, std::uint64_t size, const std::string& path);
  std::shared_ptr<Inode> find(const std::string& path) const;
  IoResult<Directory*> directory_of(const std::string& path);

  Random random_;
  std::map<std::string, std::unique_ptr<Directory>> directories_;
  std::set<std::string> locks_;
  std::vector<DiskFault> faults_;
  std::uint64_t operations_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t power_off_at_ = UINT64_MAX;
  std::uint64_t capacity_bytes_ = UINT64_MAX;
  Incidents incidents_;
  std::uint64_t generation_ = 0;  // incremented by every crash; older handles are invalid
};

}  // namespace drover::storage

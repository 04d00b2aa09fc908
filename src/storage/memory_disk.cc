// SPDX-License-Identifier: Apache-2.0
#include "storage/memory_disk.h"

#include <algorithm>
#include <cerrno>

#include "base/ensure.h"

namespace drover::storage {
namespace {

// An unsynced change of a file.
struct FileChange {
  enum class Kind { kWrite, kGrow, kTruncate } kind;
  std::uint64_t offset;  // of a write, or the new size
  std::string bytes;
};

void apply_write(std::string& contents, std::uint64_t offset, std::string_view bytes) {
  if (contents.size() < offset + bytes.size()) contents.resize(offset + bytes.size(), '\0');
  std::copy(bytes.begin(), bytes.end(), contents.begin() + static_cast<std::ptrdiff_t>(offset));
}

void apply_change(std::string& contents, const FileChange& change) {
  switch (change.kind) {
    case FileChange::Kind::kWrite: apply_write(contents, change.offset, change.bytes); return;
    case FileChange::Kind::kGrow:
      contents.resize(std::max<std::uint64_t>(contents.size(), change.offset));
      return;
    case FileChange::Kind::kTruncate: contents.resize(change.offset); return;
  }
}

// A random subset of the write's sectors reaches the disk, in no particular order.
void apply_torn(std::string& contents, const FileChange& change, Random& random) {
  if (change.kind != FileChange::Kind::kWrite) {
    if (random.below(2) == 0) apply_change(contents, change);
    return;
  }
  std::uint64_t at = change.offset;
  const std::uint64_t end = change.offset + change.bytes.size();
  while (at < end) {
    const std::uint64_t sector_end = std::min(end, (at / kSectorBytes + 1) * kSectorBytes);
    const auto piece = std::string_view(change.bytes).substr(at - change.offset, sector_end - at);
    if (random.below(2) == 0) apply_write(contents, at, piece);
    at = sector_end;
  }
}

struct SplitPath {
  std::string directory;
  std::string name;
};

SplitPath split(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

std::unexpected<IoError> failed(int error, const std::string& path) {
  return std::unexpected(io_error(error, "memory disk: " + path));
}

}  // namespace

struct MemoryDisk::Inode {
  std::string current;              // what reads see
  std::string durable;              // what surely survives a crash
  std::vector<FileChange> pending;  // the changes from durable to current
  std::set<std::uint64_t> bad_sectors;

  void change(FileChange c) {
    apply_change(current, c);
    pending.push_back(std::move(c));
  }
  void make_durable() {
    for (const FileChange& c : pending) apply_change(durable, c);
    pending.clear();
  }
  void crash(Survival survival, Random& random) {
    for (const FileChange& c : pending) {
      if (survival == Survival::kKeep) apply_change(durable, c);
      if (survival == Survival::kTear) apply_torn(durable, c, random);
    }
    pending.clear();
    current = durable;
  }
};

// One atomic change of a directory: a rename has two entries, every other change has one. A null inode
// removes the entry.
struct MemoryDisk::DirectoryChange {
  std::vector<std::pair<std::string, std::shared_ptr<Inode>>> entries;
};

struct MemoryDisk::Directory {
  using Entries = std::map<std::string, std::shared_ptr<Inode>>;
  Entries current;
  Entries durable;
  std::vector<DirectoryChange> pending;

  static void apply(Entries& entries, const DirectoryChange& change) {
    for (const auto& [name, inode] : change.entries) {
      if (inode) {
        entries[name] = inode;
      } else {
        entries.erase(name);
      }
    }
  }
  void change(DirectoryChange c) {
    apply(current, c);
    pending.push_back(std::move(c));
  }
  void make_durable() {
    durable = current;
    pending.clear();
  }
  // Returns how many changes were lost.
  std::uint64_t crash(Survival survival, Random& random) {
    std::uint64_t lost = 0;
    for (const DirectoryChange& c : pending) {
      const bool survives =
          survival == Survival::kKeep || (survival == Survival::kTear && random.below(2) == 0);
      survives ? apply(durable, c) : void(++lost);
    }
    pending.clear();
    current = durable;
    return lost;
  }
};

class MemoryFile final : public File {
 public:
  MemoryFile(MemoryDisk& disk, std::shared_ptr<MemoryDisk::Inode> inode, std::string path, OpenMode mode)
      : disk_(disk),
        inode_(std::move(inode)),
        path_(std::move(path)),
        mode_(mode),
        generation_(disk.generation_) {}

  IoResult<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    TRY(begin(DiskOperation::kWrite));
    TRY(disk_.grow(*inode_, offset + bytes.size(), path_));
    inode_->change({FileChange::Kind::kWrite, offset, std::string(bytes)});
    disk_.bytes_written_ += bytes.size();
    return {};
  }

  IoResult<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) override {
    if (generation_ != disk_.generation_) return failed(EBADF, path_);
    if (offset >= inode_->current.size()) return std::size_t{0};
    const std::size_t n = inode_->current.copy(into, size, offset);
    const auto bad = inode_->bad_sectors.lower_bound(offset / kSectorBytes);
    if (bad != inode_->bad_sectors.end() && *bad * kSectorBytes < offset + n) {
      ++disk_.incidents_.unreadable;
      return failed(EIO, path_);
    }
    return n;
  }

  IoResult<void> sync() override {
    auto begun = begin(DiskOperation::kSync);
    if (!begun) {
      // Like Linux: the pages are marked clean, so they are never written again, but reads still see them.
      inode_->pending.clear();
      return begun;
    }
    inode_->make_durable();
    return {};
  }

  IoResult<void> allocate(std::uint64_t size) override {
    TRY(begin(DiskOperation::kAllocate));
    TRY(disk_.grow(*inode_, size, path_));
    inode_->change({FileChange::Kind::kGrow, size, {}});
    return {};
  }

  IoResult<void> truncate(std::uint64_t size) override {
    TRY(begin(DiskOperation::kTruncate));
    inode_->change({FileChange::Kind::kTruncate, size, {}});
    return {};
  }

  IoResult<std::uint64_t> size() override {
    if (generation_ != disk_.generation_) return failed(EBADF, path_);
    return inode_->current.size();
  }

 private:
  IoResult<void> begin(DiskOperation operation) {
    if (generation_ != disk_.generation_ || mode_ == OpenMode::kRead) return failed(EBADF, path_);
    return disk_.begin(operation, path_);
  }

  MemoryDisk& disk_;
  std::shared_ptr<MemoryDisk::Inode> inode_;
  std::string path_;
  OpenMode mode_;
  std::uint64_t generation_;
};

class MemoryLock final : public DirectoryLock {
 public:
  MemoryLock(MemoryDisk& disk, std::string path)
      : disk_(disk), path_(std::move(path)), generation_(disk.generation_) {}
  ~MemoryLock() override {
    if (generation_ == disk_.generation_) disk_.locks_.erase(path_);
  }
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;

 private:
  MemoryDisk& disk_;
  std::string path_;
  std::uint64_t generation_;
};

MemoryDisk::MemoryDisk(std::uint64_t seed) : random_(seed) {
  directories_["/"] = std::make_unique<Directory>();
}
MemoryDisk::~MemoryDisk() = default;

IoResult<void> MemoryDisk::begin(DiskOperation operation, const std::string& path) {
  if (operations_ >= power_off_at_) return failed(EIO, path + " (power is off)");
  ++operations_;
  for (DiskFault& fault : faults_) {
    if (fault.only && *fault.only != operation) continue;
    if (path.find(fault.path_contains) == std::string::npos) continue;
    if (fault.skip > 0) {
      --fault.skip;
    } else if (fault.times > 0) {
      --fault.times;
      ++incidents_.failed;
      if (operation == DiskOperation::kSync) ++incidents_.failed_syncs;
      return failed(fault.error, path + " (injected)");
    }
  }
  return {};
}

IoResult<void> MemoryDisk::grow(Inode& inode, std::uint64_t size, const std::string& path) {
  if (capacity_bytes_ == UINT64_MAX || size <= inode.current.size()) return {};
  if (used_bytes() + (size - inode.current.size()) <= capacity_bytes_) return {};
  ++incidents_.full;
  return failed(ENOSPC, path);
}

std::uint64_t MemoryDisk::used_bytes() const {
  std::uint64_t used = 0;
  for (const auto& [path, directory] : directories_) {
    for (const auto& [name, inode] : directory->current) used += inode->current.size();
  }
  return used;
}

std::shared_ptr<MemoryDisk::Inode> MemoryDisk::find(const std::string& path) const {
  const auto [directory_path, name] = split(path);
  const auto directory = directories_.find(directory_path);
  if (directory == directories_.end()) return nullptr;
  const auto entry = directory->second->current.find(name);
  return entry == directory->second->current.end() ? nullptr : entry->second;
}

IoResult<MemoryDisk::Directory*> MemoryDisk::directory_of(const std::string& path) {
  const auto it = directories_.find(split(path).directory);
  if (it == directories_.end()) return failed(ENOENT, path);
  return it->second.get();
}

IoResult<std::unique_ptr<File>> MemoryDisk::open(const std::string& path, OpenMode mode) {
  std::shared_ptr<Inode> inode = find(path);
  if (mode == OpenMode::kCreate) {
    TRY_ASSIGN(Directory * directory, directory_of(path));
    TRY(begin(DiskOperation::kCreate, path));
    if (inode) {
      inode->change({FileChange::Kind::kTruncate, 0, {}});
    } else {
      inode = std::make_shared<Inode>();
      directory->change({{{split(path).name, inode}}});
    }
  }
  if (!inode) return failed(ENOENT, path);
  return std::make_unique<MemoryFile>(*this, std::move(inode), path, mode);
}

IoResult<void> MemoryDisk::rename(const std::string& from, const std::string& to) {
  TRY_ASSIGN(Directory * source, directory_of(from));
  TRY_ASSIGN(Directory * target, directory_of(to));
  const std::shared_ptr<Inode> inode = find(from);
  if (!inode) return failed(ENOENT, from);
  TRY(begin(DiskOperation::kRename, to));
  if (source == target) {
    source->change({{{split(from).name, nullptr}, {split(to).name, inode}}});
  } else {
    target->change({{{split(to).name, inode}}});
    source->change({{{split(from).name, nullptr}}});
  }
  return {};
}

IoResult<void> MemoryDisk::unlink(const std::string& path) {
  TRY_ASSIGN(Directory * directory, directory_of(path));
  if (!find(path)) return failed(ENOENT, path);
  TRY(begin(DiskOperation::kUnlink, path));
  directory->change({{{split(path).name, nullptr}}});
  return {};
}

IoResult<void> MemoryDisk::sync_directory(const std::string& path) {
  const auto it = directories_.find(path);
  if (it == directories_.end()) return failed(ENOENT, path);
  TRY(begin(DiskOperation::kSyncDirectory, path));
  it->second->make_durable();
  return {};
}

IoResult<void> MemoryDisk::make_directories(const std::string& path) {
  if (directories_.contains(path)) return {};
  TRY(begin(DiskOperation::kMakeDirectory, path));
  for (std::string at = path; !directories_.contains(at); at = split(at).directory) {
    directories_[at] = std::make_unique<Directory>();
    if (at == ".") break;
  }
  return {};
}

IoResult<void> MemoryDisk::remove_directory(const std::string& path) {
  TRY_ASSIGN(const std::vector<std::string> names, list(path));
  if (!names.empty()) return failed(ENOTEMPTY, path);
  TRY(begin(DiskOperation::kRemoveDirectory, path));
  directories_.erase(path);
  return {};
}

IoResult<std::vector<std::string>> MemoryDisk::list(const std::string& path) {
  const auto it = directories_.find(path);
  if (it == directories_.end()) return failed(ENOENT, path);
  std::vector<std::string> names;
  for (const auto& [name, inode] : it->second->current) names.push_back(name);
  for (const auto& [other, directory] : directories_) {
    if (other != "/" && split(other).directory == path) names.push_back(split(other).name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

IoResult<bool> MemoryDisk::exists(const std::string& path) {
  return directories_.contains(path) || find(path) != nullptr;
}

IoResult<std::uint64_t> MemoryDisk::free_bytes(const std::string&) {
  const std::uint64_t used = used_bytes();
  return capacity_bytes_ > used ? capacity_bytes_ - used : 0;
}

IoResult<std::unique_ptr<DirectoryLock>> MemoryDisk::lock(const std::string& path) {
  if (!locks_.insert(path).second) return failed(EWOULDBLOCK, path);
  return std::make_unique<MemoryLock>(*this, path);
}

void MemoryDisk::crash(Survival survival) {
  // In the order of paths, not of addresses: the same seed must give the same crash.
  std::set<Inode*> done;
  std::uint64_t* const fate = survival == Survival::kLose   ? &incidents_.lost
                              : survival == Survival::kKeep ? &incidents_.kept
                                                            : &incidents_.torn;
  for (auto& [path, directory] : directories_) {
    for (auto* entries : {&directory->current, &directory->durable}) {
      for (auto& [name, inode] : *entries) {
        if (!done.insert(inode.get()).second) continue;
        *fate += inode->pending.size();
        inode->crash(survival, random_);
      }
    }
    incidents_.entries_lost += directory->crash(survival, random_);
  }
  locks_.clear();
  faults_.clear();
  power_off_at_ = UINT64_MAX;
  ++generation_;
}

void MemoryDisk::break_sector(const std::string& path, std::uint64_t offset) {
  const auto inode = find(path);
  ENSURE(inode != nullptr, "the file of a broken sector exists");
  inode->bad_sectors.insert(offset / kSectorBytes);
}

std::string MemoryDisk::contents(const std::string& path) const {
  const auto inode = find(path);
  ENSURE(inode != nullptr, "an inspected file exists");
  return inode->current;
}

void MemoryDisk::set_contents(const std::string& path, std::string bytes) {
  auto inode = find(path);
  if (!inode) {
    inode = std::make_shared<Inode>();
    Directory& directory = *directories_.at(split(path).directory);
    directory.current[split(path).name] = inode;
    directory.durable[split(path).name] = inode;
  }
  inode->pending.clear();
  inode->durable = bytes;
  inode->current = std::move(bytes);
}

void MemoryDisk::flip_bit(const std::string& path, std::uint64_t bit) {
  std::string bytes = contents(path);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  set_contents(path, std::move(bytes));
}

}  // namespace drover::storage

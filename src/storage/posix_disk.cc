// SPDX-License-Identifier: Apache-2.0
#include "storage/posix_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace drover::storage {
namespace {

std::unexpected<IoError> failed(const char* doing, const std::string& path) {
  return std::unexpected(io_error(errno, std::string(doing) + " " + path));
}

// Retries system calls that a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

class PosixFile final : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  IoResult<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = uninterrupted(
          [&] { return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
      if (n < 0) return failed("write", path_);
      offset += static_cast<std::uint64_t>(n);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }

  IoResult<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t n = uninterrupted(
          [&] { return ::pread(fd_.get(), into + done, size - done, static_cast<off_t>(offset + done)); });
      if (n < 0) return failed("read", path_);
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  IoResult<void> sync() override {
    // Never retried, not even after EINTR: only the first result can be trusted.
    if (::fdatasync(fd_.get()) != 0) return failed("fdatasync", path_);
    return {};
  }

  IoResult<void> allocate(std::uint64_t size) override {
    TRY_ASSIGN(const std::uint64_t old, this->size());
    if (size <= old) return {};
    const int result = uninterrupted(
        [&] { return ::fallocate(fd_.get(), 0, static_cast<off_t>(old), static_cast<off_t>(size - old)); });
    if (result == 0) return {};
    if (errno == EOPNOTSUPP || errno == ENOSYS) return write_zeros(old, size);
    return failed("fallocate", path_);
  }

  IoResult<void> truncate(std::uint64_t size) override {
    if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0) {
      return failed("ftruncate", path_);
    }
    return {};
  }

  IoResult<std::uint64_t> size() override {
    struct stat status{};
    if (::fstat(fd_.get(), &status) != 0) return failed("fstat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  // This is only advice: if the kernel ignores it, reads come from the cache.
  void drop_cache() override { ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED); }

 private:
  // For file systems without fallocate. It is slow, but keeps the promise of allocate().
  IoResult<void> write_zeros(std::uint64_t from, std::uint64_t to) {
    const std::string zeros(std::size_t{1} << 20, '\0');
    while (from < to) {
      const std::size_t n = std::min<std::uint64_t>(zeros.size(), to - from);
      TRY(write_at(from, std::string_view(zeros).substr(0, n)));
      from += n;
    }
    return {};
  }

  Descriptor fd_;
  std::string path_;
};

class PosixLock final : public DirectoryLock {
 public:
  explicit PosixLock(int fd) : fd_(fd) {}

 private:
  Descriptor fd_;  // closing it releases the lock
};

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead: return O_RDONLY;
    case OpenMode::kWrite: return O_RDWR;
    case OpenMode::kCreate: return O_RDWR | O_CREAT | O_TRUNC;
  }
  return O_RDONLY;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

IoResult<std::unique_ptr<File>> PosixDisk::open(const std::string& path, OpenMode mode) {
  const int flags = flags_of(mode) | O_CLOEXEC | O_NOFOLLOW;
  const int fd = uninterrupted([&] { return ::open(path.c_str(), flags, 0600); });
  if (fd < 0) return failed("open", path);
  auto file = std::make_unique<PosixFile>(fd, path);
  // Reject directories and devices: their bytes would be misread as a file.
  struct stat status{};
  if (::fstat(fd, &status) != 0) return failed("fstat", path);
  if (!S_ISREG(status.st_mode))
    return std::unexpected(io_error(EINVAL, "open " + path + ": not a regular file"));
  return file;
}

// New files are private. But a configuration that a group may read must stay so when it is rewritten.
static IoResult<void> take_over_permissions(const std::string& from, const std::string& to) {
  struct stat replaced{};
  struct stat made{};
  if (::stat(to.c_str(), &replaced) != 0 || ::stat(from.c_str(), &made) != 0) return {};
  const mode_t mode = replaced.st_mode & 0777;
  if (mode == (made.st_mode & 0777) && replaced.st_gid == made.st_gid) return {};
  // For another group, the permissions of the old one would mean something else.
  if (replaced.st_gid != made.st_gid && ::chown(from.c_str(), static_cast<uid_t>(-1), replaced.st_gid) != 0)
    return {};
  if (::chmod(from.c_str(), mode) != 0) return failed("chmod", from);
  return {};
}

IoResult<void> PosixDisk::rename(const std::string& from, const std::string& to) {
  TRY(take_over_permissions(from, to));
  if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename to", to);
  return {};
}

IoResult<void> PosixDisk::unlink(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return failed("unlink", path);
  return {};
}

IoResult<void> PosixDisk::sync_directory(const std::string& path) {
  const Descriptor fd(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (fd.get() < 0) return failed("open directory", path);
  if (::fsync(fd.get()) != 0) return failed("fsync directory", path);
  return {};
}

IoResult<void> PosixDisk::make_directories(const std::string& path) {
  std::vector<std::string> missing;
  for (std::string at = path;; at = parent_of(at)) {
    TRY_ASSIGN(const bool there, exists(at));
    if (there) break;
    missing.push_back(at);
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (::mkdir(it->c_str(), 0700) != 0 && errno != EEXIST) return failed("mkdir", *it);
    TRY(sync_directory(parent_of(*it)));
  }
  return {};
}

IoResult<void> PosixDisk::remove_directory(const std::string& path) {
  if (::rmdir(path.c_str()) != 0) return failed("rmdir", path);
  return sync_directory(parent_of(path));
}

IoResult<std::vector<std::string>> PosixDisk::list(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return failed("open directory", path);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (!entry) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return failed("read directory", path);
  std::sort(names.begin(), names.end());
  return names;
}

IoResult<bool> PosixDisk::exists(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT) return false;
  return failed("stat", path);
}

IoResult<std::uint64_t> PosixDisk::free_bytes(const std::string& path) {
  struct statvfs status{};
  if (::statvfs(path.c_str(), &status) != 0) return failed("statvfs", path);
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

IoResult<std::unique_ptr<DirectoryLock>> PosixDisk::lock(const std::string& path) {
  const int fd =
      uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); });
  if (fd < 0) return failed("open", path);
  auto lock = std::make_unique<PosixLock>(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return failed("lock", path);
  return lock;
}

}  // namespace drover::storage

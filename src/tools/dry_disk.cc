// SPDX-License-Identifier: Apache-2.0
#include "tools/dry_disk.h"

#include "storage/file_names.h"
#include "tools/context.h"

namespace drover::tools {
namespace {

class DryFile final : public storage::File {
 public:
  DryFile(std::unique_ptr<storage::File> file, std::string name, std::vector<std::string>& actions)
      : file_(std::move(file)), name_(std::move(name)), actions_(actions) {}

  IoResult<void> write_at(std::uint64_t, std::string_view) override { return {}; }
  IoResult<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) override {
    return file_ ? file_->read_at(offset, into, size) : IoResult<std::size_t>(0);
  }
  IoResult<void> sync() override { return {}; }
  IoResult<void> allocate(std::uint64_t) override { return {}; }
  IoResult<void> truncate(std::uint64_t size) override {
    actions_.push_back("cut " + name_ + " at byte " + std::to_string(size));
    return {};
  }
  IoResult<std::uint64_t> size() override { return file_ ? file_->size() : IoResult<std::uint64_t>(0); }

 private:
  std::unique_ptr<storage::File> file_;
  std::string name_;
  std::vector<std::string>& actions_;
};

std::string name_of(const std::string& path) { return split_path(path).name; }

}  // namespace

IoResult<std::unique_ptr<storage::File>> DryDisk::open(const std::string& path, storage::OpenMode mode) {
  if (mode == storage::OpenMode::kRead) return ForwardingDisk::open(path, mode);
  std::unique_ptr<storage::File> file;
  if (mode == storage::OpenMode::kWrite) {
    TRY_ASSIGN(file, ForwardingDisk::open(path, storage::OpenMode::kRead));
  }
  return std::make_unique<DryFile>(std::move(file), name_of(path), actions_);
}

// New content is written to a temporary file and renamed; only the rename is recorded.
IoResult<void> DryDisk::rename(const std::string& from, const std::string& to) {
  TRY_ASSIGN(const bool real, exists(from));
  actions_.push_back(real ? "rename " + name_of(from) + " to " + name_of(to) : "write " + name_of(to));
  return {};
}

IoResult<void> DryDisk::unlink(const std::string& path) {
  actions_.push_back("delete " + name_of(path));
  return {};
}

IoResult<void> DryDisk::make_directories(const std::string& path) {
  actions_.push_back("make the directory " + path);
  return {};
}

IoResult<void> DryDisk::remove_directory(const std::string& path) {
  actions_.push_back("remove the directory " + path);
  return {};
}

}  // namespace drover::tools

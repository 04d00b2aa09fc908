// SPDX-License-Identifier: Apache-2.0
//
// Byte streams: a source to read from and a sink to write to (a file, a decompressor, a socket).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "storage/disk.h"

namespace drover::storage {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to `size` bytes; 0 means the end.
  virtual IoResult<std::size_t> read(char* into, std::size_t size) = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual IoResult<void> write(std::string_view bytes) = 0;
  // Ends the stream: writes everything that is still buffered.
  virtual IoResult<void> finish() = 0;
};

// Reads a file from its start. The file outlives it.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(File& file) : file_(file) {}
  IoResult<std::size_t> read(char* into, std::size_t size) override {
    TRY_ASSIGN(const std::size_t n, file_.read_at(position_, into, size));
    position_ += n;
    return n;
  }

 private:
  File& file_;
  std::uint64_t position_ = 0;
};

// Reads from memory, for tests and fuzzing.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}
  IoResult<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t n = rest_.copy(into, size);
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

}  // namespace drover::storage

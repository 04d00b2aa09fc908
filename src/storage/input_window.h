// SPDX-License-Identifier: Apache-2.0
//
// A contiguous look-ahead buffer over a stream of any length. Parsers see whole records as views and copy
// nothing.
//
// The window grows to hold one long record, but only as its bytes arrive, and up to a limit: a wrong length
// field causes a short read, never a large allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "storage/byte_stream.h"
#include "wire/txn_limits.h"

namespace drover::storage {

using wire::kRecordBytesMax;

class InputWindow {
 public:
  // The source outlives the window.
  explicit InputWindow(ByteSource& source, std::size_t record_bytes_max = kRecordBytesMax);

  // The current contents of the window, without reading.
  std::string_view available() const { return {buffer_.get() + begin_, end_ - begin_}; }

  // Returns at least `n` bytes, or fewer at the end of the stream. Invalidates earlier views.
  IoResult<std::string_view> need(std::size_t n) {
    if (end_ - begin_ >= n) return available();
    return fill(n);
  }

  void consume(std::size_t n);
  std::uint64_t position() const { return position_; }

  // Starts the Adler-32 of everything that is consumed, from the first byte on.
  void start_checksum() { adler_ = 1; }
  // The checksum if the next `n` bytes of the window were consumed too.
  std::uint32_t checksum_with(std::size_t n);

 private:
  IoResult<std::string_view> fill(std::size_t n);
  void fold_checksum();

  ByteSource& source_;
  std::size_t record_bytes_max_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t summed_ = 0;  // consumed bytes of the buffer already in adler_; only in use with a checksum
  std::uint64_t position_ = 0;
  std::optional<std::uint32_t> adler_;
  bool at_end_ = false;
};

}  // namespace drover::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/input_window.h"

#include <zlib.h>

#include <cstring>

#include "base/ensure.h"

namespace drover::storage {
namespace {

// Small enough to stay in the cache between the read, the checksum and the parser.
constexpr std::size_t kWindowBytes = std::size_t{256} << 10;

std::uint32_t adler32_more(std::uint32_t adler, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      adler32_z(adler, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

InputWindow::InputWindow(ByteSource& source, std::size_t record_bytes_max)
    : source_(source),
      record_bytes_max_(std::max(record_bytes_max, kWindowBytes)),
      buffer_(std::make_unique_for_overwrite<char[]>(kWindowBytes)),
      capacity_(kWindowBytes) {}

void InputWindow::consume(std::size_t n) {
  ENSURE(n <= end_ - begin_, "only bytes in the window are consumed");
  begin_ += n;
  position_ += n;
}

std::uint32_t InputWindow::checksum_with(std::size_t n) {
  ENSURE(adler_ && n <= end_ - begin_, "a checksum covers only bytes in the window");
  fold_checksum();
  return adler32_more(*adler_, {buffer_.get() + begin_, n});
}

void InputWindow::fold_checksum() {
  if (adler_) adler_ = adler32_more(*adler_, {buffer_.get() + summed_, begin_ - summed_});
  summed_ = begin_;
}

IoResult<std::string_view> InputWindow::fill(std::size_t n) {
  if (n > record_bytes_max_) return std::unexpected(data_error("a record is longer than the limit"));
  fold_checksum();
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = summed_ = 0;
  while (end_ < n && !at_end_) {
    if (end_ == capacity_) {
      const std::size_t larger = std::min(capacity_ * 2, record_bytes_max_);
      auto buffer = std::make_unique_for_overwrite<char[]>(larger);
      std::memcpy(buffer.get(), buffer_.get(), end_);
      buffer_ = std::move(buffer);
      capacity_ = larger;
    }
    TRY_ASSIGN(const std::size_t got, source_.read(buffer_.get() + end_, capacity_ - end_));
    end_ += got;
    at_end_ = got == 0;
  }
  return available();
}

}  // namespace drover::storage

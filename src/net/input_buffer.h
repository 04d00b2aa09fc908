// SPDX-License-Identifier: Apache-2.0
//
// Received bytes that are not yet parsed: filled at the end, consumed from the front.
//
// A packet that arrives in many pieces must not be copied once for each piece. The rest is therefore moved to
// the front only if it is not longer than the consumed bytes before it; otherwise the buffer doubles. Either
// way each byte is copied a constant number of times on average.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/ensure.h"

namespace drover::net {

class InputBuffer {
 public:
  std::string_view bytes() const { return {data_.get() + begin_, end_ - begin_}; }
  std::size_t size() const { return end_ - begin_; }
  std::size_t capacity() const { return capacity_; }

  // Returns space for at least `n` bytes after the last one. May move the bytes: invalidates views of
  // bytes().
  char* room(std::size_t n) {
    if (capacity_ - end_ < n) {
      const bool cheap_to_move = size() <= begin_ && capacity_ - size() >= n;
      rebase(cheap_to_move ? capacity_ : std::max(2 * capacity_, size() + n));
    }
    return data_.get() + end_;
  }
  // Adds `n` bytes that were written to the space from room().
  void filled(std::size_t n) {
    ENSURE(n <= capacity_ - end_, "only reserved room is filled");
    end_ += n;
  }

  void consume(std::size_t n) {
    ENSURE(n <= size(), "only buffered bytes are consumed");
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Frees memory that one large packet needed and the next ones do not.
  void shrink_if_empty(std::size_t capacity_max) {
    if (size() > 0 || capacity_ <= capacity_max) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  // Moves the rest to the front of this memory or of a larger block.
  void rebase(std::size_t capacity) {
    auto data = capacity == capacity_ ? nullptr : std::make_unique_for_overwrite<char[]>(capacity);
    char* const to = data ? data.get() : data_.get();
    if (size() > 0) std::memmove(to, data_.get() + begin_, size());
    if (data) data_ = std::move(data);
    capacity_ = capacity;
    end_ -= begin_;
    begin_ = 0;
  }

  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace drover::net

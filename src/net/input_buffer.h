// SPDX-License-Identifier: Apache-2.0
//
// Received bytes that are not all understood yet: filled at the end, consumed from the front.
//
// A packet that comes in many pieces must not be copied once for each piece. What is left is therefore
// moved to the front only when it is no longer than what was consumed before it; otherwise the buffer
// doubles. Either way each byte is copied a constant number of times on average.
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

  // Room for at least `n` bytes behind the last one. Moves them: views of bytes() end here.
  char* room(std::size_t n) {
    if (capacity_ - end_ < n) {
      const bool cheap_to_move = size() <= begin_ && capacity_ - size() >= n;
      rebase(cheap_to_move ? capacity_ : std::max(2 * capacity_, size() + n));
    }
    return data_.get() + end_;
  }
  // `n` bytes have been written to the room.
  void filled(std::size_t n) {
    ENSURE(n <= capacity_ - end_, "only room that was given is filled");
    end_ += n;
  }

  void consume(std::size_t n) {
    ENSURE(n <= size(), "only bytes that are there are consumed");
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Gives memory back that one large packet needed and the next ones will not.
  void shrink_if_empty(std::size_t capacity_max) {
    if (size() > 0 || capacity_ <= capacity_max) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  // Brings what is left to the front, of this memory or of a larger one.
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

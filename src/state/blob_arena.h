// SPDX-License-Identifier: Apache-2.0
//
// Memory for node names and data: size classes in steps of 8 bytes, no header per block.
//
// malloc would add 8 to 24 bytes to each of a million nodes. Blocks of up to kSmallMax bytes come from
// large chunks and return to the free list of their class; larger ones come from malloc. Used by one
// thread at a time (the tree's writer).
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace drover::state {

class BlobArena {
 public:
  BlobArena() = default;
  BlobArena(const BlobArena&) = delete;
  BlobArena& operator=(const BlobArena&) = delete;

  // At least `bytes` bytes; nullptr if `bytes` is 0.
  char* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    if (bytes > kSmallMax) return allocate_large(bytes);
    FreeBlock*& head = free_[class_of(bytes)];
    if (head) {
      char* block = reinterpret_cast<char*>(head);
      head = head->next;
      return block;
    }
    return carve(rounded(bytes));
  }

  // `bytes` must be the size passed to allocate().
  void release(char* block, std::size_t bytes) {
    if (!block) return;
    if (bytes > kSmallMax) {
      std::free(block);
      return;
    }
    FreeBlock*& head = free_[class_of(bytes)];
    head = new (block) FreeBlock{head};
  }

  // True if a block of `old_bytes` can hold `new_bytes` without waste.
  static bool same_class(std::size_t old_bytes, std::size_t new_bytes) {
    return old_bytes != 0 && old_bytes <= kSmallMax && new_bytes != 0 && new_bytes <= kSmallMax &&
           class_of(old_bytes) == class_of(new_bytes);
  }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  static constexpr std::size_t kStep = 8;
  static constexpr std::size_t kSmallMax = 1024;
  static constexpr std::size_t kChunk = 256 * 1024;

  static std::size_t class_of(std::size_t bytes) { return (bytes - 1) / kStep; }
  static std::size_t rounded(std::size_t bytes) { return (class_of(bytes) + 1) * kStep; }

  static char* allocate_large(std::size_t bytes) {
    void* block = std::malloc(bytes);
    if (!block) throw std::bad_alloc();
    return static_cast<char*>(block);
  }

  char* carve(std::size_t bytes) {
    if (left_ < bytes) {
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunk));
      at_ = chunks_.back().get();
      left_ = kChunk;
    }
    char* block = at_;
    at_ += bytes;
    left_ -= bytes;
    return block;
  }

  std::array<FreeBlock*, kSmallMax / kStep> free_{};
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace drover::state

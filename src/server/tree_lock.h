// SPDX-License-Identifier: Apache-2.0
//
// The tree's lock: cheap for each of a few known readers, dear for the one writer.
//
// Every reader thread has a slot of its own, on a cache line of its own, and takes only that; the writer
// takes all of them. A reader that meets no writer touches no memory that another reader touches. Readers
// hold their slot for a batch of requests, the writer for a batch of transactions.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace drover::server {

class TreeLock {
 public:
  explicit TreeLock(std::size_t readers) : count_(readers), slots_(std::make_unique<Slot[]>(readers)) {}

  class Reading {
   public:
    Reading(TreeLock& lock, std::size_t slot) : guard_(lock.slots_[slot].mutex) {}

   private:
    std::lock_guard<std::mutex> guard_;
  };

  class Writing {
   public:
    explicit Writing(TreeLock& lock) : lock_(lock) {
      for (std::size_t i = 0; i < lock_.count_; ++i) lock_.slots_[i].mutex.lock();
    }
    ~Writing() {
      for (std::size_t i = lock_.count_; i-- > 0;) lock_.slots_[i].mutex.unlock();
    }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

   private:
    TreeLock& lock_;
  };

 private:
  struct alignas(64) Slot {
    std::mutex mutex;
  };
  std::size_t count_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace drover::server

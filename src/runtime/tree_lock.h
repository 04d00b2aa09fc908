// SPDX-License-Identifier: Apache-2.0
//
// The tree's lock: cheap for a few known readers, expensive for the single writer.
//
// Every reader thread has its own slot on its own cache line, and locks only that. The writer locks all
// slots. If no writer is active, readers share no memory. Readers hold their slot for a batch of requests,
// the writer holds the lock for a batch of transactions.
//
// A reader that returns while the writer waits lets the writer go first. A plain mutex would not: a thread
// that unlocks it and locks it again at once usually gets it. A reader with a long queue of reads would block
// all writes until its queue is empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace drover::server {

class TreeLock {
 public:
  explicit TreeLock(std::size_t readers) : count_(readers), slots_(std::make_unique<Slot[]>(readers)) {}

  class Reading {
   public:
    Reading(TreeLock& lock, std::size_t slot) : guard_(lock.after_waiting_writers(slot)) {}

   private:
    std::lock_guard<std::mutex> guard_;
  };

  class Writing {
   public:
    explicit Writing(TreeLock& lock) : lock_(lock) {
      lock_.writers_waiting_.fetch_add(1, std::memory_order_relaxed);
      for (std::size_t i = 0; i < lock_.count_; ++i) lock_.slots_[i].mutex.lock();
      if (lock_.writers_waiting_.fetch_sub(1, std::memory_order_release) == 1)
        lock_.writers_waiting_.notify_all();
    }
    ~Writing() {
      for (std::size_t i = lock_.count_; i-- > 0;) lock_.slots_[i].mutex.unlock();
    }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

   private:
    TreeLock& lock_;
  };

  bool has_waiting_writer() const { return writers_waiting_.load(std::memory_order_acquire) != 0; }

 private:
  struct alignas(64) Slot {
    std::mutex mutex;
  };

  // A reader that waits here holds no slot, so the writer does not wait for it.
  std::mutex& after_waiting_writers(std::size_t slot) {
    while (const std::uint32_t waiting = writers_waiting_.load(std::memory_order_acquire)) {
      writers_waiting_.wait(waiting, std::memory_order_acquire);
    }
    return slots_[slot].mutex;
  }

  std::atomic<std::uint32_t> writers_waiting_{0};
  std::size_t count_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace drover::server

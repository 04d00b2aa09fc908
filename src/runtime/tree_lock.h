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

#include "base/ensure.h"

namespace drover::server {

// The readers. A slot is a mutex, so threads that share one take turns.
enum class TreeSlot : std::size_t {
  kSnapshots,
  kLog,      // the log thread, when it saves a leader's state
  kStreams,  // the core, when it sends the state to learners
  kHttp,     // all HTTP threads and the dashboard
  kFirstIo,  // and one for each I/O thread from here on
};
constexpr TreeSlot io_slot(std::size_t thread) {
  return TreeSlot{static_cast<std::size_t>(TreeSlot::kFirstIo) + thread};
}

class TreeLock {
 public:
  explicit TreeLock(std::size_t io_threads)
      : count_(static_cast<std::size_t>(io_slot(io_threads))), slots_(std::make_unique<Slot[]>(count_)) {}

  class Reading {
   public:
    Reading(TreeLock& lock, TreeSlot slot) : guard_(lock.after_waiting_writers(slot)) {}

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
  std::mutex& after_waiting_writers(TreeSlot slot) {
    const auto index = static_cast<std::size_t>(slot);
    ENSURE(index < count_, "every reader has a slot");
    while (const std::uint32_t waiting = writers_waiting_.load(std::memory_order_acquire)) {
      writers_waiting_.wait(waiting, std::memory_order_acquire);
    }
    return slots_[index].mutex;
  }

  std::atomic<std::uint32_t> writers_waiting_{0};
  std::size_t count_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace drover::server

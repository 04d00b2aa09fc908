// SPDX-License-Identifier: Apache-2.0
//
// Hands results of threads that may block to an event loop.
//
// The threads share it, and may still be busy when the receiver on the loop is gone: then nobody takes the
// letters, and the last owner frees them.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/descriptor.h"

namespace drover::net {

template <class Letter>
class Mailbox {
 public:
  static IoResult<std::shared_ptr<Mailbox>> create() {
    Descriptor doorbell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!doorbell) return std::unexpected(io_error(errno, "cannot create an eventfd"));
    return std::make_shared<Mailbox>(std::move(doorbell));
  }
  explicit Mailbox(Descriptor eventfd) : doorbell_(std::move(eventfd)) {}

  // Safe to call from any thread.
  void put(Letter letter) {
    {
      const std::lock_guard lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    ring();
  }
  // Makes fd() readable.
  void ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(doorbell_.fd(), &one, sizeof one);
  }

  // For the loop's thread: readable when there are letters.
  int fd() const { return doorbell_.fd(); }
  std::vector<Letter> take() {
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t got = ::read(doorbell_.fd(), &rings, sizeof rings);
    const std::lock_guard lock(mutex_);
    return std::exchange(letters_, {});
  }

 private:
  const Descriptor doorbell_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace drover::net

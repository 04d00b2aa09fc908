// SPDX-License-Identifier: Apache-2.0
#include "runtime/tree_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

namespace drover::server {
namespace {

TEST(TreeLock, ReturningReaderLetsAWaitingWriterGoFirst) {
  TreeLock lock(2);
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> written{false};
    std::optional<TreeLock::Reading> reading(std::in_place, lock, io_slot(1));
    std::thread writer([&] {
      TreeLock::Writing writing(lock);
      written = true;
    });
    while (!lock.has_waiting_writer()) std::this_thread::yield();
    EXPECT_FALSE(written);
    reading.reset();
    const TreeLock::Reading again(lock, io_slot(1));
    EXPECT_TRUE(written);
    writer.join();
  }
}

}  // namespace
}  // namespace drover::server

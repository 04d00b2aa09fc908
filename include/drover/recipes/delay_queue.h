// SPDX-License-Identifier: Apache-2.0
//
// A queue whose items can be taken from a given time on.
//
//   recipes::DelayQueue queue(client, "/reminders");
//   unwrap(sync_wait(queue.put("call back", std::chrono::system_clock::now() + 10min)));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take()));      // in ten minutes
//
// Items are ordered by their time, and equal ones by age. The time is absolute and compared with the
// consumer's clock: clocks that differ make items come early or late. Otherwise as Queue
// (drover/recipes/queue.h). Curator: DistributedDelayQueue (same nodes). kazoo: none. The layout is always
// Curator's.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "drover/recipes/queue.h"

namespace drover::recipes {

class DelayQueue {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  using WallClock = std::function<WallTime()>;

  // The layout is Curator's, whatever the options say. `clock` is for tests, or for processes with a better
  // clock than the system's.
  DelayQueue(Client client, std::string path, QueueOptions options = {},
             WallClock clock = std::chrono::system_clock::now);

  // Accurate to the millisecond.
  Task<Result<void>> put(std::string data, WallTime due, Wait wait = {}) const;
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  Task<Result<int>> size(Wait wait = {}) const;

 private:
  std::shared_ptr<const QueueConfig> config_;
};

}  // namespace drover::recipes

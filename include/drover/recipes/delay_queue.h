// SPDX-License-Identifier: Apache-2.0
//
// A queue whose items can be taken from a certain time on.
//
//   recipes::DelayQueue queue(client, "/reminders");
//   unwrap(sync_wait(queue.put("call back", std::chrono::system_clock::now() + 10min)));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take()));      // in ten minutes
//
// What is due first comes first, and of equals the oldest. The time is an absolute one, compared with the
// taker's clock: clocks that differ between machines make items come as much too early or too late. All else
// is as said of Queue (drover/recipes/queue.h). Curator's DistributedDelayQueue, in its layout; kazoo has
// none.
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

  // The layout is Curator's, whatever the options say. `clock` is for tests, and for those who know better
  // what time it is.
  DelayQueue(Client client, std::string path, QueueOptions options = {},
             WallClock clock = std::chrono::system_clock::now);

  // To the millisecond.
  Task<Result<void>> put(std::string data, WallTime due, Wait wait = {}) const;
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  Task<Result<int>> size(Wait wait = {}) const;

 private:
  std::shared_ptr<const QueueConfig> config_;
};

}  // namespace drover::recipes

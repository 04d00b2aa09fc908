// SPDX-License-Identifier: Apache-2.0
//
// A queue that gives the item of the lowest number first, and of equal numbers the oldest.
//
//   recipes::PriorityQueue queue(client, "/jobs");
//   unwrap(sync_wait(queue.put("urgent", -10)));
//   unwrap(sync_wait(queue.put("some time", 5)));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take()));     // "urgent"
//
// All that is said of Queue holds (drover/recipes/queue.h). Each take looks at the queue as it is then, so
// that what is more urgent and came later is not overlooked. Curator's DistributedPriorityQueue, in its
// layout; kazoo's Queue has priorities too, in another.
#pragma once

#include <cstdint>
#include <string>

#include "drover/recipes/queue.h"

namespace drover::recipes {

class PriorityQueue {
 public:
  // The layout is Curator's, whatever the options say.
  PriorityQueue(Client client, std::string path, QueueOptions options = {});

  Task<Result<void>> put(std::string data, std::int32_t priority, Wait wait = {}) const;
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  Task<Result<int>> size(Wait wait = {}) const;

 private:
  std::shared_ptr<const QueueConfig> config_;
};

}  // namespace drover::recipes

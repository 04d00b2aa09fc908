// SPDX-License-Identifier: Apache-2.0
//
// A queue that gives the item with the lowest number first, and the oldest of equal numbers.
//
//   recipes::PriorityQueue queue(client, "/jobs");
//   unwrap(sync_wait(queue.put("urgent", -10)));
//   unwrap(sync_wait(queue.put("some time", 5)));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take()));     // "urgent"
//
// Otherwise as Queue (drover/recipes/queue.h). Each take looks at the current queue, so a later but more
// urgent item is not missed. Curator: DistributedPriorityQueue (same nodes). kazoo: Queue with priorities
// (other names).
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

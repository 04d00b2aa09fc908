// SPDX-License-Identifier: Apache-2.0
//
// One queue made of several, so that none gets too long to list.
//
//   recipes::QueueSharder queue(client, "/jobs", {.threshold = 5000, .queues_max = 8});
//   unwrap(sync_wait(queue.put("job 1")));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take()));
//   unwrap(sync_wait(item.done()));
//
// A put that finds at least `threshold` items in every queue adds another one, up to `queues_max`. This
// limit is exact, because the transaction fails if another client has just added one. Items of one
// queue keep their order; items of different queues have none. Otherwise as Queue
// (drover/recipes/queue.h).
//
// Curator: QueueSharder (same nodes, <path>/queue-<uuid>/...); it elects a leader to add queues, drover needs
// none. kazoo: none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drover/recipes/queue.h"

namespace drover::recipes {

struct QueueSharderOptions {
  int threshold = 10'000;
  int queues_max = 10;
  QueueOptions queue = {};  // `claims` has no meaning here: each queue has its own
};

class QueueSharder {
 public:
  QueueSharder(Client client, std::string path, QueueSharderOptions options = {});

  // Puts into the queues in turn.
  Task<Result<void>> put(std::string data, Wait wait = {}) const;
  // Takes from any queue that has an item. While it waits, it waits in the line of each queue.
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  Task<Result<int>> size(Wait wait = {}) const;
  // Their paths, sorted.
  Task<Result<std::vector<std::string>>> queues(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

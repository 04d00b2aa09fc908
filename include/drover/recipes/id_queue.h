// SPDX-License-Identifier: Apache-2.0
//
// A queue whose items have ids, by which they can be removed again before somebody takes them.
//
//   recipes::IdQueue queue(client, "/orders");
//   unwrap(sync_wait(queue.put("two pizzas", "order-17")));
//   int removed = unwrap(sync_wait(queue.remove("order-17")));     // 1, or 0: it is being worked on, or done
//
// All else is as said of Queue (drover/recipes/queue.h). Curator's DistributedIdQueue, in its layout; kazoo
// has none. An id need not be unique. '/' and '|' in it are written as '_', so that ids which differ only
// there are one.
#pragma once

#include <string>

#include "drover/recipes/queue.h"

namespace drover::recipes {

class IdQueue {
 public:
  // The layout is Curator's, whatever the options say.
  IdQueue(Client client, std::string path, QueueOptions options = {});

  Task<Result<void>> put(std::string data, std::string id, Wait wait = {}) const;
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  // Removes all of this id that nobody has claimed, and says how many. What somebody has taken stays his: a
  // removal and a claim of one item cannot both succeed.
  Task<Result<int>> remove(std::string id, Wait wait = {}) const;
  Task<Result<int>> size(Wait wait = {}) const;
  // Of an item that was taken.
  static std::string id_of(const QueueItem& item);

 private:
  std::shared_ptr<const QueueConfig> config_;
};

}  // namespace drover::recipes

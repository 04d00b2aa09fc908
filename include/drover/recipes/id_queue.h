// SPDX-License-Identifier: Apache-2.0
//
// A queue whose items have ids and can be removed by id before they are taken.
//
//   recipes::IdQueue queue(client, "/orders");
//   unwrap(sync_wait(queue.put("two pizzas", "order-17")));
//   int removed = unwrap(sync_wait(queue.remove("order-17")));     // 1, or 0: it is being worked on, or done
//
// Otherwise as Queue (drover/recipes/queue.h). Curator: DistributedIdQueue (same nodes). kazoo:
// none. Ids need not be unique. '/' and '|' are stored as '_', so ids that differ only there are the
// same.
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
  // Removes all unclaimed items with this id and returns how many. A removal and a claim of one item cannot
  // both succeed.
  Task<Result<int>> remove(std::string id, Wait wait = {}) const;
  Task<Result<int>> size(Wait wait = {}) const;
  // The id of a taken item.
  static std::string id_of(const QueueItem& item);

 private:
  std::shared_ptr<const QueueConfig> config_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/priority_queue.h"

#include "recipes/queues/queue_config.h"

namespace drover::recipes {

PriorityQueue::PriorityQueue(Client client, std::string path, QueueOptions options)
    : config_(keyed_queue(std::move(client), std::move(path), std::move(options), parse_priority_name)) {}

Task<Result<void>> PriorityQueue::put(std::string data, std::int32_t priority, Wait wait) const {
  return put_item(config_, priority_prefix(priority), {std::move(data)}, std::move(wait));
}
Task<Result<QueueItem>> PriorityQueue::take(Wait wait) const { return take_item(config_, std::move(wait)); }
Task<Result<int>> PriorityQueue::size(Wait wait) const { return count_items(config_, std::move(wait)); }

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/delay_queue.h"

#include "recipes/queues/queue_config.h"

namespace drover::recipes {
namespace {

// Rounds up, so that an item is never early.
std::int64_t due_ms(DelayQueue::WallTime due) {
  return std::chrono::ceil<std::chrono::milliseconds>(due.time_since_epoch()).count();
}

}  // namespace

DelayQueue::DelayQueue(Client client, std::string path, QueueOptions options, WallClock clock) {
  QueueConfig config = *keyed_queue(std::move(client), std::move(path), std::move(options), parse_delay_name);
  config.now_ms = [clock = std::move(clock)] {
    return std::chrono::floor<std::chrono::milliseconds>(clock().time_since_epoch()).count();
  };
  config_ = std::make_shared<const QueueConfig>(std::move(config));
}

Task<Result<void>> DelayQueue::put(std::string data, WallTime due, Wait wait) const {
  return put_item(config_, delay_prefix(due_ms(due)), {std::move(data)}, std::move(wait));
}
Task<Result<QueueItem>> DelayQueue::take(Wait wait) const { return take_item(config_, std::move(wait)); }
Task<Result<int>> DelayQueue::size(Wait wait) const { return count_items(config_, std::move(wait)); }

}  // namespace drover::recipes

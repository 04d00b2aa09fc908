// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/queue.h"

#include "recipes/queues/queue_config.h"

namespace drover::recipes {
namespace {

std::string_view marker_of(QueueLayout layout) {
  switch (layout) {
    case QueueLayout::kCurator: return "queue-";
    case QueueLayout::kSimple: return "qn-";
    case QueueLayout::kNative: return "q-";
  }
  return "queue-";
}

// Other libraries also read the names, so nothing may precede the marker.
std::optional<ItemName> parse_name(QueueLayout layout, std::string_view name) {
  const std::string_view marker = marker_of(layout);
  if (!name.starts_with(layout == QueueLayout::kNative ? "_c_" : marker)) return std::nullopt;
  return parse_fifo_name(name, marker);
}

}  // namespace

SharedConfig keyed_queue(Client client, std::string path, QueueOptions options,
                         std::optional<ItemName> (*parse)(std::string_view)) {
  options.layout = QueueLayout::kCurator;
  return std::make_shared<const QueueConfig>(QueueConfig{.client = std::move(client),
                                                         .path = std::move(path),
                                                         .options = std::move(options),
                                                         .parse = parse,
                                                         .now_ms = {}});
}

SharedConfig fifo_queue(Client client, std::string path, QueueOptions options, std::string side) {
  const QueueLayout layout = options.layout;
  return std::make_shared<const QueueConfig>(
      QueueConfig{.client = std::move(client),
                  .path = std::move(path),
                  .options = std::move(options),
                  .parse = [layout](std::string_view name) { return parse_name(layout, name); },
                  .framed = layout == QueueLayout::kCurator,
                  .now_ms = {},
                  .side = std::move(side)});
}

Task<Result<void>> put_fifo(SharedConfig queue, std::vector<std::string> values, Wait wait) {
  return put_item(queue, std::string(marker_of(queue->options.layout)), std::move(values), std::move(wait));
}

Queue::Queue(Client client, std::string path, QueueOptions options)
    : config_(fifo_queue(std::move(client), std::move(path), std::move(options))) {}

Task<Result<void>> Queue::put(std::string data, Wait wait) const {
  return put_fifo(config_, {std::move(data)}, std::move(wait));
}
Task<Result<void>> Queue::put_all(std::vector<std::string> values, Wait wait) const {
  return put_fifo(config_, std::move(values), std::move(wait));
}
Task<Result<QueueItem>> Queue::take(Wait wait) const { return take_item(config_, std::move(wait)); }
Task<Result<int>> Queue::size(Wait wait) const { return count_items(config_, std::move(wait)); }

}  // namespace drover::recipes

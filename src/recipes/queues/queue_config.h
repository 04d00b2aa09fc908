// SPDX-License-Identifier: Apache-2.0
//
// The differences between kinds of queues, for the code shared by all of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_path.h"
#include "drover/recipes/queue.h"
#include "recipes/common/steps.h"
#include "recipes/queues/queue_names.h"

namespace drover::recipes {

struct QueueConfig {
  Client client;
  std::string path;
  QueueOptions options;
  std::function<std::optional<ItemName>(std::string_view)> parse;
  bool framed = true;                    // Curator's frame around the values
  std::function<std::int64_t()> now_ms;  // set: an item's rank is the time it is due
  std::string side = {};                 // of what is beside the queue; empty: its path

  std::string item_path(std::string_view name) const { return child_path(path, name); }
  // A helper directory: ".claims", ".turns", ".done", ".puts", ".dead".
  std::string beside(std::string_view suffix) const {
    return (side.empty() ? path : side) + std::string(suffix);
  }
  std::string claims_path() const { return options.claims.empty() ? beside(".claims") : options.claims; }
  std::string claim_path(std::string_view name) const { return child_path(claims_path(), name); }
};
using SharedConfig = std::shared_ptr<const QueueConfig>;

// For queues whose item names carry more than their order: always Curator's layout.
SharedConfig keyed_queue(Client client, std::string path, QueueOptions options,
                         std::optional<ItemName> (*parse)(std::string_view));

// queue.cc
SharedConfig fifo_queue(Client client, std::string path, QueueOptions options, std::string side = {});
Task<Result<void>> put_fifo(SharedConfig queue, std::vector<std::string> values, Wait wait);

// queue_put.cc. `prefix` is the item's name without its sequence.
Task<Result<void>> put_item(SharedConfig queue, std::string prefix, std::vector<std::string> values,
                            Wait wait);

// queue_take.cc
Task<Result<QueueItem>> take_item(SharedConfig queue, Wait wait);
// All items in the order of taking; sets the watch, if there is one. Empty for a queue that does not
// exist.
Task<Result<std::vector<ItemName>>> list_items(SharedConfig queue, Client client, const Watch* watch,
                                               Wait wait);
Task<Result<int>> count_items(SharedConfig queue, Wait wait);

// queue_claim.cc. Empty: another consumer has or had it.
Task<Result<std::optional<QueueItem>>> claim_item(SharedConfig queue, Client client, ItemName item,
                                                  Wait wait);

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// One queue made of several, so that none gets too long to be listed.
//
//   recipes::QueueSharder queue(client, "/jobs", {.threshold = 5000, .queues_max = 8});
//   unwrap(sync_wait(queue.put("job 1")));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take()));
//   unwrap(sync_wait(item.done()));
//
// A put that finds `threshold` items or more in every queue adds another one, up to `queues_max`: exactly,
// since it is added in a transaction that fails if somebody else has added one. Items of one queue come in
// their order, those of different queues in none. Everything else is as said of Queue
// (drover/recipes/queue.h), for each of the queues.
//
// Curator's QueueSharder, in its layout (<path>/queue-<uuid>/...); it elects a leader to add queues, ours
// need none. kazoo has none.
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

  // Into the queues in turn.
  Task<Result<void>> put(std::string data, Wait wait = {}) const;
  // From whichever has one. While it waits it stands in the line of each queue.
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  Task<Result<int>> size(Wait wait = {}) const;
  // Their paths, sorted.
  Task<Result<std::vector<std::string>>> queues(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

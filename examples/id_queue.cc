// SPDX-License-Identifier: Apache-2.0
//
// Cancels an order before a consumer takes it.
//
//   id_queue 127.0.0.1:2181
#include "drover/recipes/id_queue.h"

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  drover::Options options;
  options.servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
  try {
    const drover::Client client = drover::unwrap(drover::sync_wait(drover::Client::connect(options)));
    const drover::recipes::IdQueue queue(client, "/drover-examples/id-queue");
    drover::unwrap(drover::sync_wait(queue.put("two pizzas", "order-17")));
    drover::unwrap(drover::sync_wait(queue.put("one soup", "order-18")));
    const int removed = drover::unwrap(drover::sync_wait(queue.remove("order-17")));
    std::printf("cancelled: %d\n", removed);
    drover::recipes::QueueItem item =
        drover::unwrap(drover::sync_wait(queue.take(drover::Wait::within(10s))));
    std::printf("%s: %s\n", drover::recipes::IdQueue::id_of(item).c_str(), item.data().c_str());
    drover::unwrap(drover::sync_wait(item.done()));
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Spreads thirty jobs over as many queues as needed, so that none has more than ten.
//
//   queue_sharder 127.0.0.1:2181
#include "drover/recipes/queue_sharder.h"

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  drover::Options options;
  options.servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
  try {
    const drover::Client client = drover::unwrap(drover::sync_wait(drover::Client::connect(options)));
    const drover::recipes::QueueSharder queue(client, "/drover-examples/queue-sharder",
                                              {.threshold = 10, .queues_max = 5});
    for (int i = 0; i < 30; ++i) drover::unwrap(drover::sync_wait(queue.put("job " + std::to_string(i))));
    const std::vector<std::string> queues = drover::unwrap(drover::sync_wait(queue.queues()));
    for (const std::string& path : queues) std::puts(path.c_str());
    for (int i = 0; i < 30; ++i) {
      drover::recipes::QueueItem item =
          drover::unwrap(drover::sync_wait(queue.take(drover::Wait::within(10s))));
      drover::unwrap(drover::sync_wait(item.done()));
    }
    std::puts("all done");
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

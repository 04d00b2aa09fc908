// SPDX-License-Identifier: Apache-2.0
//
// Puts some jobs into a queue and processes them.
//
//   queue 127.0.0.1:2181
#include "drover/recipes/queue.h"

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  drover::Options options;
  options.servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
  try {
    const drover::Client client = drover::unwrap(drover::sync_wait(drover::Client::connect(options)));
    const drover::recipes::Queue queue(client, "/drover-examples/queue");
    for (const char* job : {"wash", "dry", "iron"}) drover::unwrap(drover::sync_wait(queue.put(job)));
    for (int i = 0; i < 3; ++i) {
      drover::recipes::QueueItem item =
          drover::unwrap(drover::sync_wait(queue.take(drover::Wait::within(10s))));
      std::printf("%s: %s\n", item.name().c_str(), item.data().c_str());
      drover::unwrap(drover::sync_wait(item.done()));
    }
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

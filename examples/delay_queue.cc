// SPDX-License-Identifier: Apache-2.0
//
// Reminders that are delivered when they are due.
//
//   delay_queue 127.0.0.1:2181
#include "drover/recipes/delay_queue.h"

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  drover::Options options;
  options.servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
  try {
    const drover::Client client = drover::unwrap(drover::sync_wait(drover::Client::connect(options)));
    const drover::recipes::DelayQueue queue(client, "/drover-examples/delay-queue");
    const auto now = std::chrono::system_clock::now();
    drover::unwrap(drover::sync_wait(queue.put("in two seconds", now + 2s)));
    drover::unwrap(drover::sync_wait(queue.put("in one second", now + 1s)));
    for (int i = 0; i < 2; ++i) {
      drover::recipes::QueueItem item =
          drover::unwrap(drover::sync_wait(queue.take(drover::Wait::within(10s))));
      std::puts(item.data().c_str());
      drover::unwrap(drover::sync_wait(item.done()));
    }
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

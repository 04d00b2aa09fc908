// SPDX-License-Identifier: Apache-2.0
//
// Three workers go through five steps together; none gets ahead of the others.
//
//   cyclic_barrier 127.0.0.1:2181
#include "drover/recipes/cyclic_barrier.h"

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  drover::Options options;
  options.servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
  try {
    const drover::Client client = drover::unwrap(drover::sync_wait(drover::Client::connect(options)));
    const auto work = [&](int number) {
      const drover::recipes::CyclicBarrier barrier(client, "/drover-examples/cyclic-barrier", {.parties = 3});
      for (int step = 1; step <= 5; ++step) {
        const int index =
            drover::unwrap(drover::sync_wait(barrier.arrive_and_wait(drover::Wait::within(30s))));
        std::printf("step %d: worker %d arrived as number %d\n", step, number, index + 1);
      }
    };
    std::vector<std::jthread> workers;
    for (int i = 1; i <= 3; ++i) workers.emplace_back(work, i);
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

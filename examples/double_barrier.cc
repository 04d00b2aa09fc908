// SPDX-License-Identifier: Apache-2.0
//
// Three workers begin together and end together.
//
//   double_barrier 127.0.0.1:2181
#include "drover/recipes/double_barrier.h"

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
      drover::recipes::DoubleBarrier barrier(client, "/drover-examples/double-barrier", {.parties = 3});
      drover::unwrap(drover::sync_wait(barrier.enter(drover::Wait::within(30s))));
      std::printf("worker %d works\n", number);
      drover::unwrap(drover::sync_wait(barrier.leave(drover::Wait::within(30s))));
      std::printf("worker %d: all workers are done\n", number);
    };
    std::vector<std::jthread> workers;
    for (int i = 1; i <= 3; ++i) workers.emplace_back(work, i);
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

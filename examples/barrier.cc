// SPDX-License-Identifier: Apache-2.0
//
// Two clients wait at a barrier until a third removes it.
//
//   barrier 127.0.0.1:2181
#include "drover/recipes/barrier.h"

#include <chrono>
#include <cstdio>
#include <thread>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  drover::Options options;
  options.servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
  try {
    const drover::Client client = drover::unwrap(drover::sync_wait(drover::Client::connect(options)));
    const drover::recipes::Barrier barrier(client, "/drover-examples/barrier");
    drover::unwrap(drover::sync_wait(barrier.set()));

    const auto pass = [&](const char* who) {
      drover::unwrap(drover::sync_wait(barrier.wait(drover::Wait::within(30s))));
      std::printf("%s has passed\n", who);
    };
    std::jthread first(pass, "first");
    std::jthread second(pass, "second");
    std::puts("removing the barrier");
    drover::unwrap(drover::sync_wait(barrier.remove()));
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A process that registers itself and reports progress with heartbeats.
//
//   example_heartbeat 127.0.0.1:2181
#include "drover/recipes/heartbeat.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_heartbeat <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  Heartbeat alive(client, "/example-alive", "host-7", {.info = "10.0.0.7", .beat_every = 100ms});
  unwrap(sync_wait(alive.start(wait)));
  for (std::uint64_t beats = 0; beats == 0;) {
    alive.beat();
    const auto node = unwrap(sync_wait(client.get("/example-alive/live/host-7", wait)));
    beats = LiveData::parse(node.data)->beats;
  }
  std::cout << "host-7 is alive and beats\n";
  unwrap(sync_wait(alive.stop(wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

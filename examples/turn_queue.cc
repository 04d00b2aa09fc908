// SPDX-License-Identifier: Apache-2.0
//
// Two pieces of work wait for their turn; the queue is visible to all clients.
//
//   turn_queue <connect string>
#include "drover/recipes/turn_queue.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::TurnQueue queue(client, "/examples/turn_queue");
  for (const char* work : {"add an index", "drop a column"}) {
    recipes::Guard turn = unwrap(sync_wait(queue.take(work, Wait::within(30s))));
    for (const recipes::Turn& each : unwrap(sync_wait(queue.waiting(Wait::within(10s)))))
      std::printf("in line: %s\n", each.payload.c_str());
    unwrap(sync_wait(turn.release(Wait::within(10s))));
  }
  return 0;
}

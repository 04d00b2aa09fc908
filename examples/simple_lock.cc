// SPDX-License-Identifier: Apache-2.0
//
// A nightly job that runs on one of many machines: the first one that gets the lock.
//
//   simple_lock <connect string>
#include "drover/recipes/simple_lock.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::SimpleLock nightly(client, "/examples/simple_lock");
  const Result<recipes::Guard> guard = sync_wait(nightly.acquire(Wait::poll()));
  std::printf(guard ? "we hold the lock\n" : "another process holds the lock\n");
  return 0;
}

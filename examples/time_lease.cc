// SPDX-License-Identifier: Apache-2.0
//
// A job that stays on one machine for an hour at a time, even if that machine restarts.
//
//   time_lease <connect string>
#include "drover/recipes/time_lease.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  for (const char* host : {"host-7", "host-8", "host-7"}) {
    const recipes::TimeLease lease(client, "/examples/time_lease", host, 1h);
    const bool ours = unwrap(sync_wait(lease.acquire(Wait::within(10s))));
    std::printf("%s %s\n", host, ours ? "runs the job" : "does not");
  }
  return 0;
}

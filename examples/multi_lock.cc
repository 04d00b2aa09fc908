// SPDX-License-Identifier: Apache-2.0
//
// A transfer between two accounts needs the locks of both.
//
//   multi_lock <connect string>
#include "drover/recipes/multi_lock.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::MultiLock both(client, {"/examples/multi_lock/from", "/examples/multi_lock/to"});
  const auto guards = unwrap(sync_wait(both.acquire(Wait::within(10s))));
  for (const recipes::Guard& each : guards) std::printf("holding %s\n", each.node().c_str());
  return 0;
}

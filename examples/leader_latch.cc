// SPDX-License-Identifier: Apache-2.0
//
// Takes part in an election, leads for a moment, and resigns.
//
//   leader_latch <connect string>
#include "drover/recipes/leader_latch.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  recipes::LeaderLatch latch(client, "/examples/leader_latch", "host-7");
  const recipes::Leadership term = unwrap(sync_wait(latch.await(Wait::within(30s))));
  std::printf("leading with fence %lld\n", static_cast<long long>(raw(term.fence)));
  for (const auto& each : unwrap(sync_wait(latch.participants(Wait::within(10s)))))
    std::printf("%s%s\n", each.id.c_str(), each.is_leader ? " leads" : "");
  unwrap(sync_wait(latch.resign(Wait::within(10s))));
  std::printf("resigned\n");
  return 0;
}

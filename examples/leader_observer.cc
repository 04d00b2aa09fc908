// SPDX-License-Identifier: Apache-2.0
//
// Watches an election that two others stand in.
//
//   leader_observer <connect string>
#include "drover/recipes/leader_observer.h"

#include <chrono>
#include <cstdio>

#include "drover/recipes/leader_latch.h"

using namespace std::chrono_literals;
using namespace drover;

namespace {

void print_next(Stream<std::optional<recipes::Leader>>& changes) {
  const auto leader = unwrap(sync_wait(changes.next(Wait::within(30s))));
  std::printf("leader: %s\n", leader ? leader->id.c_str() : "none");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::LeaderObserver observer(client, "/examples/leader_observer");
  auto changes = observer.changes();
  print_next(changes);
  recipes::LeaderLatch first(client, "/examples/leader_observer", "host-1");
  print_next(changes);
  const recipes::LeaderLatch second(client, "/examples/leader_observer", "host-2");
  unwrap(sync_wait(first.resign(Wait::within(10s))));
  unwrap(sync_wait(second.await(Wait::within(10s))));
  while (!observer.leader() || observer.leader()->id != "host-2") print_next(changes);
  return 0;
}

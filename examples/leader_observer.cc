// SPDX-License-Identifier: Apache-2.0
//
// Watches an election between two candidates.
//
//   leader_observer <connect string>
#include "drover/recipes/leader_observer.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "drover/recipes/leader_latch.h"

using namespace std::chrono_literals;
using namespace drover;

namespace {

std::string next_leader(Stream<std::optional<recipes::Leader>>& changes) {
  const auto leader = unwrap(sync_wait(changes.next(Wait::within(30s))));
  const std::string id = leader ? leader->id : "none";
  std::printf("leader: %s\n", id.c_str());
  return id;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::LeaderObserver observer(client, "/examples/leader_observer");
  auto changes = observer.changes();
  next_leader(changes);
  recipes::LeaderLatch first(client, "/examples/leader_observer", "host-1");
  while (next_leader(changes) != "host-1") {
  }
  const recipes::LeaderLatch second(client, "/examples/leader_observer", "host-2");
  unwrap(sync_wait(first.resign(Wait::within(10s))));
  while (next_leader(changes) != "host-2") {
  }
  return 0;
}

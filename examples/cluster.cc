// SPDX-License-Identifier: Apache-2.0
//
// A controller sends a command to a cluster member, and the member reports back.
//
//   example_cluster 127.0.0.1:2181
#include "drover/recipes/cluster.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_cluster <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client one = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));
  drover::Client two = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  Cluster cluster(one, "/example-cluster");
  unwrap(sync_wait(cluster.start(wait)));
  ClusterMember member(two, "/example-cluster", "host-7", {.info = "10.0.0.7", .beat_every = 1s});
  unwrap(sync_wait(member.start(wait)));
  member.beat();

  unwrap(sync_wait(cluster.command("host-7", "drain", {}, wait)));
  const Command command = unwrap(sync_wait(member.next_command(wait)));
  std::cout << "host-7 received: " << command.word << '\n';
  member.report("drained", command.generation);
  for (;;) {
    for (const ClusterNode& node : cluster.nodes()) {
      if (!node.status || node.status->generation != command.generation) continue;
      std::cout << node.id << " at " << node.info << " reports: " << node.status->word << '\n';
      return 0;
    }
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// The leader publishes its address; clients read it from one node.
//
//   leader_info_election <connect string>
#include "drover/recipes/leader_info_election.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const std::string path = "/examples/leader-info";
  recipes::LeaderInfoElection election(client, path, "host-7:9000");
  unwrap(sync_wait(election.await(Wait::within(30s))));
  std::printf("the leader is at %s\n", unwrap(sync_wait(client.get(path, Wait::within(10s)))).data.c_str());
  unwrap(sync_wait(election.resign(Wait::within(10s))));
  return 0;
}

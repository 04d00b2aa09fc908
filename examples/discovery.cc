// SPDX-License-Identifier: Apache-2.0
//
// Registers two instances of a service, and chooses between them.
//
//   example_discovery 127.0.0.1:2181
#include "drover/recipes/discovery.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::discovery;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_discovery <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  Registry registry(client, "/example-services");
  unwrap(sync_wait(registry.add({.name = "db", .id = "db-1", .address = "10.0.0.3", .port = 5432}, wait)));
  unwrap(sync_wait(registry.add({.name = "db", .id = "db-2", .address = "10.0.0.4", .port = 5432}, wait)));

  Provider provider(client, "/example-services", "db", {.pick = Pick::kRoundRobin});
  unwrap(sync_wait(provider.start(wait)));
  for (int i = 0; i < 4; ++i) {
    if (const auto instance = provider.choose()) {
      std::cout << instance->id << " at " << instance->address << ':' << *instance->port << '\n';
    }
  }
  unwrap(sync_wait(registry.remove("db", "db-1", wait)));
  unwrap(sync_wait(registry.remove("db", "db-2", wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// Publishes a setting and follows its changes.
//
//   example_config_node 127.0.0.1:2181
#include "drover/recipes/config_node.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_config_node <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  ConfigNode<std::int32_t> limit(client, "/example-limit", big_endian_codec<std::int32_t>());
  unwrap(sync_wait(limit.start(wait)));
  unwrap(sync_wait(limit.publish(100, drover::Version::kAny, wait)));
  while (limit.current() != 100) unwrap(sync_wait(limit.next(wait)));
  std::cout << "the limit is " << *limit.current() << '\n';

  unwrap(sync_wait(client.remove("/example-limit", drover::Version::kAny, wait)));
  while (limit.current()) unwrap(sync_wait(limit.next(wait)));
  std::cout << "the configuration was deleted\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

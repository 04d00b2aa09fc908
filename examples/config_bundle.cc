// SPDX-License-Identifier: Apache-2.0
//
// Publishes several settings that change together.
//
//   example_config_bundle 127.0.0.1:2181
#include "drover/recipes/config_bundle.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_config_bundle <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const ConfigBundle config(client, "/example-bundle");
  unwrap(sync_wait(config.publish({{"hosts", "a,b"}, {"limit", "10"}}, {}, wait)));
  const Bundle first = unwrap(sync_wait(config.read(wait)));
  unwrap(sync_wait(config.publish({{"hosts", "a,b,c"}, {"limit", "15"}}, {}, wait)));
  const Bundle second = unwrap(sync_wait(config.next(first, wait)));
  for (const Bundle& bundle : {first, second}) {
    std::cout << "hosts " << bundle.pieces.at("hosts") << ", limit " << bundle.pieces.at("limit") << '\n';
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// Generates ids of every kind.
//
//   example_id_generator 127.0.0.1:2181
#include "drover/recipes/id_generator.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_id_generator <servers>");
  const auto wait = drover::Wait::within(30s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const IdGenerator zxids(client, "/example-ids", IdMode::kZxid);
  std::cout << "by zxid:  " << unwrap(sync_wait(zxids.next(wait))) << '\n';
  const IdGenerator blocks(client, "/example-blocks", IdMode::kBlock, {.block = 100});
  for (int i = 0; i < 3; ++i) std::cout << "by block: " << unwrap(sync_wait(blocks.next(wait))) << '\n';

  SnowflakeIds flakes(client, "/example-flakes");
  unwrap(sync_wait(flakes.start(wait)));
  std::cout << "flakes:   " << unwrap(flakes.next()) << ", " << unwrap(flakes.next()) << " from slot "
            << *flakes.slot() << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

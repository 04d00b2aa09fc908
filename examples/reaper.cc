// SPDX-License-Identifier: Apache-2.0
//
// Removes directories that stay empty.
//
//   example_reaper 127.0.0.1:2181
#include "drover/recipes/reaper.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::recipes::Reaper;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_reaper <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const std::string root = unwrap(sync_wait(client.create_protected("/example-reaper", "", {}, wait))).path;
  unwrap(sync_wait(client.create(root + "/empty", "", {}, wait)));
  unwrap(sync_wait(client.create(root + "/used", "still in use", {}, wait)));
  const Reaper reaper(client, root, {.check_every = 50ms});
  while (unwrap(sync_wait(client.exists(root + "/empty", wait)))) continue;
  std::cout << "the empty directory is gone, the other one is "
            << (unwrap(sync_wait(client.exists(root + "/used", wait))) ? "there" : "gone, too") << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

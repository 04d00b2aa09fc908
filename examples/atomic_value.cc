// SPDX-License-Identifier: Apache-2.0
//
// A shared counter that counts each addition exactly once.
//
//   example_atomic_value 127.0.0.1:2181
#include "drover/recipes/atomic_value.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::recipes::AtomicLong;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_atomic_value <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const AtomicLong hits(client, "/example-hits", {.exactly_once = true});
  for (int i = 0; i < 3; ++i) std::cout << unwrap(sync_wait(hits.add(1, wait))) << '\n';
  std::cout << (unwrap(sync_wait(hits.compare_and_set(-1, 0, wait))) ? "set" : "not set: the value is not -1") << '\n';
  unwrap(sync_wait(client.remove("/example-hits", drover::Version::kAny, wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

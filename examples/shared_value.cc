// SPDX-License-Identifier: Apache-2.0
//
// A counter that two clients see and both can change.
//
//   example_shared_value 127.0.0.1:2181
#include "drover/recipes/shared_value.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::recipes::SharedCount;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_shared_value <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client one = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));
  drover::Client two = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  SharedCount mine(one, "/example-count", 10);
  SharedCount theirs(two, "/example-count", 10);
  unwrap(sync_wait(mine.start(wait)));
  unwrap(sync_wait(theirs.start(wait)));
  const auto seen = mine.current();
  const bool first = unwrap(sync_wait(mine.try_set(seen, seen.value + 1, wait)));
  const bool second = unwrap(sync_wait(theirs.try_set({.value = 10, .version = seen.version}, 12, wait)));
  std::cout << (first ? "the first has set it" : "?")
            << (second ? ", and the second" : ", the second has not") << '\n';
  while (theirs.current().value != 11) unwrap(sync_wait(theirs.next(wait)));
  std::cout << "both see " << theirs.current().value << '\n';
  unwrap(sync_wait(one.remove("/example-count", drover::Version::kAny, wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

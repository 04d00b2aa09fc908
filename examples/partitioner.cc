// SPDX-License-Identifier: Apache-2.0
//
// Two processes that share the work.
//
//   example_partitioner 127.0.0.1:2181
#include "drover/recipes/partitioner.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;

namespace {

void print(const char* who, const Share& share) {
  std::cout << who << " has";
  for (const std::string& item : share.items()) std::cout << ' ' << item;
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_partitioner <servers>");
  const auto wait = drover::Wait::within(20s);
  drover::Client one = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));
  drover::Client two = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const std::vector<std::string> items{"a", "b", "c", "d", "e"};
  Partitioner first(one, "/example-parts", "host-1", items, {.settle = 200ms});
  Partitioner second(two, "/example-parts", "host-2", items, {.settle = 200ms});
  unwrap(sync_wait(first.start(wait)));
  unwrap(sync_wait(second.start(wait)));
  for (;;) {
    const Share mine = unwrap(sync_wait(first.acquire(wait)));
    if (mine.items().size() == items.size()) continue;  // The other one is not visible yet.
    print("host-1", mine);
    print("host-2", unwrap(sync_wait(second.acquire(wait))));
    return 0;
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

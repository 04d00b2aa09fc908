// SPDX-License-Identifier: Apache-2.0
//
// Keeps a node in place: recreates it when another client deletes it.
//
//   example_persistent_node 127.0.0.1:2181
#include "drover/recipes/persistent_node.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::recipes::PersistentNode;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_persistent_node <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  PersistentNode here(client, "/example-live/host", "10.0.0.7:80", {.protect = true});
  const std::string path = unwrap(sync_wait(here.start(wait)));
  std::cout << "it is " << path << '\n';

  here.set_data("10.0.0.7:81");
  unwrap(sync_wait(here.flush(wait)));
  std::cout << "its data is " << unwrap(sync_wait(client.get(path, wait))).data << '\n';

  const drover::Zxid before = unwrap(sync_wait(client.get(path, wait))).stat.czxid;
  unwrap(sync_wait(client.remove(path, drover::Version::kAny, wait)));
  for (;;) {
    const auto node = sync_wait(client.get(path, wait));
    if (node && node->stat.czxid != before) break;
    if (!node && node.error() != drover::Errc::kNoNode) throw_error(node.error());
  }
  std::cout << "it was created again\n";
  unwrap(sync_wait(here.close(wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

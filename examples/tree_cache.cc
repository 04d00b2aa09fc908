// SPDX-License-Identifier: Apache-2.0
//
// Follows a subtree while it changes.
//
//   example_tree_cache 127.0.0.1:2181
#include "drover/recipes/tree_cache.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::recipes::TreeCache;
using drover::recipes::TreeEvent;

namespace {

const char* word_for(TreeEvent::Kind kind) {
  switch (kind) {
    case TreeEvent::Kind::kCreated: return "created";
    case TreeEvent::Kind::kChanged: return "changed";
    case TreeEvent::Kind::kDeleted: return "deleted";
    case TreeEvent::Kind::kInitialized: return "that was all";
    case TreeEvent::Kind::kResynced: return "up to date again";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_tree_cache <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const std::string root = unwrap(sync_wait(client.create_protected("/example-tree", "", {}, wait))).path;
  TreeCache cache(client, root);
  unwrap(sync_wait(cache.start(wait)));
  auto events = cache.events();

  unwrap(sync_wait(client.create(root + "/limits", "10", {}, wait)));
  unwrap(sync_wait(client.set(root + "/limits", "20", drover::Version::kAny, wait)));
  unwrap(sync_wait(client.remove(root + "/limits", drover::Version::kAny, wait)));
  unwrap(sync_wait(client.remove(root, drover::Version::kAny, wait)));
  for (;;) {
    const TreeEvent event = unwrap(sync_wait(events.next(wait)));
    std::cout << word_for(event.kind) << ' ' << event.path << ' ' << event.node.data << '\n';
    if (event.kind == TreeEvent::Kind::kDeleted && event.path == root) return 0;
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

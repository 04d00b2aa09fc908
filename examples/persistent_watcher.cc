// SPDX-License-Identifier: Apache-2.0
//
// Watches a part of the tree and prints what happens in it.
//
//   persistent_watcher <connect string>
#include "drover/recipes/persistent_watcher.h"

#include <atomic>
#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const std::string root = unwrap(sync_wait(client.create_protected("/example-watched"))).path;
  std::atomic<int> told = 0;
  const recipes::PersistentWatcher watcher(
      client, root, WatchMode::kPersistentRecursive,
      {.on_event =
           [&told](const WatchEvent& event) {
             std::printf("event %d at %s\n", static_cast<int>(event.type), event.path.c_str());
             ++told;
             told.notify_all();
           },
       .on_gap = [] { std::printf("the watch is set: read the tree now\n"); }});
  unwrap(sync_wait(watcher.start(Wait::within(10s))));
  unwrap(sync_wait(client.create(root + "/limits", "10")));
  unwrap(sync_wait(client.set(root + "/limits", "20")));
  unwrap(sync_wait(client.remove(root + "/limits")));
  unwrap(sync_wait(client.remove(root)));
  for (int seen = told; seen < 4; seen = told) told.wait(seen);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Two members of a group, each with its own session; both show up in the member list.
//
//   example_group 127.0.0.1:2181
#include "drover/recipes/group.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_group <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client one = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));
  drover::Client two = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  Group group(one, "/example-group");
  GroupMember first = unwrap(sync_wait(group.join("host-1", "10.0.0.1:80", wait)));
  GroupMember second = unwrap(sync_wait(Group(two, "/example-group").join("host-2", "10.0.0.2:80", wait)));
  for (const Member& each :
       unwrap(sync_wait(group.until([](const auto& all) { return all.size() == 2; }, wait)))) {
    std::cout << each.id << " is at " << each.data << '\n';
  }
  // The node may belong to a crashed process, so join() waits for it to disappear, up to the given time.
  const auto soon = drover::Wait::within(500ms);
  const auto taken = sync_wait(Group(two, "/example-group").join("host-1", "10.0.0.9:80", soon));
  std::cout << "another host-1: " << taken.error().to_text() << '\n';

  unwrap(sync_wait(second.leave(wait)));
  unwrap(sync_wait(group.until([](const auto& all) { return all.size() == 1; }, wait)));
  std::cout << "host-2 has left\n";
  unwrap(sync_wait(first.leave(wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// Changes to the tree that are applied once.
//
//   example_migrations 127.0.0.1:2181
#include "drover/recipes/migrations.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;
using drover::Op;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_migrations <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const std::string root = unwrap(sync_wait(client.create_protected("/example-app", "", {}, wait))).path;
  const Migrations migrations(client, root + "/migrations");
  const std::vector<Migration> list{{"jobs", {Op::create(root + "/jobs"), Op::create(root + "/done")}},
                                    {"limit", {Op::create(root + "/limit", "10")}}};
  std::cout << "applied " << unwrap(sync_wait(migrations.apply("schema", list, wait))) << '\n';
  std::cout << "applied " << unwrap(sync_wait(migrations.apply("schema", list, wait))) << " in the second run\n";
  for (const std::string& name : unwrap(sync_wait(migrations.applied("schema", wait))))
    std::cout << name << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// Binds a name, resolves it, renames it.
//
//   example_name_service 127.0.0.1:2181
#include "drover/recipes/name_service.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::recipes::NameService;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_name_service <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const NameService names(client, "/example-names");
  unwrap(sync_wait(names.bind("db", "10.0.0.3:5432", {.ephemeral = true}, wait)));
  std::cout << "db is at " << unwrap(sync_wait(names.resolve("db", wait))).data << '\n';
  std::cout << "again: " << sync_wait(names.bind("db", "10.0.0.4:5432", {}, wait)).error().to_text() << '\n';
  unwrap(sync_wait(names.rename("db", "db-old", wait)));
  for (const std::string& name : unwrap(sync_wait(names.names(wait)))) std::cout << "bound: " << name << '\n';
  unwrap(sync_wait(names.unbind("db-old", {}, wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

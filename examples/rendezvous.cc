// SPDX-License-Identifier: Apache-2.0
//
// A master and a worker meet at a node that a third process has created.
//
//   example_rendezvous 127.0.0.1:2181
#include "drover/recipes/rendezvous.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::recipes::Rendezvous;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_rendezvous <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const Rendezvous place =
      unwrap(sync_wait(Rendezvous::create(client, "/example-jobs", {.ephemeral = true}, wait)));
  unwrap(sync_wait(Rendezvous(client, place.path()).fill("10.0.0.3:7000", wait)));
  std::cout << "the master is at " << unwrap(sync_wait(Rendezvous(client, place.path()).meet(wait))) << '\n';
  const auto late = sync_wait(Rendezvous(client, place.path()).fill("10.0.0.4:7000", wait));
  std::cout << "a second master: " << late.error().to_text() << '\n';
  unwrap(sync_wait(place.end(wait)));
  unwrap(sync_wait(place.until_over(wait)));
  std::cout << "the job is over\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

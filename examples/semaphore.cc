// SPDX-License-Identifier: Apache-2.0
//
// At most two uploads at a time, across all processes.
//
//   semaphore <connect string>
#include "drover/recipes/semaphore.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::Semaphore uploads(client, "/examples/semaphore", 2);
  auto leases = unwrap(sync_wait(uploads.acquire(2, Wait::within(10s))));
  std::printf("uploading with %zu leases\n", leases.size());
  const auto third = sync_wait(uploads.acquire(Wait::poll()));
  std::printf("a third lease: %s\n", third ? "got it" : third.error().to_text().c_str());
  leases.clear();
  const recipes::Guard again = unwrap(sync_wait(uploads.acquire(Wait::within(10s))));
  std::printf("again\n");
  return 0;
}

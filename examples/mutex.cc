// SPDX-License-Identifier: Apache-2.0
//
// Acquires a lock, writes under its protection, and releases it.
//
//   mutex <connect string>
#include "drover/recipes/mutex.h"

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::Mutex mutex(client, "/examples/mutex/lock");
  recipes::Guard guard = unwrap(sync_wait(mutex.acquire(Wait::within(10s))));
  std::printf("holding %s\nfence %lld\n", guard.node().c_str(), static_cast<long long>(raw(guard.fence())));

  std::vector<Op> ops;
  ops.push_back(guard.check_op());  // Fails the whole transaction if the lock is lost.
  ops.push_back(Op::set("/examples/mutex", "written by the holder"));
  unwrap(sync_wait(client.multi(std::move(ops), Wait::forever(guard.lost()))));

  unwrap(sync_wait(guard.release(Wait::within(10s))));
  std::printf("released\n");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// A function that needs a lock calls another one that needs it too.
//
//   reentrant_mutex <connect string>
#include "drover/recipes/reentrant_mutex.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

namespace {

void write_part(const recipes::ReentrantMutex& mutex, const char* part) {
  const recipes::Guard guard = unwrap(sync_wait(mutex.acquire(Wait::within(10s))));
  std::printf("%s under fence %lld\n", part, static_cast<long long>(raw(guard.fence())));
}

void write_all(const recipes::ReentrantMutex& mutex) {
  const recipes::Guard guard = unwrap(sync_wait(mutex.acquire(Wait::within(10s))));
  write_part(mutex, "head");  // This thread already holds the lock: no request to the server.
  write_part(mutex, "body");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  write_all(recipes::ReentrantMutex(client, "/examples/reentrant_mutex"));
  unwrap(sync_wait(client.close(Wait::within(10s))));
  return 0;
}

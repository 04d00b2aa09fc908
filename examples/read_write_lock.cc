// SPDX-License-Identifier: Apache-2.0
//
// Writes a table exclusively, then reads it together with others, with no other writer in between.
//
//   read_write_lock <connect string>
#include "drover/recipes/read_write_lock.h"

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const recipes::ReadWriteLock lock(client, "/examples/read_write_lock");
  const recipes::Guard writing = unwrap(sync_wait(lock.write(Wait::within(10s))));
  std::printf("writing alone\n");
  recipes::Guard reading = unwrap(sync_wait(lock.downgrade(writing, Wait::within(10s))));
  const recipes::Guard also = unwrap(sync_wait(lock.read(Wait::within(10s))));
  std::printf("two are reading\n");
  unwrap(sync_wait(reading.release(Wait::within(10s))));
  return 0;
}

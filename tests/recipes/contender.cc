// SPDX-License-Identifier: Apache-2.0
//
// This library's process in a test that shares a recipe with other libraries.
//
//   recipe_contender ADDRESS KIND PATH ROUNDS
//
// In each round it enters, adds one to PATH.count without a version check, and leaves. If two are inside at
// the same time, one addition is lost. While inside, it owns the node PATH.inside; if that node already
// exists, another contender is inside. Every contender of every library does the same (Contender.java,
// contender.py).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "drover/client.h"
#include "drover/recipes/leader_latch.h"
#include "drover/recipes/mutex.h"
#include "drover/recipes/read_write_lock.h"
#include "drover/recipes/semaphore.h"

using namespace std::chrono_literals;
using namespace drover;
using namespace drover::recipes;

namespace {

const auto kPatience = 120s;

void be_inside(const Client& client, const std::string& path) {
  const Wait wait = Wait::within(kPatience);
  unwrap(sync_wait(client.create(path + ".inside", {}, {.mode = CreateMode::kEphemeral}, wait)));
  const NodeData count = unwrap(sync_wait(client.get(path + ".count", wait)));
  unwrap(
      sync_wait(client.sync(path, wait)));  // Gives the other contenders time to count from the same number.
  const std::string next = std::to_string(std::stoi(count.data) + 1);
  unwrap(sync_wait(client.set(path + ".count", next, Version::kAny, wait)));
  unwrap(sync_wait(client.remove(path + ".inside", Version::kAny, wait)));
}

void one_round(const Client& client, const std::string& kind, const std::string& path) {
  const Wait wait = Wait::within(kPatience);
  if (kind == "latch") {
    LeaderLatch latch(client, path, "c++");
    unwrap(sync_wait(latch.await(wait)));
    be_inside(client, path);
    unwrap(sync_wait(latch.resign(wait)));
    return;
  }
  Guard guard;
  if (kind == "mutex") guard = unwrap(sync_wait(Mutex(client, path).acquire(wait)));
  if (kind == "write") guard = unwrap(sync_wait(ReadWriteLock(client, path).write(wait)));
  if (kind == "semaphore") guard = unwrap(sync_wait(Semaphore(client, path, 1).acquire(wait)));
  if (!guard) throw_error({.code = Errc::kBadArguments, .detail = kind});
  be_inside(client, path);
  unwrap(sync_wait(guard.release(wait)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: %s ADDRESS KIND PATH ROUNDS\n", argv[0]), 2;
  try {
    const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(kPatience))));
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();
    for (int i = std::atoi(argv[4]); i > 0; --i) one_round(client, argv[2], argv[3]);
    unwrap(sync_wait(client.close(Wait::within(kPatience))));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "c++: %s\n", problem.what());
    return 1;
  }
  return 0;
}

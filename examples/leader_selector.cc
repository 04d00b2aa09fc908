// SPDX-License-Identifier: Apache-2.0
//
// Runs a piece of work three times, each time as the elected leader.
//
//   leader_selector <connect string>
#include "drover/recipes/leader_selector.h"

#include <atomic>
#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using namespace drover;

namespace {

Task<Result<void>> work(Scheduler scheduler, recipes::Leadership term) {
  std::printf("working with fence %lld\n", static_cast<long long>(raw(term.fence)));
  auto sleeping = scheduler.sleep(Wait::within(100ms, term.lost));
  co_return co_await std::move(sleeping);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s <connect string>\n", argv[0]), 2;
  const Client client = unwrap(sync_wait(Client::connect({.servers = argv[1]}, Wait::within(10s))));
  const Scheduler scheduler = client.scheduler();
  for (int i = 0; i < 3; ++i) {
    const recipes::LeaderSelector selector(
        client, "/examples/leader_selector", "host-7",
        [scheduler](recipes::Leadership term) { return work(scheduler, std::move(term)); },
        {.requeue = false});
    unwrap(sync_wait(selector.ended(Wait::within(30s))));
  }
  return 0;
}

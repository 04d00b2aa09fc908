// SPDX-License-Identifier: Apache-2.0
//
// Two sites both carry out a transfer, or neither does.
//
//   two_phase_commit 127.0.0.1:2181
#include "drover/recipes/two_phase_commit.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

using namespace std::chrono_literals;
using drover::recipes::Decision;

// A real site writes to its own disk what it needs for either decision before it returns true.
drover::Task<drover::Result<bool>> prepare(std::string payload) {
  std::printf("prepared: %s\n", payload.c_str());
  co_return true;
}

void take_part(const drover::recipes::TwoPhaseCommit& commit, const std::string& id,
               const std::string& site) {
  const auto decision =
      drover::unwrap(drover::sync_wait(commit.participate(id, site, prepare, drover::Wait::within(20s))));
  std::printf("%s: %s\n", site.c_str(), decision == Decision::kCommit ? "commit" : "abort");
  drover::unwrap(drover::sync_wait(commit.acknowledge(id, site)));
}

}  // namespace

int main(int argc, char** argv) {
  drover::Options options;
  options.servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
  try {
    const drover::Client client = drover::unwrap(drover::sync_wait(drover::Client::connect(options)));
    const drover::recipes::TwoPhaseCommit commit(client, "/drover-examples/transfers");
    const std::string id = "transfer-" + std::to_string(::getpid());  // Ids must not be reused.
    std::jthread east([&] { take_part(commit, id, "east"); });
    std::jthread west([&] { take_part(commit, id, "west"); });
    const auto decision = drover::unwrap(
        drover::sync_wait(commit.coordinate(id, "move 10", {"east", "west"}, drover::Wait::within(20s))));
    std::printf("decided: %s\n", decision == Decision::kCommit ? "commit" : "abort");
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

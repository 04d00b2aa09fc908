// SPDX-License-Identifier: Apache-2.0
//
// The first start of an ensemble. Whatever the order and the delays in which its servers start, it serves
// soon after a quorum of them is up, and so does every server that starts later.
#include <algorithm>

#include "sim/cluster.h"

namespace drover::sim {
namespace {

bool serves(const SimServer& server) { return server.is_up() && server.process()->is_serving(); }

}  // namespace

void Cluster::boot() {
  // No faults: only the network and the disks are slow.
  const NetworkPlan network = network_.plan();
  network_.plan().refused_percent = 0;
  election_.plan() = {};
  wait_until(plan_.start_spread + kSecond, "a quorum is started", [this] { return quorum_is_up(); });
  wait_until(plan_.boot_time(), "a quorum serves once it is up", [this] { return quorum_serves(); });
  // A server that starts when the others have served for a while may need their state.
  wait_until(plan_.start_spread + 2 * plan_.boot_time() + plan_.network.state_time,
             "everybody serves that is started", [this] { return started_ones_serve(); });
  if (plan_.boot.stranger) meet_stranger();
  network_.plan() = network;
  election_.plan() = plan_.election;
}

// It stops, and nothing on its disk is touched, whatever its epochs and zxids look like. Then its operator
// decides in favour of the others.
void Cluster::meet_stranger() {
  SimServer& stranger = server(*plan_.boot.stranger);
  const std::string held = stranger.history_files();
  const std::uint64_t before = world_.tally().of(Did::kParted);
  stranger.start();
  wait_until(plan_.boot_time(), "a server with another history stops", [&] {
    if (serves(stranger)) world_.fail("a server with another history serves");
    return world_.tally().of(Did::kParted) > before;
  });
  stranger.crash(Farewell::kReset, storage::Survival::kKeep);
  if (stranger.history_files() != held) world_.fail("a server with another history has lost it");
  stranger.wipe();
}

// Some start soon, some only when everything else is over: heal() starts those.
void Cluster::start_late() {
  Random random = world_.fork(5);
  for (const auto& server : servers_) {
    if (!plan_.boot.late.contains(server->id())) continue;
    world_.after(between(random, 0, 2 * plan_.safety_time), [&server] { server->start(); });
  }
}

// A server that has lost what the others have does not count for the quorum.
bool Cluster::quorum_is_up() const {
  zab::ServerSet up;
  for (const auto& server : servers_) {
    const bool knows = raw(plan_.begins_at) == 0 || !plan_.boot.wiped.contains(server->id());
    if (server->is_up() && knows) up.insert(server->id());
  }
  return plan_.membership.is_quorum(up);
}

bool Cluster::quorum_serves() const {
  zab::ServerSet serving;
  for (const auto& server : servers_) {
    if (serves(*server)) serving.insert(server->id());
  }
  return plan_.membership.is_quorum(serving);
}

bool Cluster::started_ones_serve() const {
  return std::all_of(servers_.begin(), servers_.end(), [this](const auto& server) {
    return serves(*server) || plan_.boot.late.contains(server->id());
  });
}

}  // namespace drover::sim

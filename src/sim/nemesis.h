// SPDX-License-Identifier: Apache-2.0
//
// Injects all kinds of faults into a cluster, at random times, as the plan allows.
//
// It does nothing that the protocol cannot survive: disks lose data on one voter at a time, and on the next
// one only after the first is synced with a leader again. All other faults may come together.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/network.h"
#include "sim/plan.h"
#include "sim/server.h"
#include "sim/world.h"

namespace drover::sim {

class Nemesis {
 public:
  using Servers = std::vector<std::unique_ptr<SimServer>>;
  // All of them outlive it.
  Nemesis(World& world, Network& network, ElectionNet& election, const Plan& plan, Servers& servers);

  void begin();
  // Stops all faults and repairs their effects: every server is started, every link works.
  void heal();
  std::uint64_t incidents() const { return incidents_; }

 private:
  void strike();
  void schedule();
  SimServer& any() { return *servers_[random_.below(servers_.size())]; }
  SimServer* leader();

  void crash(SimServer& server);
  void crash_at_send(SimServer& server);
  void lose_power(SimServer& server);
  void pause(SimServer& server);
  void partition();
  void leave_leader_in_the_dark();
  void cut_for_a_while(const std::vector<std::pair<HostId, HostId>>& cuts);
  void jump(SimServer& server);
  void fail_disk(SimServer& server);
  void fill_disk(SimServer& server);
  void slow_disk(SimServer& server);
  void damage();
  void wipe();
  bool is_held_without(const SimServer& victim) const;
  bool agree_on_members() const;
  SimServer* victim_for_damage();
  void damage_file(SimServer& server);
  void damage_at(SimServer& server, const std::string& path, std::uint64_t at);
  void start_later(SimServer& server);
  void after_while(Micros low, Micros high, World::Event event);
  void say(const std::string& what) const { world_.say("fault: " + what); }

  World& world_;
  Network& network_;
  ElectionNet& election_;
  const Plan& plan_;
  Servers& servers_;
  Random random_;
  bool active_ = false;
  std::uint64_t round_ = 0;  // ends with heal()
  std::uint64_t incidents_ = 0;
};

}  // namespace drover::sim

// SPDX-License-Identifier: Apache-2.0
//
// One run: servers, clients and faults from one plan, first with faults, then healed; and the verdict.
//
//   safety     all faults of the plan may happen, and no rule may be broken
//   liveness   no more faults: before long a leader serves, every server is synced with it,
//              every call has ended, and a new client can write
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/election_net.h"
#include "sim/intruder.h"
#include "sim/nemesis.h"
#include "sim/network.h"
#include "sim/oracle.h"
#include "sim/plan.h"
#include "sim/server.h"
#include "sim/sim_client.h"
#include "sim/tally.h"
#include "sim/world.h"
#include "zab/invariants.h"

namespace drover::sim {

struct RunOptions {
  bool trace = false;
  Tally* tally = nullptr;                             // gets the counts of this run at its end
  std::optional<std::uint64_t> until = std::nullopt;  // stop after this event
};

// Lists as in a reconfig request.
struct MemberChange {
  std::string joining = {};
  std::string leaving = {};
  std::string all = {};  // instead of both
};
// "server.1=…"
std::string line_of(const zab::PeerSpec& server);

class Cluster final : private ServerObserver {
 public:
  Cluster(const Plan& plan, const RunOptions& options);
  ~Cluster() override;

  // Runs everything; true if no rule was broken.
  bool run();

  // --- the same in parts, for scripts ---
  void start();
  void run_for(Micros time);
  // Runs until `reached`; fails with `what` if the time is over.
  void wait_until(Micros time, const std::string& what, const std::function<bool()>& reached);
  // The same, but it may fail: false if the time is over.
  bool run_until(Micros time, const std::function<bool()>& reached);
  // No more faults: everything must recover.
  void heal();
  void live();
  bool failed() const { return world_.failed(); }
  void fail(std::string why) { world_.fail(std::move(why)); }
  SimServer& server(ServerId id);
  // The leader that serves; null: none.
  SimServer* leader();
  // In the order in which start() adds them.
  SimClient& client(std::size_t number) { return *clients_[number]; }
  Network& network() { return network_; }
  Intruder& intruder() { return intruder_; }
  const Plan& plan() const { return plan_; }

  // An operator asks one of the servers, whose client is connected.
  void change_members(const MemberChange& change, std::int64_t version = -1);

  const std::string& failure() const { return world_.failure(); }
  Micros simulated() const { return world_.now(); }
  std::uint64_t events() const { return world_.events(); }
  std::uint64_t operations() const;

 private:
  // cluster_boot.cc
  void boot();
  void meet_stranger();
  void start_late();
  bool quorum_is_up() const;
  bool quorum_serves() const;
  bool started_ones_serve() const;

  // cluster_reconfig.cc
  void begin_reconfiguring();
  void schedule_reconfiguration();
  void reconfigure(Random& random);
  bool is_removed(const SimServer& server) const;

  void add_client(std::uint32_t number);
  void try_a_new_client();
  void keep_sessions();
  void look_for_left_connections();
  void drain();
  Micros patience() const { return 10 * plan_.init_time() + 30 * kSecond; }
  bool everybody_serves() const;
  // A reconfiguration was proposed when a server had just lost its disk. That server cannot vote before a
  // leader has synced it, and there is no quorum of the new members without it: only an operator can help.
  bool is_quorum_lost() const;
  bool everybody_level() const;
  bool everything_drained() const;
  std::string situation() const;

  void on_known(std::string_view entry) override;
  void on_state(ServerId server, const state::Machine& machine, bool exact) override;
  void on_applied(ServerId server, Zxid zxid, std::string_view entry, std::optional<std::uint64_t> digest,
                  bool serving) override;
  void on_standalone(ServerId server, Zxid last) override;
  void on_established(ServerId server, std::uint32_t epoch, Zxid last) override;
  void on_step(const zab::Peer& peer) override;
  void judge();

  Plan plan_;
  RunOptions options_;
  World world_;
  Network network_;
  ElectionNet election_;
  std::vector<std::unique_ptr<SimServer>> servers_;
  Nemesis nemesis_;
  Intruder intruder_;
  Oracle oracle_;
  zab::Invariants invariants_;
  std::vector<const zab::Peer*> peers_;  // the running ones; scratch of on_step()
  std::vector<std::unique_ptr<SimClient>> clients_;
  std::uint64_t reigns_ = 0;               // established leaders, so far
  std::optional<Random> operator_random_;  // while the members may change
};

}  // namespace drover::sim

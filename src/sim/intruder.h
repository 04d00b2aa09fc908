// SPDX-License-Identifier: Apache-2.0
//
// An attacker that can reach the ports between servers and is none of them: a foreign learner on the quorum
// port, a foreign voice in the election.
//
// It never tells a lie that an honest server could tell. Agreement tolerates servers that fail, not servers
// that lie: a process that may speak as a voter and acknowledges what it never logged can break everything.
// The check of addresses and TLS protect against that (docs/security.md, "Between servers"). So the intruder
// says only what is impossible, or speaks under a name that is not counted:
//
//   turned away     nothing at all, garbage, the id of no member, an epoch that cannot be. Must disturb
//                   nobody, and is never answered.
//   as a voter      takes its link, and then says what no voter can: histories and zxids that do not exist
//   as no voter     a voter that says to observe, an observer that says to follow: goes all the way through
//                   the handshake, and then sends nonsense
//   votes           any notification at all: an election may go wrong, but never break anything
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "sim/election_net.h"
#include "sim/network.h"
#include "sim/plan.h"
#include "sim/server.h"
#include "sim/world.h"

namespace drover::sim {

class Intruder final : private Network::Host {
 public:
  using Servers = std::vector<std::unique_ptr<SimServer>>;
  // All of them outlive it.
  Intruder(World& world, Network& network, ElectionNet& election, const Plan& plan, const Servers& servers);
  ~Intruder() override;

  // Acts as often as the plan says; does nothing if it says never.
  void begin();
  // Its connections end, and it says nothing more.
  void leave();

 private:
  enum class Approach : std::uint8_t { kSilent, kGarbage, kNoMember, kImpossibleEpoch, kVoter, kNoVoter };
  // One connection.
  struct Visit {
    Approach approach{};
    ServerId to{};
    int lines = 0;  // number of packets it has sent
    std::string in;
    std::optional<std::uint32_t> epoch;  // the leader's, once known
    bool heard = false;                  // received something since it last sent
  };

  void on_accepted(SocketId, Port, HostId) override {}
  void on_connected(SocketId socket) override;
  void on_dial_failed(SocketId socket) override { visits_.erase(socket); }
  void on_bytes(SocketId socket, std::string_view bytes) override;
  void on_closed(SocketId socket) override { visits_.erase(socket); }

  void schedule();
  void act();
  void visit();
  void vote();
  void speak_later(SocketId socket);
  void speak(SocketId socket);
  std::string next_line(Visit& visit);
  std::string greeting(const Visit& visit);
  std::string epoch_ack(const Visit& visit);
  std::string nonsense(const Visit& visit);
  std::string garbage();
  ServerId any_of(const zab::ServerSet& servers);
  Zxid impossible_zxid(std::uint32_t epoch);
  std::uint32_t latest_epoch() const;

  World& world_;
  Network& network_;
  ElectionNet& election_;
  const Plan& plan_;
  const Servers& servers_;
  Random random_;
  ActorId actor_;
  bool active_ = false;
  std::map<SocketId, Visit> visits_;
};

}  // namespace drover::sim

// SPDX-License-Identifier: Apache-2.0
//
// A client on the network: carries bytes and time to a client that works, rests or leaves
// (sim/workload_client).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "client/session.h"
#include "sim/election_net.h"
#include "sim/network.h"
#include "sim/oracle.h"
#include "sim/workload_client.h"
#include "sim/world.h"

namespace drover::sim {

class SimClient final : private Network::Host {
 public:
  // Parts that outlive it.
  struct Parts {
    World& world;
    Network& network;
    Oracle& oracle;
  };
  SimClient(const Parts& parts, const WorkloadClientConfig& config);
  ~SimClient() override;

  // Does nothing if it has been told to leave.
  void start();
  void rest();
  void leave();
  // An extra write.
  void probe(wire::OpCode op, std::string_view body);
  // Leaves the connection half-open and connects to the next server. Also before the server has answered.
  void move();
  HostId host() const { return host_; }
  const WorkloadClient& client() const { return client_; }
  std::string describe() const;

 private:
  void on_accepted(SocketId, Port, HostId) override {}
  void on_connected(SocketId socket) override;
  void on_dial_failed(SocketId socket) override { on_closed(socket); }
  void on_bytes(SocketId socket, std::string_view bytes) override;
  void on_closed(SocketId socket) override;

  Instant now() const { return {parts_.world.now() / kMillisecond}; }
  template <class Input>
  void input(Input give) {
    parts_.oracle.set_now(now());
    client::SessionEffects effects;
    give(now(), effects);
    carry_out(effects);
  }
  void carry_out(const client::SessionEffects& effects);
  void arm_timer();
  void leave_open(SocketId socket);
  void close_late(SocketId socket);

  Parts parts_;
  HostId host_;
  std::vector<ServerId> servers_;
  ActorId actor_;
  WorkloadClient client_;
  std::optional<SocketId> socket_;
  bool leaving_ = false;
  bool resting_ = false;
  Random random_;
  std::set<SocketId> half_open_;         // left without closing them: their servers still believe in them
  std::optional<SocketId> closes_late_;  // one of them that will carry a closeSession
  std::uint64_t timer_ = 0;              // the current one
  std::optional<Instant> timer_at_;
};

}  // namespace drover::sim

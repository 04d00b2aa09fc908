// SPDX-License-Identifier: Apache-2.0
//
// The election port of all servers. As on the real one, of several notifications to a server only the newest
// waits; unlike there, a fault may lose one, or bring it twice and late, because an election must bear that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/random.h"
#include "sim/network.h"
#include "sim/world.h"

namespace drover::sim {

constexpr HostId host_of(ServerId server) { return HostId{static_cast<std::uint32_t>(raw(server))}; }

struct ElectionNetPlan {
  std::uint64_t lost_percent = 0;
  std::uint64_t doubled_percent = 0;
};

class ElectionNet {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    virtual void on_notification(ServerId from, std::string_view bytes) = 0;
    virtual void on_reachable(ServerId peer, bool reachable) = 0;
  };

  // Delays and cuts are the network's, which outlives this.
  ElectionNet(World& world, Network& network, const ElectionNetPlan& plan)
      : world_(world), network_(network), plan_(plan), random_(world.fork(2)) {}

  void attach(ServerId id, Host& host, ActorId actor);
  void detach(ServerId id, Farewell farewell);
  void send(ServerId from, ServerId to, std::string bytes);
  ElectionNetPlan& plan() { return plan_; }

 private:
  struct Attached {
    Host* host = nullptr;
    ActorId actor{};
  };
  // What one server has for another.
  struct Pair {
    std::optional<std::string> waiting;
    bool scheduled = false;
    std::optional<bool> reachable;
    Micros last_arrival = 0;
  };

  bool is_connected(ServerId a, ServerId b) const;
  void try_to_send(ServerId from, ServerId to);
  void arrive(ServerId from, ServerId to, std::string bytes, Micros delay);
  void set_reachable(ServerId at, ServerId peer, bool reachable);

  World& world_;
  Network& network_;
  ElectionNetPlan plan_;
  Random random_;
  std::map<ServerId, Attached> hosts_;
  std::map<std::pair<ServerId, ServerId>, Pair> pairs_;
};

}  // namespace drover::sim

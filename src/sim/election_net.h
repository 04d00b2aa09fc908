// SPDX-License-Identifier: Apache-2.0
//
// The election port of all servers. As on the real one (net/election_link) two servers have one connection:
// the server with the larger id dials; the smaller one only knocks, and the larger dials back. If both start
// at once the two cross: a connection that already carries votes is replaced, and what was under way in it is
// lost. If there are several notifications to a server, only the newest waits. On a new connection the last
// one is sent again.
//
// Unlike there, a fault may lose a notification, or deliver it twice and late, because an election must
// tolerate that.
#pragma once

#include <algorithm>
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

  // Delays and cuts come from the network, which outlives this.
  ElectionNet(World& world, Network& network, const ElectionNetPlan& plan)
      : world_(world), network_(network), plan_(plan), random_(world.fork(2)) {}

  void attach(ServerId id, Host& host, ActorId actor);
  void detach(ServerId id, Farewell farewell);
  void send(ServerId from, ServerId to, std::string bytes);
  // Another process speaks as `from`.
  void forge(ServerId from, ServerId to, std::string bytes);
  ElectionNetPlan& plan() { return plan_; }

 private:
  struct Attached {
    Host* host = nullptr;
    ActorId actor{};
  };
  // Notifications of one server for another.
  struct Pair {
    std::optional<std::string> waiting;
    std::string last;  // sent last
    bool retrying = false;
    std::optional<bool> reachable;
    Micros last_arrival = 0;
  };
  struct Link {
    bool up = false;
    bool dialling = false;     // by the larger
    bool knocking = false;     // by the smaller
    std::uint64_t number = 0;  // of the connection
  };

  Link& link_of(ServerId a, ServerId b) { return links_[std::minmax(a, b)]; }
  bool is_possible(ServerId a, ServerId b) const;
  void pump_soon(ServerId from, ServerId to, Micros delay);
  void pump(ServerId from, ServerId to);
  void transmit(ServerId from, ServerId to);
  void dial(ServerId larger, ServerId smaller);
  void on_dialled(ServerId larger, ServerId smaller);
  void on_knock(ServerId smaller, ServerId larger);
  void establish(ServerId a, ServerId b);
  void on_unreachable(ServerId from, ServerId to);
  void arrive(ServerId from, ServerId to, std::string bytes, Micros delay, std::optional<std::uint64_t> link);
  void set_reachable(ServerId at, ServerId peer, bool reachable);

  World& world_;
  Network& network_;
  ElectionNetPlan plan_;
  Random random_;
  std::map<ServerId, Attached> hosts_;
  std::map<std::pair<ServerId, ServerId>, Pair> pairs_;
  std::map<std::pair<ServerId, ServerId>, Link> links_;  // the smaller one first
};

}  // namespace drover::sim

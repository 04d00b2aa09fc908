// SPDX-License-Identifier: Apache-2.0
//
// Connections between hosts: streams of bytes that are late, cut into pieces, broken at any byte, or silent;
// but, as with TCP, never out of order, duplicated or with a gap.
//
//   cut          a pair of hosts, in one direction: what is sent waits, and arrives when the cut heals
//   refusal      a pair of hosts: new connections fail at once
//   reset        each side still gets some of what was under way, then hears that the link is broken
//   silence      one side never hears of the end: only its own timeouts help
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/world.h"

namespace drover::sim {

// A machine on the network: servers have their own ids, clients come after them.
enum class HostId : std::uint32_t {};
inline constexpr std::uint32_t kFirstClient = 100;
enum class Port : std::uint8_t { kClient, kQuorum };
// One end of a connection.
enum class SocketId : std::uint64_t {};

struct NetworkPlan {
  Micros delay_low = 100;
  Micros delay_high = 5 * kMillisecond;
  std::uint64_t split_percent = 10;   // of deliveries that arrive in pieces
  std::uint64_t refused_percent = 0;  // of connections
  Micros connect_timeout = 2 * kSecond;
  // How long a whole state takes to a learner, whatever its size; all other traffic is small compared with
  // it. 0: no longer than anything else.
  Micros state_time = 0;
  Micros state_piece_longest = kSecond;
};

// How a host goes away.
enum class Farewell : std::uint8_t {
  kReset,   // the process died: its machine tells all peers
  kSilent,  // the power is gone: no peer is told
};

class Network {
 public:
  // Callbacks of a host. After it closed a socket, it hears nothing more of it.
  class Host {
   public:
    virtual ~Host() = default;
    virtual void on_accepted(SocketId socket, Port port, HostId from) = 0;
    virtual void on_connected(SocketId socket) = 0;
    virtual void on_dial_failed(SocketId socket) = 0;
    virtual void on_bytes(SocketId socket, std::string_view bytes) = 0;
    virtual void on_closed(SocketId socket) = 0;
  };

  Network(World& world, const NetworkPlan& plan) : world_(world), plan_(plan), random_(world.fork(1)) {}

  // The host must live until it is detached; `actor` is the one whose pauses count.
  void attach(HostId id, Host& host, ActorId actor);
  void detach(HostId id, Farewell farewell);
  bool is_attached(HostId id) const { return hosts_.contains(id); }

  SocketId dial(HostId from, HostId to, Port port);
  void send(SocketId socket, std::string_view bytes);
  // Closes after what was sent.
  void close(SocketId socket);

  // --- faults ---
  void set_cut(HostId from, HostId to, bool cut);
  bool is_cut(HostId from, HostId to) const { return cuts_.contains({from, to}); }
  // New connections of `from` to `to` are refused, as by a firewall; existing ones continue.
  void set_refused(HostId from, HostId to, bool refused);
  // Ends all cuts and refusals.
  void heal();
  // Breaks one random connection; false if there is none.
  bool reset_any(Random& random, Port port);
  // Breaks all connections of a host to the servers' own port: all peers hear of it, the host does not.
  void leave_in_the_dark(HostId id);
  NetworkPlan& plan() { return plan_; }
  Micros delay() { return skewed(random_, plan_.delay_low, plan_.delay_high); }
  std::size_t connections() const { return connections_.size(); }

 private:
  struct Chunk {
    enum class Kind : std::uint8_t { kConnected, kBytes, kEnd };
    Kind kind{};
    Micros arrives = 0;
    std::string bytes;
  };
  // From one side to the other.
  struct Direction {
    std::deque<Chunk> chunks;
    Micros last_arrival = 0;
    bool scheduled = false;
    bool stalled = false;   // by a cut
    bool ended = false;     // nothing more will be sent
    bool given_up = false;  // by the receiver's own machine, even if the network is cut
  };
  struct Connection {
    Port port{};
    HostId hosts[2];
    bool open[2] = {true, true};  // the side's process knows the socket
    bool silenced = false;        // one side never hears of the end
    Direction from[2];            // what this side has sent
  };
  struct Attached {
    Host* host = nullptr;
    ActorId actor{};
  };

  static std::uint64_t number(SocketId socket) { return static_cast<std::uint64_t>(socket) >> 1; }
  static std::size_t side(SocketId socket) { return static_cast<std::uint64_t>(socket) & 1; }
  static SocketId socket(std::uint64_t number, std::size_t side) { return SocketId{number << 1 | side}; }

  void on_syn(std::uint64_t number);
  void fail_dial(std::uint64_t number, Micros delay);
  void push(std::uint64_t number, std::size_t side, Chunk::Kind kind, std::string_view bytes);
  void schedule(std::uint64_t number, std::size_t side);
  void deliver(std::uint64_t number, std::size_t side);
  void deliver_bytes(std::uint64_t number, std::size_t side, Host& host);
  void on_unheard(std::uint64_t number, std::size_t side);
  void cut_short(Direction& direction);
  void reset(std::uint64_t number, std::size_t silent);
  void forget_if_over(std::uint64_t number);
  void unstall();

  World& world_;
  NetworkPlan plan_;
  Random random_;
  std::map<HostId, Attached> hosts_;
  std::set<HostId> powered_off_;
  std::map<std::uint64_t, Connection> connections_;
  std::set<std::pair<HostId, HostId>> cuts_;
  std::set<std::pair<HostId, HostId>> refusals_;
  std::uint64_t next_ = 0;
};

}  // namespace drover::sim

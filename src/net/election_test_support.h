// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the election link tests: servers, visitors that speak the protocol by hand, and peers that only
// listen.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/election_link.h"
#include "net/peer_test_support.h"
#include "wire/quorum.h"

namespace drover::net::testing {

inline constexpr ServerId kOne{1};
inline constexpr ServerId kTwo{2};
inline constexpr ServerId kThree{3};

// One server's election port, and everything that it received.
struct Node {
  Node(World& w, ServerId id, ElectionLinksConfig config = {}) : world(w), me(id) {
    config.me = id;
    config.my_addresses = {{"127.0.0.1", 3888}};
    if (config.listen.empty()) config.listen = {{"127.0.0.1", 0}};
    links = *ElectionLinks::open(
        world.loop(), world.resolver(), config,
        {.on_notification = [this](ServerId from,
                                   std::string_view n) { received.push_back({from, std::string(n)}); },
         .on_reachable = [this](ServerId peer, bool is) { reachable[peer].push_back(is); },
         .on_trouble = [this](const std::string& line) { trouble.push_back(line); }});
    world.keep_time(links);
  }
  Endpoint endpoint() const { return endpoint_of(links->local().front()); }
  void knows(const ElectionLinksConfig::Peers& peers) { links->set_peers(peers); }
  bool has(ServerId from, const std::string& notification) const {
    return std::ranges::find(received, std::pair(from, notification)) != received.end();
  }

  World& world;
  ServerId me;
  std::vector<std::pair<ServerId, std::string>> received;
  std::map<ServerId, std::vector<bool>> reachable;
  std::vector<std::string> trouble;
  std::unique_ptr<ElectionLinks> links;
};

inline void introduce(const std::vector<Node*>& nodes) {
  ElectionLinksConfig::Peers peers;
  for (const Node* node : nodes) peers[node->me] = {node->endpoint()};
  for (Node* node : nodes) node->knows(peers);
}

// A client that speaks the protocol by hand.
struct Visitor : Recorder {
  Visitor(World& world, const Endpoint& to)
      : link(PeerLink::dial(world.loop(), world.resolver(), *this, {.to = {to}})) {
    world.keep_time(link);
  }
  void say(std::string_view bytes) {
    link->output() += bytes;
    link->flush();
  }
  std::unique_ptr<PeerLink> link;
};

inline std::string hello_of(ServerId id, const std::vector<std::string>& addresses = {"127.0.0.1:1"}) {
  std::string bytes;
  wire::append_hello(bytes, {.server = id, .addresses = addresses});
  return bytes;
}

inline std::string frame_of(std::string_view notification) {
  std::string bytes;
  wire::Writer(bytes).string(notification);
  return bytes;
}

// Listens in place of a peer, receives everything and answers nothing.
struct SilentPeer : PeerListener::Owner {
  explicit SilentPeer(World& w)
      : world(w), listener(*PeerListener::open(w.loop(), *this, {.at = {{"127.0.0.1", 0}}})) {}
  void on_accepted(Stream stream, const Address& peer) override {
    calls.push_back(std::make_unique<Call>());
    calls.back()->link = *PeerLink::accept(world.loop(), *calls.back(), std::move(stream), peer);
  }
  void on_refused(const Address&, const std::string& reason) override { FAIL() << reason; }
  Endpoint endpoint() const { return endpoint_of(listener->local().front()); }

  struct Call : Recorder {
    std::unique_ptr<PeerLink> link;
  };
  World& world;
  std::vector<std::unique_ptr<Call>> calls;
  std::unique_ptr<PeerListener> listener;
};

}  // namespace drover::net::testing

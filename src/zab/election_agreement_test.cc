// SPDX-License-Identifier: Apache-2.0
//
// Several servers elect over a network that loses, repeats and reorders their messages, from 1,000 seeds. In
// the end all of them must be settled on one leader that leads, and every leader on the way must have had a
// history at least as good as a quorum's. Servers that followed a wrong result look again, as they do when a
// leader cannot be reached.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "zab/election.h"
#include "zab/election_testing.h"

namespace drover::zab {
namespace {

using testing::History;
using testing::voters;
using wire::PeerState;

constexpr std::int64_t kGiveUpMs = 2000;  // on a leader that does not lead, or does not get followers
constexpr std::ptrdiff_t kPerLinkMax = 3;

struct Options {
  Membership membership;
  bool some_are_down = false;      // as many as a quorum can spare
  bool one_is_recovering = false;  // if a quorum can spare it
  bool some_restart = false;
};

class World {
 public:
  World(const Options& options, std::uint64_t seed) : options_(options), random_(seed) {
    for (const ServerId id : options_.membership.voters()) add(id, {.observer = false});
    for (const ServerId id : options_.membership.observers()) add(id, {.observer = true});
    if (options_.some_are_down) take_down();
    if (options_.one_is_recovering) make_one_recovering();
    for (auto& [id, node] : nodes_) start(id);
  }

  // Runs until all servers agree, or for too long.
  bool run_to_agreement() {
    for (int step = 0; step < 20'000; ++step) {
      if (agreed()) return true;
      if (options_.some_restart && step < 200 && random_.below(50) == 0) restart(random_server());
      if (!network_.empty() && random_.below(4) != 0) {
        deliver_one();
      } else {
        advance(static_cast<std::int64_t>(random_.below(20)));
      }
    }
    return false;
  }

  // The leader has synchronised its followers, and they are in its epoch.
  void establish() {
    for (auto& [id, node] : nodes_) node.election->set_established_epoch(10);
  }
  // A server that restarts from nothing: it remembers no round.
  void restart(ServerId id) {
    nodes_.at(id).election = make(id, nodes_.at(id).role);
    start(id);
  }
  ServerId random_server() {
    auto it = nodes_.begin();
    std::advance(it, static_cast<std::int64_t>(random_.below(nodes_.size())));
    return it->first;
  }
  ServerId leader() const { return nodes_.begin()->second.election->vote().leader; }
  const History& history_of(ServerId id) const { return nodes_.at(id).history; }
  std::vector<ServerId> up() const {
    std::vector<ServerId> ids;
    for (const auto& [id, node] : nodes_) ids.push_back(id);
    return ids;
  }

 private:
  struct Role {
    bool observer = false;
  };
  struct Node {
    Role role;
    History history;
    std::unique_ptr<Election> election;
    std::optional<Instant> settled_at{};
  };
  struct Message {
    ServerId from{};
    NotificationSend send;
  };

  std::unique_ptr<Election> make(ServerId id, Role role) {
    auto election =
        std::make_unique<Election>(ElectionConfig{.me = id, .observer = role.observer}, options_.membership);
    for (const ServerId down : down_) {
      if (random_.below(2) == 0) election->set_reachable(down, false);
    }
    return election;
  }
  void add(ServerId id, Role role) {
    const History history{.epoch = 1 + static_cast<std::int64_t>(random_.below(2)),
                          .zxid = static_cast<std::int64_t>(random_.below(3))};
    nodes_[id] = {role, history, nullptr};
  }

  bool spare(ServerId id) const {
    ServerSet rest;
    for (const auto& [other, node] : nodes_) {
      if (other != id && node.history.zxid != -1) rest.insert(other);
    }
    return options_.membership.is_quorum(rest);
  }
  void take_down() {
    for (const ServerId id : options_.membership.voters()) {
      if (random_.below(2) == 0 || !spare(id)) continue;
      nodes_.erase(id);
      down_.insert(id);
    }
  }
  void make_one_recovering() {
    const ServerId id = random_server();
    if (spare(id)) nodes_.at(id).history.zxid = -1;
  }

  void start(ServerId id) {
    Node& node = nodes_.at(id);
    if (!node.election) node.election = make(id, node.role);
    node.settled_at.reset();
    std::vector<NotificationSend> sends;
    node.election->start(Zxid{node.history.zxid}, node.history.epoch, now_, sends);
    after_input(id, sends);
  }

  void deliver_one() {
    const std::size_t index = random_.below(network_.size());
    const Message message = network_[index];
    const bool repeated = random_.below(10) == 0;
    if (!repeated) network_.erase(network_.begin() + static_cast<std::ptrdiff_t>(index));
    if (random_.below(10) == 0) return;  // lost
    const auto to = nodes_.find(message.send.to);
    if (to == nodes_.end()) return;
    std::vector<NotificationSend> sends;
    to->second.election->on_notification(message.from, message.send.notification, now_, sends);
    after_input(to->first, sends);
  }

  void advance(std::int64_t ms) {
    now_ = now_ + ms;
    for (auto& [id, node] : nodes_) {
      std::vector<NotificationSend> sends;
      node.election->on_time(now_, sends);
      after_input(id, sends);
      if (node.settled_at && now_ - *node.settled_at > kGiveUpMs && !is_supported(node)) start(id);
    }
  }

  void after_input(ServerId id, std::vector<NotificationSend>& sends) {
    Node& node = nodes_.at(id);
    for (NotificationSend& send : sends) {
      EXPECT_NE(send.to, id) << "nothing is sent to oneself";
      post({id, std::move(send)});
    }
    EXPECT_NE(node.election->looking(), !node.election->next_time());
    if (node.election->looking() || node.settled_at) return;
    node.settled_at = now_;
    if (node.election->vote().leader == id) check_leader(node);
  }

  // A link keeps few messages: the oldest is dropped.
  void post(Message message) {
    const auto same_link = [&](const Message& m) {
      return m.from == message.from && m.send.to == message.send.to;
    };
    if (std::ranges::count_if(network_, same_link) == kPerLinkMax) {
      network_.erase(std::ranges::find_if(network_, same_link));
    }
    network_.push_back(std::move(message));
  }

  // Each supporter proposed at least its own history, so the winner's is no worse than a quorum's.
  void check_leader(const Node& leader) {
    const auto rank = [](const History& h) { return std::tuple(h.epoch, h.zxid); };
    ServerSet not_better;
    for (const auto& [id, node] : nodes_) {
      if (rank(node.history) <= rank(leader.history)) not_better.insert(id);
    }
    EXPECT_TRUE(options_.membership.is_quorum(not_better));
    EXPECT_NE(leader.history.zxid, -1);
  }

  bool leads(ServerId id) const {
    const auto node = nodes_.find(id);
    return node != nodes_.end() && !node->second.election->looking() &&
           node->second.election->vote().leader == id;
  }
  bool is_supported(const Node& node) const {
    const ServerId leader = node.election->vote().leader;
    if (!leads(leader)) return false;
    ServerSet followers;
    for (const auto& [id, other] : nodes_) {
      if (!other.election->looking() && other.election->vote().leader == leader) followers.insert(id);
    }
    return options_.membership.is_quorum(followers);
  }
  bool agreed() const {
    return std::ranges::all_of(nodes_, [&](const auto& entry) {
      return !entry.second.election->looking() && entry.second.election->vote().leader == leader() &&
             leads(leader());
    });
  }

  Options options_;
  Random random_;
  Instant now_{1};
  std::map<ServerId, Node> nodes_;
  ServerSet down_;
  std::vector<Message> network_;
};

void expect_agreement(const Options& options) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    World world(options, seed);
    ASSERT_TRUE(world.run_to_agreement()) << "seed " << seed;
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Agreement, ThreeServers) { expect_agreement({.membership = voters(3)}); }

TEST(Agreement, FiveServers) { expect_agreement({.membership = voters(5)}); }

TEST(Agreement, FourServersSomeRestarting) {
  expect_agreement({.membership = voters(4), .some_restart = true});
}

TEST(Agreement, FiveServersSomeDownAndSomeRestarting) {
  expect_agreement({.membership = voters(5), .some_are_down = true, .some_restart = true});
}

TEST(Agreement, ServersAndObservers) {
  expect_agreement({.membership = voters(3, 2), .some_are_down = true, .some_restart = true});
}

TEST(Agreement, FiveServersOneWithoutAKnownHistory) {
  expect_agreement({.membership = voters(5), .one_is_recovering = true, .some_restart = true});
}

TEST(Agreement, GroupsWithMixedWeights) {
  Membership m = voters(7, 1);
  m.set_groups({{1, {ServerId{1}, ServerId{2}, ServerId{3}}},
                {2, {ServerId{4}, ServerId{5}, ServerId{6}}},
                {3, {ServerId{7}}}});
  m.set_weights({{ServerId{1}, 3}, {ServerId{6}, 0}, {ServerId{7}, 0}});
  expect_agreement({.membership = m, .some_restart = true});
}

TEST(Agreement, AServerThatReturnsJoinsTheExistingLeader) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    World world({.membership = voters(5, 1)}, seed);
    ASSERT_TRUE(world.run_to_agreement()) << "seed " << seed;
    const ServerId leader = world.leader();
    world.establish();
    for (const ServerId id : world.up()) {
      if (id == leader) continue;
      world.restart(id);
      ASSERT_TRUE(world.run_to_agreement()) << "seed " << seed;
      ASSERT_EQ(world.leader(), leader) << "seed " << seed;
      world.establish();
    }
  }
}

}  // namespace
}  // namespace drover::zab

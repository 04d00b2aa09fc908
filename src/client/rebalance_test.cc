// SPDX-License-Identifier: Apache-2.0
#include "client/rebalance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "client/server_order.h"

namespace drover::client {
namespace {

using Names = std::vector<std::string>;

TEST(Rebalance, ClientsOfKeptServersLeaveOnlyIfTheListGrows) {
  EXPECT_DOUBLE_EQ(chance_to_leave({.before = 3, .kept = 3, .added = 2, .current_kept = true}), 0.4);
  EXPECT_DOUBLE_EQ(chance_to_leave({.before = 3, .kept = 3, .added = 0, .current_kept = true}), 0);
  EXPECT_DOUBLE_EQ(chance_to_leave({.before = 5, .kept = 4, .added = 0, .current_kept = true}), 0);
  EXPECT_DOUBLE_EQ(chance_to_leave({.before = 3, .kept = 2, .added = 1, .current_kept = true}), 0);
}

TEST(Rebalance, ClientsOfRemovedServersAlwaysLeave) {
  EXPECT_DOUBLE_EQ(chance_to_leave({.before = 3, .kept = 2, .added = 0, .current_kept = false}), 1);
  EXPECT_DOUBLE_EQ(chance_to_leave({.before = 3, .kept = 2, .added = 3, .current_kept = false}), 1);
}

TEST(Rebalance, MoversGoWhereLoadIsMissing) {
  // A longer list: old servers have too many clients already.
  EXPECT_DOUBLE_EQ(chance_of_added({.before = 3, .kept = 2, .added = 3}), 1);
  // One server replaces another: it takes exactly its clients.
  EXPECT_DOUBLE_EQ(chance_of_added({.before = 3, .kept = 2, .added = 1}), 1);
  // Only removals.
  EXPECT_DOUBLE_EQ(chance_of_added({.before = 5, .kept = 3, .added = 0}), 0);
  // 5 -> 4 with one new: of the clients of two removed servers (2/5), three old ones take 1/20 each.
  EXPECT_DOUBLE_EQ(chance_of_added({.before = 5, .kept = 3, .added = 1}), 1 - 3.0 / 20 / (2.0 / 5));
}

TEST(Rebalance, ChancesAreChancesForEveryChange) {
  for (std::size_t before = 1; before <= 9; ++before) {
    for (std::size_t kept = 0; kept <= before; ++kept) {
      for (std::size_t added = kept == 0 ? 1 : 0; added <= 9; ++added) {
        for (const bool current_kept : {false, true}) {
          const ListChange change{before, kept, added, current_kept};
          EXPECT_GE(chance_to_leave(change), 0);
          EXPECT_LE(chance_to_leave(change), 1);
          EXPECT_GE(chance_of_added(change), 0);
          EXPECT_LE(chance_of_added(change), 1);
        }
      }
    }
  }
}

// Many clients whose servers all answer.
class Crowd {
 public:
  static constexpr std::size_t kClients = 10'000;

  explicit Crowd(Names servers) : servers_(std::move(servers)) {
    for (std::size_t i = 0; i < kClients; ++i) {
      clients_.push_back({ServerOrder(servers_.size(), i * 0x9E3779B97F4A7C15ull), {}});
      connect(clients_.back());
    }
  }

  // Returns how many moved.
  std::size_t change_to(const Names& servers) {
    Origins origins;
    for (const std::string& name : servers) {
      const auto at = std::find(servers_.begin(), servers_.end(), name);
      origins.push_back(at == servers_.end() ? std::nullopt
                                             : std::optional<std::size_t>(at - servers_.begin()));
    }
    servers_ = servers;
    std::size_t moved = 0;
    for (One& one : clients_) {
      if (!one.order.replace(origins, Current::kByList)) continue;
      ++moved;
      connect(one);
    }
    return moved;
  }

  // Every server has its share, within five standard deviations.
  void expect_even() const {
    std::map<std::string, std::size_t> load;
    for (const One& one : clients_) ++load[one.server];
    const double share = 1.0 / static_cast<double>(servers_.size());
    const double mean = kClients * share;
    EXPECT_EQ(load.size(), servers_.size());
    for (const auto& [server, clients] : load) {
      EXPECT_NEAR(static_cast<double>(clients), mean, 5 * std::sqrt(mean * (1 - share))) << server;
    }
  }

 private:
  struct One {
    ServerOrder order;
    std::string server;
  };
  void connect(One& one) {
    one.server = servers_[one.order.next()];
    one.order.on_success();
  }

  Names servers_;
  std::vector<One> clients_;
};

TEST(Rebalance, ClientsStayEvenThroughChangesAndOnlyTheNecessaryShareMoves) {
  const auto expect_moved = [](std::size_t moved, double share) {
    EXPECT_NEAR(static_cast<double>(moved), Crowd::kClients * share, 250);
  };
  Crowd crowd({"a", "b", "c"});
  crowd.expect_even();
  expect_moved(crowd.change_to({"a", "b", "c", "d", "e"}), 2.0 / 5);
  crowd.expect_even();
  expect_moved(crowd.change_to({"a", "c", "d", "e"}), 1.0 / 5);
  crowd.expect_even();
  expect_moved(crowd.change_to({"a", "c", "d", "f"}), 1.0 / 4);  // "f" replaces "e"
  crowd.expect_even();
  expect_moved(crowd.change_to({"f", "d", "c", "a"}), 0);
  crowd.expect_even();
  // Two leave and one comes, then one leaves and three come.
  expect_moved(crowd.change_to({"a", "c", "g"}), 2.0 / 4);
  crowd.expect_even();
  expect_moved(crowd.change_to({"a", "c", "h", "i", "j"}), 3.0 / 5);
  crowd.expect_even();
}

TEST(ServerOrder, AfterAChangeEveryServerIsTriedOnceInARound) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    ServerOrder order(3, seed);
    order.next();
    order.on_success();
    static_cast<void>(order.replace({0, 1, std::nullopt, std::nullopt}, Current::kByList));
    std::set<std::size_t> tried;
    for (int i = 0; i < 4; ++i) tried.insert(order.next());
    EXPECT_EQ(tried.size(), 4u);
  }
}

TEST(ServerOrder, ClientThatStaysTriesItsServerLast) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    ServerOrder order(3, seed);
    const std::size_t old = order.next();
    order.on_success();
    ASSERT_FALSE(order.replace({2, 1, 0}, Current::kByList));
    EXPECT_EQ(order.current(), 2 - old);
    order.next();
    order.next();
    EXPECT_EQ(order.next(), 2 - old);
  }
}

TEST(ServerOrder, PreferenceForAddedServersEndsWithTheMove) {
  // Otherwise clients that lose an added server would all go to the other added ones.
  std::map<std::size_t, int> next;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    ServerOrder order(2, seed);
    order.next();
    order.on_success();
    if (!order.replace({0, 1, std::nullopt, std::nullopt}, Current::kByList)) continue;
    const std::size_t moved_to = order.next();
    EXPECT_GE(moved_to, 2u);
    order.on_success();
    ++next[order.next()];
  }
  EXPECT_GT(next[0], 200) << "a third of about a thousand";
  EXPECT_GT(next[1], 200);
}

TEST(ServerOrder, UnlistedServerCountsAsKept) {
  std::size_t left = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ServerOrder order(3, seed);
    order.next();
    order.on_success();
    EXPECT_FALSE(order.replace({std::nullopt, std::nullopt, std::nullopt}, Current::kKept));
    EXPECT_FALSE(order.replace({0, 1, 2, std::nullopt}, Current::kStays));
    EXPECT_FALSE(order.replace({0, 1, 2}, Current::kKept));
    EXPECT_EQ(order.current(), std::nullopt);
    left += order.replace({0, 1, 2, std::nullopt}, Current::kKept) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(left), 250, 70);
}

TEST(ServerOrder, OrderBeforeTheFirstDialIsJustReplaced) {
  ServerOrder order(1, 3);
  EXPECT_FALSE(order.replace({std::nullopt, std::nullopt}, Current::kByList));
  EXPECT_EQ(order.size(), 2u);
}

}  // namespace
}  // namespace drover::client

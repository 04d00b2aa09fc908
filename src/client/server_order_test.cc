// SPDX-License-Identifier: Apache-2.0
#include "client/server_order.h"

#include <gtest/gtest.h>

#include <set>

namespace drover::client {
namespace {

TEST(ServerOrder, EveryServerIsTriedOnceInARound) {
  ServerOrder order(5, 1);
  for (int round = 0; round < 3; ++round) {
    std::set<std::size_t> tried;
    for (int i = 0; i < 5; ++i) tried.insert(order.next());
    EXPECT_EQ(tried.size(), 5u);
  }
}

TEST(ServerOrder, ClientsSpreadOverTheServers) {
  std::set<std::size_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) first.insert(ServerOrder(5, seed).next());
  EXPECT_EQ(first.size(), 5u);
}

TEST(ServerOrder, TheNextServerOfARoundIsTriedSoonAndANewRoundLater) {
  ServerOrder order(3, 7);
  order.next();
  EXPECT_LE(order.delay_ms(), kJitterMs);
  order.next();
  EXPECT_LE(order.delay_ms(), kJitterMs);
  order.next();
  EXPECT_GE(order.delay_ms(), kRoundDelayMinMs / 2);
}

TEST(ServerOrder, UnsuccessfulRoundsWaitLongerUpToABound) {
  ServerOrder order(1, 7);
  for (int i = 0; i < 200; ++i) {
    order.next();
    EXPECT_LE(order.delay_ms(), kRoundDelayMaxMs);
  }
  EXPECT_GE(order.delay_ms(), kRoundDelayMaxMs / 2);
}

TEST(ServerOrder, SuccessResetsTheWait) {
  ServerOrder order(1, 7);
  for (int i = 0; i < 20; ++i) order.next();
  order.on_success();
  EXPECT_LE(order.delay_ms(), kJitterMs);
}

}  // namespace
}  // namespace drover::client

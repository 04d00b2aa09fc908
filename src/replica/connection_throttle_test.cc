// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's token bucket for handshakes. Numbers as in Java's BlueThrottleTest.
#include "replica/connection_throttle.h"

#include <gtest/gtest.h>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using Kind = ConnectionThrottle::Kind;
constexpr Instant kStart{1000};

int allowed(ConnectionThrottle& throttle, int tries, Instant now, Kind kind = Kind::kGlobal) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += throttle.allow(kind, now) ? 1 : 0;
  return count;
}

TEST(ConnectionThrottle, WithoutTokensThereIsNoLimit) {
  ConnectionThrottle throttle({}, 1, kStart);
  EXPECT_EQ(allowed(throttle, 1000, kStart), 1000);
  EXPECT_EQ(throttle.deficit().count, 0u);
}

TEST(ConnectionThrottle, TheBucketIsABurstAndFillsWithTime) {
  ConnectionThrottle throttle({.tokens = 10, .fill_time_ms = 100, .fill_count = 2}, 1, kStart);
  EXPECT_EQ(allowed(throttle, 50, kStart), 10);
  EXPECT_EQ(allowed(throttle, 50, kStart + 99), 0);
  EXPECT_EQ(allowed(throttle, 50, kStart + 100), 2);
  EXPECT_EQ(allowed(throttle, 50, kStart + 350), 4) << "a part of the fill time is not lost";
  EXPECT_EQ(allowed(throttle, 50, kStart + 400), 2);
  EXPECT_EQ(allowed(throttle, 50, kStart + 1'000'000'000'000), 10) << "no more than the bucket holds";
  EXPECT_EQ(throttle.deficit().max, 10u);
}

TEST(ConnectionThrottle, WeightsCountGlobalSessions) {
  const ConnectionThrottleLimits limits{.tokens = 10, .fill_time_ms = 100'000, .weighted = true};
  ConnectionThrottle global(limits, 1, kStart);
  ConnectionThrottle renew(limits, 1, kStart);
  ConnectionThrottle local(limits, 1, kStart);
  EXPECT_EQ(allowed(global, 99, kStart), 10);
  EXPECT_EQ(allowed(renew, 99, kStart, Kind::kRenew), 15);
  EXPECT_EQ(allowed(local, 99, kStart, Kind::kLocal), 30);
}

TEST(ConnectionThrottle, AWeightIsAtLeastThatOfALocalSession) {
  ConnectionThrottle throttle({.tokens = 4,
                               .fill_time_ms = 100'000,
                               .weighted = true,
                               .global_weight = 1,
                               .local_weight = 2,
                               .renew_weight = 1},
                              1, kStart);
  EXPECT_EQ(allowed(throttle, 99, kStart, Kind::kRenew), 4);
}

TEST(ConnectionThrottle, AnEmptyBucketRaisesTheProbabilityOfDropsAndAFullOneLowersIt) {
  ConnectionThrottle throttle({.tokens = 1,
                               .fill_time_ms = 1000,
                               .freeze_time_ms = 10,
                               .drop_increase = 0.5,
                               .drop_decrease = 0.25,
                               .decrease_ratio = 0},
                              1, kStart);
  EXPECT_TRUE(throttle.allow(Kind::kGlobal, kStart));
  throttle.allow(Kind::kGlobal, kStart + 5);
  EXPECT_EQ(throttle.drop_probability(), 0) << "it is frozen";
  throttle.allow(Kind::kGlobal, kStart + 11);
  EXPECT_EQ(throttle.drop_probability(), 0.5);
  throttle.allow(Kind::kGlobal, kStart + 22);
  throttle.allow(Kind::kGlobal, kStart + 33);
  EXPECT_EQ(throttle.drop_probability(), 1);
  EXPECT_FALSE(throttle.allow(Kind::kGlobal, kStart + 34));
  throttle.allow(Kind::kGlobal, kStart + 5000);
  EXPECT_EQ(throttle.drop_probability(), 0.75);
}

TEST(ConnectionThrottle, AHandshakeWithoutATokenIsClosedWithoutAnAnswer) {
  testing::HarnessConfig config;
  config.replica.connection_throttle = {.tokens = 2, .fill_time_ms = 60'000};
  testing::Harness h(config);
  testing::Client first(h);
  EXPECT_TRUE(first.connect());
  testing::Client again(h);
  EXPECT_TRUE(again.connect({.session = first.session()})) << "renewed sessions count, too";
  testing::Client third(h);
  EXPECT_FALSE(third.connect());
  EXPECT_TRUE(third.closed());
  testing::Client fourth(h);
  EXPECT_FALSE(fourth.connect({.session = first.session()}));
  EXPECT_FALSE(again.closed()) << "a refused handshake does not take the session from its connection";
  EXPECT_EQ(h.replica->stats().sessions_throttled, 2u);
}

}  // namespace
}  // namespace drover::replica

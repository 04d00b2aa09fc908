// SPDX-License-Identifier: Apache-2.0
#include "runtime/connection_counter.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

using Verdict = ConnectionCounter::Verdict;

TEST(ConnectionCounter, LimitsPerAddressAndInTotal) {
  ConnectionCounter counter(2, 3);
  EXPECT_EQ(counter.enter("10.0.0.1"), Verdict::kWelcome);
  EXPECT_EQ(counter.enter("10.0.0.1"), Verdict::kWelcome);
  EXPECT_EQ(counter.enter("10.0.0.1"), Verdict::kTooManyFromThere);
  EXPECT_EQ(counter.enter("10.0.0.2"), Verdict::kWelcome);
  EXPECT_EQ(counter.enter("10.0.0.3"), Verdict::kTooMany);
  EXPECT_EQ(counter.rejected(), 2u);
  counter.leave("10.0.0.1");
  EXPECT_EQ(counter.enter("10.0.0.3"), Verdict::kWelcome);
  EXPECT_EQ(counter.total(), 3u);
}

TEST(ConnectionCounter, TreatsAnIpv6Slash64AsOneClient) {
  ConnectionCounter counter(2, 0);
  EXPECT_EQ(counter.enter("2001:db8:0:1:0:0:0:1"), Verdict::kWelcome);
  EXPECT_EQ(counter.enter("2001:db8:0:1:ffff:0:0:2"), Verdict::kWelcome);
  EXPECT_EQ(counter.enter("2001:db8:0:1:1:2:3:4"), Verdict::kTooManyFromThere);
  EXPECT_EQ(counter.enter("2001:db8:0:2:0:0:0:1"), Verdict::kWelcome);
  counter.leave("2001:db8:0:1:0:0:0:1");
  EXPECT_EQ(counter.enter("2001:db8:0:1:1:2:3:4"), Verdict::kWelcome);
}

TEST(ConnectionCounter, ForgetsAddressesWithoutConnections) {
  ConnectionCounter counter(1, 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(counter.enter("10.0.0.1"), Verdict::kWelcome);
    counter.leave("10.0.0.1");
  }
  EXPECT_EQ(counter.total(), 0u);
}

}  // namespace
}  // namespace drover::server

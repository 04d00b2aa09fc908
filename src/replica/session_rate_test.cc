// SPDX-License-Identifier: Apache-2.0
#include "replica/session_rate.h"

#include <gtest/gtest.h>

#include <string>

namespace drover::replica {
namespace {

int allowed_of(SessionRate& rate, int asked, std::string_view address, Instant now) {
  int allowed = 0;
  for (int i = 0; i < asked; ++i) allowed += rate.allow(address, now) ? 1 : 0;
  return allowed;
}

TEST(SessionRate, OneAddressCannotUseUpTheRateOfAll) {
  SessionRate rate({.per_second = 10, .per_second_per_address = 4}, HashKey{});
  const Instant now{1'000'000};
  EXPECT_EQ(allowed_of(rate, 100, "10.0.0.1", now), 4);
  EXPECT_EQ(allowed_of(rate, 100, "10.0.0.2", now), 4);
  EXPECT_EQ(allowed_of(rate, 100, "10.0.0.3", now), 2) << "the limit for all";
  EXPECT_EQ(allowed_of(rate, 100, "10.0.0.1", now + 500), 2);
  EXPECT_EQ(allowed_of(rate, 100, "10.0.0.1", now + 3'600'000), 4) << "idle hours do not pile up";
}

TEST(SessionRate, HasNoLimitByDefault) {
  SessionRate rate({}, HashKey{});
  EXPECT_EQ(allowed_of(rate, 1000, "10.0.0.1", Instant{5}), 1000);
  EXPECT_EQ(rate.remembered_addresses(), 0u);
}

TEST(SessionRate, TreatsAnIpv6Slash64AsOneClient) {
  SessionRate rate({.per_second = 0, .per_second_per_address = 2}, HashKey{});
  const Instant now{1000};
  EXPECT_EQ(allowed_of(rate, 2, "2001:db8:0:1:0:0:0:1", now), 2);
  EXPECT_FALSE(rate.allow("2001:db8:0:1:ffff:0:0:2", now));
  EXPECT_TRUE(rate.allow("2001:db8:0:2:0:0:0:1", now));
}

TEST(SessionRate, RemembersALimitedNumberOfBusyAddresses) {
  SessionRate rate({.per_second = 0, .per_second_per_address = 1}, HashKey{});
  const auto crowd = [&](const std::string& prefix, Instant now) {
    for (int i = 0; i < 20'000; ++i) EXPECT_TRUE(rate.allow(prefix + std::to_string(i), now));
  };
  crowd("a", Instant{1000});
  EXPECT_LE(rate.remembered_addresses(), 16'384u);
  EXPECT_FALSE(rate.allow("a0", Instant{1000}));
  crowd("b", Instant{9000});
  EXPECT_LE(rate.remembered_addresses(), 16'384u);
  EXPECT_FALSE(rate.allow("b0", Instant{9000})) << "the crowd of before is forgotten";
}

}  // namespace
}  // namespace drover::replica

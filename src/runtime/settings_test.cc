// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

state::Options with_buffer(int bytes) {
  ServerConfig config;
  config.limits.jute_max_buffer = bytes;
  return state_options(config, HashKey{});
}

TEST(Settings, AnAclMayBeAsLargeAsTheLargestRequestAllows) {
  EXPECT_EQ(with_buffer(0xfffff).acl_bytes_max, 0xfffffu - 1024) << "as it is by default";
  EXPECT_EQ(with_buffer(16 << 20).acl_bytes_max, (16u << 20) - 1024);
  EXPECT_EQ(with_buffer(4096).acl_bytes_max, 4096u - 1024);
}

TEST(Settings, ASmallBufferLeavesRoomForAnAcl) {
  EXPECT_EQ(with_buffer(1024).acl_bytes_max, 512u);
  EXPECT_EQ(with_buffer(100).acl_bytes_max, 50u);
}

TEST(Settings, AnAclAlwaysFitsIntoATransaction) {
  for (const int bytes : {100, 2000, 0xfffff, 64 << 20}) {
    EXPECT_LE(with_buffer(bytes).acl_bytes_max, with_buffer(bytes).txn_bytes_max);
  }
}

TEST(Settings, TheCoreTicksAtLeastAsOftenAsContainersAreChecked) {
  ServerConfig config;
  config.tick_time_ms = 1000;
  EXPECT_EQ(tick_period_ms(config), 500);
  config.features.container_check_interval_ms = 100;
  EXPECT_EQ(tick_period_ms(config), 100);
  config.features.container_check_interval_ms = 1;
  EXPECT_EQ(tick_period_ms(config), 10) << "docs/configuration.md names this limit";
  config = {};
  config.tick_time_ms = 60'000;
  EXPECT_EQ(tick_period_ms(config), 1000);
}

}  // namespace
}  // namespace drover::server

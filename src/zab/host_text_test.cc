// SPDX-License-Identifier: Apache-2.0
#include "zab/host_text.h"

#include <gtest/gtest.h>

namespace drover::zab {
namespace {

TEST(HostText, Ipv6AddressesAreWrittenInFullAsJavaDoes) {
  EXPECT_EQ(java_host_text("::1"), "0:0:0:0:0:0:0:1");
  EXPECT_EQ(java_host_text("::"), "0:0:0:0:0:0:0:0");
  EXPECT_EQ(java_host_text("fe80::1"), "fe80:0:0:0:0:0:0:1");
  EXPECT_EQ(java_host_text("2001:0DB8::00ff:1"), "2001:db8:0:0:0:0:ff:1");
  EXPECT_EQ(java_host_text("1:2:3:4:5:6:7::"), "1:2:3:4:5:6:7:0");
  EXPECT_EQ(java_host_text("fe80::1%eth0"), "fe80:0:0:0:0:0:0:1%eth0");
  EXPECT_EQ(java_host_text("::ffff:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(java_host_text("64:ff9b::10.0.0.1"), "64:ff9b:0:0:0:0:a00:1");
}

TEST(HostText, EverythingElseStaysAsItIs) {
  for (const char* host : {"", "zk1.example.net", "10.0.0.1", "1:2:3", ":::", "1::2::3", "1:2:3:4:5:6:7:8:9",
                           "12345::", "::1:", ":1::", "g::1", "::1.2.3", "::1.2.3.256", "::1.2.3.4.5",
                           "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:6:7:8::"}) {
    EXPECT_EQ(java_host_text(host), host);
  }
}

TEST(HostText, WildcardAndLoopbackAddressesAreLocal) {
  for (const char* host : {"", "localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "0.0.0.0", "::1",
                           "::", "0:0:0:0:0:0:0:0", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_local_host(host)) << host;
  }
  for (const char* host :
       {"10.0.0.1", "zk1", "localhost.example.net", "::2", "128.0.0.1", "127.0.0", "1::"}) {
    EXPECT_FALSE(is_local_host(host)) << host;
  }
}

}  // namespace
}  // namespace drover::zab

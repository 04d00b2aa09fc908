// SPDX-License-Identifier: Apache-2.0
#include "zab/membership_text.h"

#include <gtest/gtest.h>

namespace drover::zab {
namespace {

// As Java 3.8 sends it.
constexpr std::string_view kJava =
    "server.1=127.0.0.1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=127.0.0.1:2889:3889:participant;0.0.0.0:2182\n"
    "server.3=127.0.0.1:2890:3890:observer;0.0.0.0:2183\n"
    "version=100000004";

TEST(MembershipText, HasVotersObserversAndAVersion) {
  const auto read = parse_membership(kJava);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->voters, (ServerSet{ServerId{1}, ServerId{2}}));
  EXPECT_EQ(read->observers, ServerSet{ServerId{3}});
  EXPECT_EQ(read->version, 0x100000004);
}

TEST(MembershipText, HasGroupsAndWeights) {
  const auto read = parse_membership(
      "server.1=a:1:2:participant\nserver.2=b:1:2:participant\ngroup.1=1\ngroup.2=2\nweight.1=3\nversion=0");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->groups.at(2), std::vector{ServerId{2}});
  EXPECT_EQ(read->weight_of(ServerId{1}), 3);
  EXPECT_EQ(read->weight_of(ServerId{2}), 1);
}

TEST(MembershipText, InvalidTextIsRefused) {
  for (const std::string_view text :
       {"", "\1", "version=0", "server.x=a:1:2", "server.1=a:1:2\nserver.1=b:1:2",
        "server.1=a:1:2\nversion=zz", "server.1=a:1:2\ngroup.1=1:b"}) {
    EXPECT_FALSE(parse_membership(text)) << text;
  }
}

TEST(MembershipText, OrderAddressesAndVersionDoNotMatter) {
  const auto other = parse_membership(
      "version=0\r\n server.3 = "
      "here:1:2:observer\nserver.2=there|elsewhere:1:2:participant;2181\nserver.1=a:1:2\n");
  ASSERT_TRUE(other);
  EXPECT_TRUE(is_same_membership(*other, *parse_membership(kJava)));
}

TEST(MembershipText, RolesGroupsAndWeightsDoMatter) {
  const std::string three = "server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2\n";
  const auto base = *parse_membership(three);
  for (const std::string& other :
       {three + "server.4=d:1:2", three + "server.4=d:1:2:observer",
        std::string("server.1=a:1:2\nserver.2=b:1:2"),
        std::string("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2:observer"), three + "group.1=1:2:3"}) {
    EXPECT_FALSE(is_same_membership(base, *parse_membership(other))) << other;
  }
  const auto grouped = *parse_membership(three + "group.1=1:2\ngroup.2=3");
  EXPECT_TRUE(is_same_membership(grouped, *parse_membership(three + "group.1=2:1\ngroup.2=3\nweight.3=1")));
  EXPECT_FALSE(is_same_membership(grouped, *parse_membership(three + "group.1=1:2\ngroup.2=3\nweight.3=2")));
  EXPECT_FALSE(is_same_membership(grouped, *parse_membership(three + "group.1=1\ngroup.2=2:3")));
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
#include "config/ensemble_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::server {
namespace {

constexpr MembershipOptions kSeveralAddresses{.multi_address = true};

std::expected<PeerSpec, std::string> spec(std::string_view text, MembershipOptions options = {}) {
  return parse_server_spec(ServerId{1}, text, options);
}

TEST(ServerSpec, HostAndTwoPortsMakeAParticipant) {
  const auto server = spec("zk1:2888:3888");
  ASSERT_TRUE(server);
  EXPECT_EQ(server->addresses, (std::vector<PeerAddress>{{"zk1", 2888, 3888}}));
  EXPECT_EQ(server->type, PeerType::kParticipant);
  EXPECT_FALSE(server->client);
}

TEST(ServerSpec, TheRoleIsReadInAnyCase) {
  EXPECT_EQ(spec("zk1:2888:3888:observer")->type, PeerType::kObserver);
  EXPECT_EQ(spec("zk1:2888:3888:OBSERVER")->type, PeerType::kObserver);
  EXPECT_EQ(spec("zk1:2888:3888:participant")->type, PeerType::kParticipant);
  EXPECT_FALSE(spec("zk1:2888:3888:leader"));
}

TEST(ServerSpec, TheClientPartIsAPortOrHostAndPort) {
  EXPECT_EQ(spec("zk1:2888:3888;2181")->client, (Endpoint{"0.0.0.0", 2181}));
  EXPECT_EQ(spec("zk1:2888:3888:observer;10.0.0.1:2181")->client, (Endpoint{"10.0.0.1", 2181}));
  EXPECT_EQ(spec("zk1:2888:3888;[::1]:2181")->client, (Endpoint{"::1", 2181}));
}

TEST(ServerSpec, TheSecureClientPartFollowsAndMayOccurAlone) {
  EXPECT_EQ(spec("zk1:2888:3888;2181;2281")->secure_client, (Endpoint{"0.0.0.0", 2281}));
  const auto only_secure = spec("zk1:2888:3888;;zk1:2281");
  EXPECT_FALSE(only_secure->client);
  EXPECT_EQ(only_secure->secure_client, (Endpoint{"zk1", 2281}));
}

TEST(ServerSpec, Ipv6AddressesAreWrittenInBrackets) {
  EXPECT_EQ(spec("[2001:db8::1]:2888:3888")->addresses.front(), (PeerAddress{"2001:db8::1", 2888, 3888}));
  for (const std::string_view bad : {"[::1:2888:3888", "[::1]2888:3888", "[::1]", "[::1]:", "[]:1:2"}) {
    EXPECT_FALSE(spec(bad)) << bad;
  }
}

TEST(ServerSpec, SeveralAddressesNeedTheFeature) {
  const std::string_view text = "zk1:2888:3888|10.0.0.1:2889:3889";
  EXPECT_FALSE(spec(text));
  EXPECT_EQ(spec(text, kSeveralAddresses)->addresses.size(), 2U);
}

TEST(ServerSpec, AddressesOfOneServerHaveOneRole) {
  EXPECT_EQ(spec("a:1:2:observer|b:1:2", kSeveralAddresses)->type, PeerType::kObserver);
  EXPECT_FALSE(spec("a:1:2:observer|b:1:2:participant", kSeveralAddresses));
}

TEST(ServerSpec, MalformedSpecsAreRefused) {
  for (const std::string_view bad :
       {"", "zk1", "zk1:2888", "zk1:2888:2888", "zk1:a:b", "zk1:2888:70000", "zk1:-1:3888", ":2888:3888",
        "zk1:2888:3888:observer:x", "zk1:2888:3888;1:2:3", "zk1:2888:3888;port", "zk1:2888:3888;1;2;3", "|",
        ";", "zk1:+2888:"}) {
    EXPECT_FALSE(spec(bad, kSeveralAddresses)) << bad;
  }
}

TEST(ServerSpec, TheNumberOfAddressesIsLimited) {
  std::string text = "a:1:2";
  for (int i = 0; i < 1000; ++i) text += "|a:1:2";
  EXPECT_FALSE(spec(text, kSeveralAddresses));
}

TEST(ServerSpec, TheCanonicalTextAlwaysHasARoleAndSortsAddresses) {
  EXPECT_EQ(to_text(*spec("zk1:2888:3888;2181")), "zk1:2888:3888:participant;0.0.0.0:2181");
  EXPECT_EQ(to_text(*spec("[::1]:2888:3888:observer")), "[::1]:2888:3888:observer");
  EXPECT_EQ(to_text(*spec("b:1:2|a:3:4", kSeveralAddresses)), "a:3:4|b:1:2:participant");
  EXPECT_EQ(to_text(*spec("zk1:2888:3888;;2281")), "zk1:2888:3888:participant;;0.0.0.0:2281");
}

Membership membership(std::initializer_list<std::pair<std::string_view, std::string_view>> keys) {
  Membership result;
  for (const auto& [key, value] : keys) {
    const auto added = add_membership_key(result, key, value);
    EXPECT_TRUE(added && *added) << key;
  }
  return result;
}

TEST(EnsembleMembership, TheCanonicalTextIsTheOneInZooKeepersConfigNode) {
  const Membership three = membership({{"server.2", "zk2:2888:3888;2181"},
                                       {"server.1", "zk1:2888:3888;2181"},
                                       {"server.3", "zk3:2888:3888:observer;2181"},
                                       {"version", "100000000"}});
  EXPECT_EQ(to_text(three),
            "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
            "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
            "server.3=zk3:2888:3888:observer;0.0.0.0:2181\n"
            "version=100000000");
  EXPECT_EQ(three.voters(), 2U);
  EXPECT_EQ(three.observers(), 1U);
}

TEST(EnsembleMembership, GroupsHaveWeights) {
  const Membership two = membership(
      {{"server.1", "zk1:2888:3888"}, {"server.2", "zk2:2888:3888"}, {"group.1", "1:2"}, {"weight.2", "3"}});
  EXPECT_TRUE(check_membership(two));
  EXPECT_EQ(to_text(two),
            "server.1=zk1:2888:3888:participant\nserver.2=zk2:2888:3888:participant\n"
            "group.1=1:2\nweight.1=1\nweight.2=3\nversion=0");
}

TEST(EnsembleMembership, EveryVoterIsInExactlyOneGroup) {
  EXPECT_FALSE(check_membership(membership({{"server.1", "a:1:2"}, {"group.1", "1"}, {"group.2", "1"}})));
  EXPECT_FALSE(
      check_membership(membership({{"server.1", "a:1:2"}, {"server.2", "b:1:2"}, {"group.1", "1"}})));
  EXPECT_TRUE(check_membership(
      membership({{"server.1", "a:1:2"}, {"server.2", "b:1:2:observer"}, {"group.1", "1"}})));
  EXPECT_FALSE(check_membership(membership({{"server.1", "a:1:2"}, {"weight.1", "1"}})));
}

TEST(EnsembleMembership, OtherKeysAreIgnored) {
  Membership empty;
  EXPECT_EQ(add_membership_key(empty, "tickTime", "2000"), false);
}

TEST(EnsembleMembership, BadNumbersAreRefused) {
  Membership empty;
  EXPECT_FALSE(add_membership_key(empty, "server.x", "a:1:2"));
  EXPECT_FALSE(add_membership_key(empty, "server.-1", "a:1:2"));
  EXPECT_FALSE(add_membership_key(empty, "group.1", "1:x"));
  EXPECT_FALSE(add_membership_key(empty, "weight.1", "-2"));
  EXPECT_FALSE(add_membership_key(empty, "version", "xyz"));
}

}  // namespace
}  // namespace drover::server

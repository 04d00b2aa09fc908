// SPDX-License-Identifier: Apache-2.0
#include "drover/ensemble.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace drover {
namespace {

std::string client_of(std::string_view line) {
  const auto member = parse_ensemble_member(line);
  if (!member) return "malformed";
  return member->client ? member->client->to_text() : "none";
}

TEST(EnsembleText, HasMembersRolesAndAVersion) {
  const auto config = parse_ensemble_config(
      "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
      "server.3=[2001:db8::3]:2888:3888:observer;2183\n"
      "version=100000009");
  ASSERT_EQ(config.members.size(), 2u);
  EXPECT_EQ(config.version, 0x100000009);
  EXPECT_FALSE(config.has_groups);
  const EnsembleMember& first = config.members[0];
  EXPECT_EQ(first.id, 1);
  EXPECT_EQ(first.peers, (std::vector<PeerEndpoint>{{"zk1", 2888, 3888}}));
  EXPECT_FALSE(first.observer);
  EXPECT_EQ(first.client, (Endpoint{"zk1", 2181}));
  EXPECT_EQ(first.text, "zk1:2888:3888:participant;0.0.0.0:2181");
  EXPECT_TRUE(config.members[1].observer);
  EXPECT_EQ(config.members[1].client->to_text(), "[2001:db8::3]:2183");
}

TEST(EnsembleText, AnAddressForEveryInterfaceIsTheHostOfTheQuorumPort) {
  EXPECT_EQ(client_of("server.1=zk1:2888:3888;2181"), "zk1:2181");
  EXPECT_EQ(client_of("server.1=zk1:2888:3888;0.0.0.0:2181"), "zk1:2181");
  EXPECT_EQ(client_of("server.1=zk1:2888:3888;[::]:2181"), "zk1:2181");
  EXPECT_EQ(client_of("server.1=zk1:2888:3888;[0:0:0:0:0:0:0:0]:2181"), "zk1:2181");
  EXPECT_EQ(client_of("server.1=zk1:2888:3888;10.0.0.1:2181"), "10.0.0.1:2181");
  EXPECT_EQ(client_of("server.1=zk1:2888:3888"), "none");
}

TEST(EnsembleText, MayHaveSeveralAddressesAndASecurePort) {
  const auto member =
      parse_ensemble_member("server.7=a:2888:3888|[::1]:2889:3889:observer;2181;10.0.0.1:2281");
  ASSERT_TRUE(member);
  EXPECT_EQ(member->peers, (std::vector<PeerEndpoint>{{"a", 2888, 3888}, {"::1", 2889, 3889}}));
  EXPECT_TRUE(member->observer);
  EXPECT_EQ(member->client, (Endpoint{"a", 2181}));
  EXPECT_EQ(member->secure_client, (Endpoint{"10.0.0.1", 2281}));
}

TEST(EnsembleText, LinesThatAreNotUnderstoodAreSkipped) {
  for (const char* line :
       {"", "server.", "server.1", "server.1=", "server.x=a:1:2", "server.-1=a:1:2", "server.1=a:1",
        "server.1=a:0:2", "server.1=a:1:99999", "server.1=a:1:2:king", "server.1=[::1:1:2", "server.1=:1:2",
        "server.1=a/b:1:2", "server.1=a,b:1:2", "server.1=a\x01:1:2", "server.1=|", "server.1=;2181"}) {
    EXPECT_FALSE(parse_ensemble_member(line)) << line;
  }
  EXPECT_EQ(client_of("server.1=a:1:2;x"), "none");
  EXPECT_EQ(client_of("server.1=a:1:2;0"), "none");
  EXPECT_EQ(client_of("server.1=a:1:2;h/x:2181"), "none");
  EXPECT_TRUE(parse_ensemble_config("version=zz").members.empty());
  EXPECT_EQ(parse_ensemble_config("version=zz").version, 0);
  EXPECT_TRUE(parse_ensemble_config("group.1=1:2\nweight.1=1").has_groups);
}

TEST(EnsembleText, HostileTextIsBounded) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "server." + std::to_string(i) + "=a:1:2;3\n";
  EXPECT_EQ(parse_ensemble_config(many).members.size(), 1000u);
  EXPECT_FALSE(parse_ensemble_member("server.1=" + std::string(300, 'a') + ":1:2;3"));
  EXPECT_FALSE(parse_ensemble_member("server.1=" + std::string(1 << 20, 'a') + ":1:2;3"));
  Random random(7);
  const std::string good = "server.1=[::1]:2888:3888|b:1:2:observer;0.0.0.0:2181;2281\nversion=1f\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    text.resize(random.below(text.size() + 1));
    parse_ensemble_config(text);
  }
}

TEST(EnsembleText, IfAnIdOccursTwiceTheLastOneWins) {
  const auto config = parse_ensemble_config("server.1=a:1:2;3\nserver.1=b:1:2;4");
  ASSERT_EQ(config.members.size(), 1u);
  EXPECT_EQ(config.members[0].client->to_text(), "b:4");
}

}  // namespace
}  // namespace drover

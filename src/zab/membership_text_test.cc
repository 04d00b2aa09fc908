// SPDX-License-Identifier: Apache-2.0
#include "zab/membership_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::zab {
namespace {

constexpr MembershipOptions kSeveralAddresses{.multi_address = true};

MembershipResult<PeerSpec> spec(std::string_view text, MembershipOptions options = {}) {
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

TEST(ServerSpec, AHostHasNoCharactersThatWouldBeReadDifferently) {
  for (const std::string_view bad :
       {"z k:1:2", "z\\k:1:2", "z[:1:2", "[[::1]:1:2", "z\nk:1:2", "a:1:2;z k:3"}) {
    EXPECT_FALSE(spec(bad)) << bad;
  }
}

TEST(ServerSpec, SeparatorsAtTheEndDoNotCount) {
  EXPECT_EQ(to_text(*spec("zk1:2888:3888:;2181")), to_text(*spec("zk1:2888:3888;2181")));
  EXPECT_EQ(to_text(*spec("zk1:2888:3888:observer:;zk1:2181:;;")),
            to_text(*spec("zk1:2888:3888:observer;zk1:2181")));
  EXPECT_TRUE(spec("zk1:2888:3888|"));
}

TEST(ServerSpec, MistakesHaveTheErrorCodesOfJava) {
  EXPECT_EQ(spec("zk1:4294967297:3888").error().code, ErrorCode::kBadArguments);
  EXPECT_EQ(parse_membership("server.1=zk1:1:2\n\\u00").error().code, ErrorCode::kMarshallingError);
  EXPECT_EQ(spec("zk1:a:3888").error().code, ErrorCode::kBadArguments);
  EXPECT_EQ(spec("zk1:70000:3888").error().code, ErrorCode::kMarshallingError);
  EXPECT_EQ(spec("zk1:2888:3888;70000").error().code, ErrorCode::kMarshallingError);
  EXPECT_EQ(spec("zk1:2888:3888:leader").error().code, ErrorCode::kBadArguments);
}

TEST(ServerSpec, TheNumberOfAddressesIsLimited) {
  std::string text = "a:1:2";
  for (int i = 0; i < 1000; ++i) text += "|a:1:2";
  EXPECT_FALSE(spec(text, kSeveralAddresses));
}

TEST(ServerSpec, TheCanonicalTextAlwaysHasARoleAndSortsAddresses) {
  EXPECT_EQ(to_text(*spec("zk1:2888:3888;2181")), "zk1:2888:3888:participant;0.0.0.0:2181");
  EXPECT_EQ(to_text(*spec("[::1]:2888:3888:observer")), "[0:0:0:0:0:0:0:1]:2888:3888:observer");
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

TEST(MembershipKeys, TheCanonicalTextIsTheOneInZooKeepersConfigNode) {
  const Membership three = membership({{"server.2", "zk2:2888:3888;2181"},
                                       {"server.1", "zk1:2888:3888;2181"},
                                       {"server.3", "zk3:2888:3888:observer;2181"},
                                       {"version", "100000000"}});
  EXPECT_EQ(to_text(three),
            "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
            "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
            "server.3=zk3:2888:3888:observer;0.0.0.0:2181\n"
            "version=100000000");
  EXPECT_EQ(three.voters().size(), 2U);
  EXPECT_EQ(three.observers().size(), 1U);
}

TEST(MembershipKeys, GroupsHaveWeights) {
  const Membership two = membership(
      {{"server.1", "zk1:2888:3888"}, {"server.2", "zk2:2888:3888"}, {"group.1", "2:1"}, {"weight.2", "3"}});
  EXPECT_TRUE(check_membership(two));
  EXPECT_EQ(to_text(two),
            "server.1=zk1:2888:3888:participant\nserver.2=zk2:2888:3888:participant\n"
            "group.1=1:2\nweight.1=1\nweight.2=3\nversion=0");
}

TEST(MembershipKeys, EveryVoterIsInExactlyOneGroup) {
  EXPECT_FALSE(check_membership(membership({{"server.1", "a:1:2"}, {"group.1", "1"}, {"group.2", "1"}})));
  EXPECT_FALSE(
      check_membership(membership({{"server.1", "a:1:2"}, {"server.2", "b:1:2"}, {"group.1", "1"}})));
  EXPECT_TRUE(check_membership(
      membership({{"server.1", "a:1:2"}, {"server.2", "b:1:2:observer"}, {"group.1", "1"}})));
  EXPECT_FALSE(check_membership(membership({{"server.1", "a:1:2"}, {"weight.1", "1"}})));
}

TEST(MembershipKeys, OtherKeysAreIgnored) {
  Membership empty;
  EXPECT_EQ(add_membership_key(empty, "tickTime", "2000"), false);
}

TEST(MembershipKeys, BadNumbersAreRefused) {
  Membership empty;
  EXPECT_FALSE(add_membership_key(empty, "server.x", "a:1:2"));
  EXPECT_FALSE(add_membership_key(empty, "server.-1", "a:1:2"));
  EXPECT_FALSE(add_membership_key(empty, "group.1", "1:x"));
  EXPECT_FALSE(add_membership_key(empty, "weight.1", "-2"));
  EXPECT_FALSE(add_membership_key(empty, "version", "xyz"));
}

// As Java 3.8 sends it.
constexpr std::string_view kJava =
    "server.1=127.0.0.1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=127.0.0.1:2889:3889:participant;0.0.0.0:2182\n"
    "server.3=127.0.0.1:2890:3890:observer;0.0.0.0:2183\n"
    "version=100000004";

TEST(MembershipText, HasVotersObserversAndAVersion) {
  const auto read = parse_membership(kJava);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->voters(), (ServerSet{ServerId{1}, ServerId{2}}));
  EXPECT_EQ(read->observers(), ServerSet{ServerId{3}});
  EXPECT_EQ(read->version(), 0x100000004);
}

TEST(MembershipText, HasGroupsAndWeights) {
  const auto read = parse_membership(
      "server.1=a:1:2:participant\nserver.2=b:1:2:participant\ngroup.1=1\ngroup.2=2\nweight.1=3\nversion=0");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->groups().at(2), std::vector{ServerId{2}});
  EXPECT_EQ(read->weight_of(ServerId{1}), 3);
  EXPECT_EQ(read->weight_of(ServerId{2}), 1);
}

TEST(MembershipText, InvalidTextIsRefused) {
  for (const std::string_view text :
       {"\1", "server.x=a:1:2", "server.1=a", "server.1=a:1:2\nversion=zz", "server.1=a:1:2\nversion=-1",
        "server.1=a:1:2\ngroup.1=1:b", "server.1=a:1:2\ntickTime=2000", "server.1=a:1:2\nweight.1=1",
        "server.1=a\\u12:1:2"}) {
    EXPECT_FALSE(parse_membership(text)) << text;
  }
}

TEST(MembershipText, OrderAddressesAndVersionDoNotMatter) {
  const auto other = parse_membership(
      "version=0\r\n server.3 = "
      "here:1:2:observer\nserver.2=there:3:4|elsewhere:1:2:participant;2181\nserver.1=a:1:2\n",
      kSeveralAddresses);
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

TEST(MembershipText, ATextWithoutServersIsAnEmptyMembership) {
  for (const std::string_view text : {"", "# nothing\n", "version=0"}) {
    const auto read = parse_membership(text);
    ASSERT_TRUE(read) << text;
    EXPECT_TRUE(read->servers().empty());
  }
}

TEST(MembershipText, IfAKeyOccursTwiceTheLastOneWins) {
  const auto read = parse_membership("server.1=a:1:2\nserver.1=b:1:2:observer");
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), "server.1=b:1:2:observer\nversion=0");
}

TEST(MembershipText, TheCanonicalTextIsReadBackUnchanged) {
  for (const std::string_view text :
       {kJava, std::string_view("server.1=[fe80:0:0:0:0:0:0:1]:1:2:participant;[0:0:0:0:0:0:0:0]:3\n"
                                "group.1=1\nweight.1=1\nweight.7=5\nversion=1f")}) {
    const auto read = parse_membership(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(to_text(*read), text);
  }
}

TEST(MembershipText, TheNumberOfServersIsLimited) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "server." + std::to_string(i) + "=a:1:2\n";
  EXPECT_FALSE(parse_membership(text));
}

TEST(MembershipText, TheVersionOfAFileIsInItsName) {
  EXPECT_EQ(version_of_file_name("/etc/zoo.cfg.dynamic.1000000ff"), 0x1000000ff);
  for (const char* name : {"", "zoo", "/etc/zoo.cfg.dynamic", "zoo.cfg.dynamic.", "zoo.cfg.dynamic.-1"}) {
    EXPECT_EQ(version_of_file_name(name), 0) << name;
  }
}

// Written by Java 3.8.0 into zoo.cfg.dynamic.10000007b and zoo.cfg.dynamic.next.
TEST(MembershipText, LinesOfAFileAreSortedAsText) {
  const auto read = parse_membership(
      "server.10=a:1:2:participant\nserver.2=b:1:2:participant\ngroup.1=2:10\nversion=10000007b");
  ASSERT_TRUE(read);
  EXPECT_EQ(file_text(*read, VersionLine::kLeftOut),
            "group.1=2:10\nserver.10=a:1:2:participant\nserver.2=b:1:2:participant\nweight.10=1\nweight.2=1");
  EXPECT_EQ(file_text(*read, VersionLine::kWritten),
            "group.1=2:10\nserver.10=a:1:2:participant\nserver.2=b:1:2:participant\nversion=10000007b\n"
            "weight.10=1\nweight.2=1");
}

}  // namespace
}  // namespace drover::zab

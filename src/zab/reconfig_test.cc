// SPDX-License-Identifier: Apache-2.0
//
// The expectations were seen on Apache ZooKeeper 3.8.0: three servers with reconfigEnabled=true and
// skipACL=yes got these requests, with standaloneEnabled=false and, where it matters, true.
#include "zab/reconfig.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <optional>
#include <ostream>
#include <string>

namespace drover::zab {
namespace {

const std::string kOne = "server.1=127.0.0.1:2881:3881:participant;127.0.0.1:2181";
const std::string kTwo = "server.2=127.0.0.1:2882:3882:participant;127.0.0.1:2182";
const std::string kThree = "server.3=127.0.0.1:2883:3883:participant;127.0.0.1:2183";
const std::string kFull = kOne + "," + kTwo + "," + kThree;
const std::string kNine = "server.9=10.1.1.9:2888:3888";
const std::string kNineObserves = kNine + ":observer;2181";
const std::string kNineInText = "server.9=10.1.1.9:2888:3888:observer;0.0.0.0:2181";

std::string lines(std::string text) {
  std::ranges::replace(text, ',', '\n');
  return text;
}

Membership three() { return *parse_membership(lines(kFull) + "\nversion=100000000"); }

struct Text {
  std::optional<std::string> joining{}, leaving{}, new_members{};

  wire::ReconfigRequest request() const {
    wire::ReconfigRequest r;
    if (joining) r.joining = *joining;
    if (leaving) r.leaving = *leaving;
    if (new_members) r.new_members = *new_members;
    return r;
  }
};

// The members as text without the version, or the name of the error.
std::string outcome(const Membership& last_seen, const Text& text, const ReconfigRules& rules) {
  const auto next = next_membership(last_seen, text.request(), rules);
  if (!next) return std::string(name_of(next.error().code));
  EXPECT_EQ(next->version(), last_seen.version()) << "the caller sets the version";
  const std::string all = to_text(*next);
  return all.substr(0, all.rfind("\nversion="));
}

const std::string kBadArguments{name_of(ErrorCode::kBadArguments)};
const std::string kMarshallingError{name_of(ErrorCode::kMarshallingError)};

struct Case {
  std::string what;
  Text text;
  std::string expected;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.what; }

std::string joined(const std::string& line) { return lines(kFull) + "\n" + line; }

class Java : public ::testing::TestWithParam<Case> {};

TEST_P(Java, HasTheSameOutcome) {
  const Case& c = GetParam();
  EXPECT_EQ(outcome(three(), c.text, {.standalone_enabled = false}), c.expected) << c.what;
}

INSTANTIATE_TEST_SUITE_P(
    Leaving, Java,
    ::testing::ValuesIn(std::vector<Case>{
        {"nothing at all", {}, lines(kFull)},
        {"empty strings", {.joining = "", .leaving = ""}, lines(kFull)},
        {"only commas", {.joining = ",,", .leaving = " , "}, lines(kFull)},
        {"one that leaves", {.leaving = "2"}, lines(kOne + "," + kThree)},
        {"all but one", {.leaving = "1,2"}, kThree},
        {"all", {.leaving = "1,2,3"}, kBadArguments},
        {"an unknown id", {.leaving = "77"}, lines(kFull)},
        {"a negative id", {.leaving = "-5"}, lines(kFull)},
        {"an id with a plus sign", {.leaving = "+77"}, lines(kFull)},
        {"not a number", {.leaving = "x"}, kMarshallingError},
        {"a number that is too large", {.leaving = "99999999999999999999"}, kMarshallingError},
        {"a name instead of an id", {.leaving = "server.77"}, kMarshallingError},
    }));

INSTANTIATE_TEST_SUITE_P(
    Joining, Java,
    ::testing::ValuesIn(std::vector<Case>{
        {"an observer", {.joining = kNineObserves}, joined(kNineInText)},
        {"a role in capitals", {.joining = kNine + ":OBSERVER;2181"}, joined(kNineInText)},
        {"a voter", {.joining = kNine + ";2181"}, joined(kNine + ":participant;0.0.0.0:2181")},
        {"blanks around =", {.joining = "server.9 = 10.1.1.9:2888:3888:observer;2181"}, joined(kNineInText)},
        {"two =", {.joining = "server.9==10.1.1.9:2888:3888:observer;2181"}, joined(kNineInText)},
        {"only an id", {.joining = "9=10.1.1.9:2888:3888:observer;2181"}, joined(kNineInText)},
        {"another word", {.joining = "a.b.9=10.1.1.9:2888:3888:observer;2181"}, joined(kNineInText)},
        {"port 0",
         {.joining = "server.9=10.1.1.9:0:3888:observer;2181"},
         joined("server.9=10.1.1.9:0:3888:observer;0.0.0.0:2181")},
        {"client port is quorum port",
         {.joining = kNine + ":observer;10.1.1.9:2888"},
         joined(kNine + ":observer;10.1.1.9:2888")},
        {"an IPv6 address",
         {.joining = "server.9=[fe80::1]:2888:3888:observer;[::]:2181"},
         joined("server.9=[fe80:0:0:0:0:0:0:1]:2888:3888:observer;[0:0:0:0:0:0:0:0]:2181")},
        {"no client port", {.joining = kNine + ":observer"}, kBadArguments},
        {"an empty client port", {.joining = kNine + ":observer;"}, kBadArguments},
        {"no election port", {.joining = "server.9=10.1.1.9:2888;2181"}, kBadArguments},
        {"an unknown role", {.joining = kNine + ":learner;2181"}, kBadArguments},
        {"no id", {.joining = "server.=10.1.1.9:2888:3888:observer;2181"}, kMarshallingError},
        {"an id that is no number", {.joining = "server.x=10.1.1.9:2888:3888;2181"}, kMarshallingError},
        {"three parts", {.joining = kNineObserves + "=x"}, kBadArguments},
        {"no =", {.joining = "server.9"}, kBadArguments},
        {"a port that is too large", {.joining = "server.9=10.1.1.9:70000:3888;2181"}, kMarshallingError},
        {"a client port that is too large", {.joining = kNine + ":observer;70000"}, kMarshallingError},
        {"a negative port", {.joining = "server.9=10.1.1.9:-1:3888;2181"}, kMarshallingError},
        {"a port that is no number", {.joining = "server.9=10.1.1.9:a:3888;2181"}, kBadArguments},
        {"a client port that is no number", {.joining = kNine + ":observer;abc"}, kBadArguments},
        {"equal ports", {.joining = "server.9=10.1.1.9:2888:2888;2181"}, kBadArguments},
        {"a client address of three parts", {.joining = kNine + ":observer;a:1:2"}, kBadArguments},
        {"several addresses without multiAddress",
         {.joining = "server.9=10.1.1.9:2888:3888|10.1.1.10:2888:3888;2181"},
         kBadArguments},
        {"an IPv6 address without brackets", {.joining = "server.9=fe80::1:2888:3888;2181"}, kBadArguments},
        {"an IPv6 address with one bracket", {.joining = "server.9=[fe80::1:2888:3888;2181"}, kBadArguments},
        {"newlines instead of commas", {.joining = kNineObserves + "\n" + kNineObserves}, kBadArguments},
        {"a group", {.joining = "group.1=1:2:3"}, kBadArguments},
        {"a version", {.joining = "version=5"}, kMarshallingError},
    }));

INSTANTIATE_TEST_SUITE_P(
    Addresses, Java,
    ::testing::ValuesIn(std::vector<Case>{
        {"two joiners with one quorum address",
         {.joining = "server.8=10.1.1.9:2888:3889:observer;10.1.1.9:2182," + kNineObserves},
         kBadArguments},
        {"client port of one is election port of another",
         {.joining = "server.8=10.1.1.9:2887:3889:observer;10.1.1.9:3888," + kNineObserves},
         kBadArguments},
        {"loopback addresses are not compared",
         {.joining = "server.8=127.0.0.1:2888:3888:observer;127.0.0.1:2182,"
                     "server.9=127.0.0.1:2888:3888:observer;127.0.0.1:2182"},
         joined("server.8=127.0.0.1:2888:3888:observer;127.0.0.1:2182\n"
                "server.9=127.0.0.1:2888:3888:observer;127.0.0.1:2182")},
        {"wildcard addresses are not compared",
         {.joining = "server.8=10.1.1.8:2888:3888:observer;2181," + kNineObserves},
         joined("server.8=10.1.1.8:2888:3888:observer;0.0.0.0:2181\n" + kNineInText)},
        {"one id twice: the last one wins",
         {.joining = kNineObserves + ",server.9=10.1.1.10:2888:3888:observer;2182"},
         joined("server.9=10.1.1.10:2888:3888:observer;0.0.0.0:2182")},
        {"a joiner that leaves", {.joining = kNineObserves, .leaving = "9"}, joined(kNineInText)},
        {"a joiner replaces a member",
         {.joining = "server.3=10.1.1.3:2888:3888:observer;2181"},
         lines(kOne + "," + kTwo + ",server.3=10.1.1.3:2888:3888:observer;0.0.0.0:2181")},
    }));

INSTANTIATE_TEST_SUITE_P(
    NewMembers, Java,
    ::testing::ValuesIn(std::vector<Case>{
        {"commas", {.new_members = kFull}, lines(kFull)},
        {"newlines", {.new_members = lines(kFull)}, lines(kFull)},
        {"carriage returns", {.new_members = kOne + "\r\n" + kTwo + "\r\n" + kThree}, lines(kFull)},
        {"a comment", {.new_members = "#x\n" + kFull}, lines(kFull)},
        {"a version is ignored", {.new_members = kFull + ",version=5"}, lines(kFull)},
        {"a version that is no number", {.new_members = kFull + ",version=zz"}, kMarshallingError},
        {"an unknown key", {.new_members = kFull + ",foo=1"}, kBadArguments},
        {"no client port", {.new_members = kFull + "," + kNine}, joined(kNine + ":participant")},
        {"one id twice: the last one wins",
         {.new_members = kFull + ",server.9=10.1.1.9:1:2:observer;1,server.9=10.1.1.10:1:2:observer;2"},
         joined("server.9=10.1.1.10:1:2:observer;0.0.0.0:2")},
        {"equal addresses",
         {.new_members = kFull + ",server.8=10.1.1.9:1:2:observer;1,server.9=10.1.1.9:1:2:observer;1"},
         joined("server.8=10.1.1.9:1:2:observer;0.0.0.0:1\nserver.9=10.1.1.9:1:2:observer;0.0.0.0:1")},
        {"a colon instead of =",
         {.new_members = kFull + ",server.9:10.1.1.9:2888:3888:observer;2181"},
         joined(kNineInText)},
        {"an id that is no number", {.new_members = kFull + ",server.x=10.1.1.9:1:2"}, kMarshallingError},
        {"a port that is no number", {.new_members = kFull + ",server.9=10.1.1.9:a:2"}, kBadArguments},
        {"a port that is too large",
         {.new_members = kFull + ",server.9=10.1.1.9:70000:2"},
         kMarshallingError},
        {"a blank before ;", {.new_members = kFull + "," + kNine + ":observer ; x"}, kBadArguments},
        {"nobody", {.new_members = ""}, kMarshallingError},
        {"nobody who votes", {.new_members = kNineObserves}, kMarshallingError},
        {"one voter", {.new_members = kThree}, kThree},
        {"one voter and an observer",
         {.new_members = kThree + "," + kNineObserves},
         kThree + "\n" + kNineInText},
        {"the others are ignored",
         {.joining = "garbage", .leaving = "x", .new_members = kFull},
         lines(kFull)},
    }));

INSTANTIATE_TEST_SUITE_P(
    Groups, Java,
    ::testing::ValuesIn(std::vector<Case>{
        {"weights without groups", {.new_members = kFull + ",weight.1=2"}, kBadArguments},
        {"a voter in no group", {.new_members = kFull + ",group.1=1:2"}, kBadArguments},
        {"a voter in two groups", {.new_members = kFull + ",group.1=1:2:3,group.2=3"}, kBadArguments},
        {"a member that is no number", {.new_members = kFull + ",group.1=1:2:x"}, kMarshallingError},
        {"an empty group", {.new_members = kFull + ",group.1=1:2:3,group.2="}, kMarshallingError},
        {"an unknown server", {.new_members = kFull + ",group.1=1:2:3:7"}, kMarshallingError},
        {"an observer", {.new_members = kFull + "," + kNineObserves + ",group.1=1:2:3:9"}, kMarshallingError},
        {"an observer with a weight",
         {.new_members = kFull + "," + kNineObserves + ",group.1=1:2:3:9,weight.9=1"},
         joined(kNineInText) + "\ngroup.1=1:2:3:9\nweight.1=1\nweight.2=1\nweight.3=1\nweight.9=1"},
        {"a group that is no number", {.new_members = kFull + ",group.x=3:1:2"}, kMarshallingError},
        {"a weight that is no number",
         {.new_members = kFull + ",group.1=3:1:2,weight.1=x"},
         kMarshallingError},
        {"groups and weights",
         {.new_members = kFull + ",group.2=3:1,group.1=2,weight.3=2,weight.7=5"},
         lines(kFull) + "\ngroup.1=2\ngroup.2=1:3\nweight.1=1\nweight.2=1\nweight.3=2\nweight.7=5"},
    }));

TEST(StandaloneEnabled, RequiresTwoVoters) {
  const ReconfigRules rules{.standalone_enabled = true};
  EXPECT_EQ(outcome(three(), {.leaving = "1,2"}, rules), kBadArguments);
  EXPECT_EQ(outcome(three(), {.leaving = "2"}, rules), lines(kOne + "," + kThree));
  EXPECT_EQ(outcome(three(), {.new_members = kThree}, rules), kBadArguments);
  EXPECT_EQ(outcome(three(), {.new_members = ""}, rules), kBadArguments);
  EXPECT_EQ(outcome(three(), {.new_members = "#"}, rules), kBadArguments);
  EXPECT_EQ(outcome(three(), {.new_members = kThree + "," + kNineObserves}, rules), kMarshallingError);
  EXPECT_EQ(outcome(three(), {.new_members = kNineObserves}, rules), kMarshallingError);
}

TEST(HierarchicalQuorums, AreOnlyChangedAsAWhole) {
  const Membership groups = *parse_membership(lines(kFull + ",group.1=1:2:3"));
  for (const Text& text :
       {Text{}, Text{.leaving = "77"}, Text{.leaving = "x"}, Text{.joining = kNineObserves}}) {
    EXPECT_EQ(outcome(groups, text, {.standalone_enabled = false}), kBadArguments);
  }
  EXPECT_EQ(outcome(groups, {.new_members = kFull}, {}), lines(kFull));
}

// Java accepts these, which are all mistakes.
TEST(StricterThanJava, NegativeIdsEmptyHostsAndEqualNamesAreRefused) {
  const ReconfigRules rules{.standalone_enabled = false};
  EXPECT_EQ(outcome(three(), {.joining = "server.-9=10.1.1.9:2888:3888;2181"}, rules), kBadArguments);
  EXPECT_EQ(outcome(three(), {.joining = "server.9=:2888:3888;2181"}, rules), kBadArguments);
  EXPECT_EQ(outcome(three(), {.joining = "server.8=zk:2888:3888;2181,server.9=zk:2888:3888;2181"}, rules),
            kBadArguments);
  EXPECT_EQ(outcome(three(), {.new_members = kFull + ",group.1=1:2:3,weight.1=-4"}, rules), kBadArguments);
}

TEST(SeveralAddresses, NeedMultiAddress) {
  const Text text{.joining = "server.9=b:2888:3888|a:2888:3888;2181"};
  EXPECT_EQ(outcome(three(), text, {.multi_address = true}),
            joined("server.9=a:2888:3888|b:2888:3888:participant;0.0.0.0:2181"));
}

TEST(HostileRequests, AreBounded) {
  std::string joining;
  for (int i = 0; i < 50'000; ++i) joining += "server." + std::to_string(i) + "=a:1:2;3,";
  EXPECT_EQ(outcome(three(), {.joining = joining}, {}), kBadArguments);
  EXPECT_EQ(outcome(three(), {.new_members = joining}, {}), kBadArguments);
  EXPECT_EQ(outcome(three(), {.new_members = std::string(2'000'000, '\n')}, {}), kBadArguments);
}

// --- the order of errors ---

struct Leader {
  Membership committed = three();
  Membership last_seen = three();
  ServerSet synced{ServerId{1}, ServerId{3}};
  bool may_write = true;

  std::string decide(const wire::ReconfigRequest& request) const {
    const auto next = decide_reconfig(
        request,
        {.committed = committed, .last_seen = last_seen, .synced = synced, .may_write_config = may_write},
        {});
    return next ? "ok" : std::string(name_of(next.error().code));
  }
};

// Each request has all the mistakes of the later ones.
TEST(ErrorOrder, IsThatOfJava) {
  Leader leader;
  leader.last_seen.set_version(0x100000002);
  leader.may_write = false;
  wire::ReconfigRequest request{
      .joining = "server.9=a", .leaving = {}, .new_members = {}, .config_version = 5};
  EXPECT_EQ(leader.decide(request), name_of(ErrorCode::kReconfigInProgress));
  leader.last_seen = leader.committed;
  EXPECT_EQ(leader.decide(request), name_of(ErrorCode::kBadVersion));
  request.config_version = -1;
  EXPECT_EQ(leader.decide(request), kBadArguments);
  request.joining = {};
  request.new_members = "server.7=10.1.1.7:2888:3888;2181,server.8=10.1.1.8:2888:3888;2181";
  EXPECT_EQ(leader.decide(request), name_of(ErrorCode::kNewConfigNoQuorum));
  request.new_members = kFull;
  EXPECT_EQ(leader.decide(request), name_of(ErrorCode::kNoAuth));
  leader.may_write = true;
  EXPECT_EQ(leader.decide(request), "ok");
}

TEST(ConfigVersion, IsThePresentOneOrMinusOne) {
  const Leader leader;
  wire::ReconfigRequest request;
  for (const auto& [version, expected] :
       {std::pair(std::int64_t{0x100000000}, std::string("ok")),
        std::pair(std::int64_t{-1}, std::string("ok")),
        std::pair(std::int64_t{-2}, std::string(name_of(ErrorCode::kBadVersion)))}) {
    request.config_version = version;
    EXPECT_EQ(leader.decide(request), expected) << version;
  }
}

TEST(NewQuorum, CountsTheVotersOfTheNewMembers) {
  Leader leader;
  wire::ReconfigRequest request{.joining = {}, .leaving = "3", .new_members = {}, .config_version = -1};
  EXPECT_EQ(leader.decide(request), name_of(ErrorCode::kNewConfigNoQuorum)) << "only 1 of 1, 2 is synced";
  leader.synced.insert(ServerId{2});
  EXPECT_EQ(leader.decide(request), "ok");
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
#include "host/link_guard.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/quorum.h"
#include "zab/election_testing.h"

namespace drover::host {
namespace {

using zab::LinkId;

constexpr ServerId kMe{1};

std::string greeting_of(ServerId server) {
  std::string bytes;
  wire::append_packet(bytes, wire::PacketType::kFollowerInfo, Zxid{0}, wire::encode({.server = server}));
  return bytes;
}

zab::Memberships three_members() { return zab::testing::voters(3); }

TEST(LinkGuard, GreetingOfAnotherMemberIsGood) {
  const LinkGuard guard(kMe, false, {});
  const auto [greeting, server] = guard.judge(greeting_of(ServerId{2}), three_members());
  EXPECT_EQ(greeting, Greeting::kGood);
  EXPECT_EQ(server, ServerId{2});
}

TEST(LinkGuard, GreetingIsJudgedWhenItIsComplete) {
  const LinkGuard guard(kMe, false, {});
  const std::string whole = greeting_of(ServerId{2});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(guard.judge(whole.substr(0, bytes), three_members()).greeting, Greeting::kIncomplete) << bytes;
}

TEST(LinkGuard, OwnIdIsRefused) {
  for (const bool reconfig_enabled : {false, true}) {
    const LinkGuard guard(kMe, reconfig_enabled, {});
    EXPECT_EQ(guard.judge(greeting_of(kMe), three_members()).greeting, Greeting::kNoMember);
  }
}

TEST(LinkGuard, OtherServersAreWelcomeOnlyWhereTheMembersCanChange) {
  const std::string greeting = greeting_of(ServerId{9});
  EXPECT_EQ(LinkGuard(kMe, false, {}).judge(greeting, three_members()).greeting, Greeting::kNoMember);
  EXPECT_EQ(LinkGuard(kMe, true, {}).judge(greeting, three_members()).greeting, Greeting::kGood);
}

TEST(LinkGuard, AnythingElseIsInvalid) {
  const LinkGuard guard(kMe, false, {});
  EXPECT_EQ(guard.judge(std::string(100, '\xff'), three_members()).greeting, Greeting::kInvalid);
  std::string no_id;
  wire::append_packet(no_id, wire::PacketType::kFollowerInfo, Zxid{0});
  EXPECT_EQ(guard.judge(no_id, three_members()).greeting, Greeting::kInvalid);
}

TEST(LinkGuard, OldestConnectionMakesRoom) {
  LinkGuard guard(kMe, false, {.greeting_ms = 100, .ungreeted_max = 2});
  guard.add(LinkId{1}, Instant{0});
  EXPECT_EQ(guard.crowded_out(), std::nullopt);
  guard.add(LinkId{2}, Instant{10});
  EXPECT_EQ(guard.crowded_out(), LinkId{1});
  guard.remove(LinkId{1});
  EXPECT_EQ(guard.crowded_out(), std::nullopt);
}

TEST(LinkGuard, ConnectionWithoutAGreetingIsLateAfterItsTime) {
  LinkGuard guard(kMe, false, {.greeting_ms = 100});
  EXPECT_EQ(guard.next_time(), std::nullopt);
  guard.add(LinkId{1}, Instant{0});
  guard.add(LinkId{2}, Instant{50});
  EXPECT_EQ(guard.next_time(), Instant{100});
  EXPECT_TRUE(guard.late(Instant{99}).empty());
  EXPECT_EQ(guard.late(Instant{100}), std::vector{LinkId{1}});
  guard.remove(LinkId{1});
  EXPECT_EQ(guard.next_time(), Instant{150});
}

TEST(LinkLimits, LargeTransactionUnderWayIsNotTheLearnersFault) {
  const LinkLimits limits{.queued_bytes_max = 1000, .txn_bytes_max = 100};
  EXPECT_FALSE(limits.is_too_much(1200));
  EXPECT_TRUE(limits.is_too_much(1201));
}

}  // namespace
}  // namespace drover::host

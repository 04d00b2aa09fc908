// SPDX-License-Identifier: Apache-2.0
//
// Hostile input: anything that a stranger may send to the election port, and what it must not cause.
#include <gtest/gtest.h>

#include <limits>

#include "net/election_test_support.h"

namespace drover::net {
namespace {

using namespace testing;

TEST(ElectionLinks, AServerThatIsNotAMemberIsRefused) {
  World world;
  Node two(world, kTwo);
  two.knows({{kOne, {{"127.0.0.1", 1}}}});
  const ServerId anonymous{std::numeric_limits<std::int64_t>::max()};
  for (const ServerId id : {ServerId{77}, ServerId{-5}, kTwo, anonymous}) {
    Visitor visitor(world, two.endpoint());
    visitor.say(hello_of(id));
    ASSERT_TRUE(world.until([&] { return visitor.closed.has_value(); })) << raw(id);
  }
  EXPECT_EQ(two.links->ungreeted(), 0u);
  EXPECT_EQ(two.trouble.size(), 1u) << "the others came within the same second";
  EXPECT_EQ(two.links->refusals().of(Refusal::kNoMember), 4u);
}

// The visitor connects from 127.0.0.1, which is not server 2's address.
TEST(ElectionLinks, AServerFromAWrongAddressIsRefused) {
  World world;
  const ElectionLinksConfig::Peers peers{{kTwo, {{"192.0.2.2", 3888}}}};
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, peers);
  Node one(world, kOne, {.origins = &origins});
  one.knows(peers);
  Visitor stranger(world, one.endpoint());
  stranger.say(hello_of(kTwo) + frame_of("vote for me"));
  ASSERT_TRUE(world.until([&] { return stranger.closed.has_value(); }));
  EXPECT_TRUE(one.received.empty());
  EXPECT_FALSE(one.links->has_link(kTwo));
  EXPECT_NE(one.trouble.at(0).find("which is configured at 192.0.2.2:3888"), std::string::npos);
  EXPECT_EQ(one.links->refusals().of(Refusal::kWrongAddress), 1u);
}

TEST(ElectionLinks, AServerFromItsOwnAddressIsAccepted) {
  World world;
  const ElectionLinksConfig::Peers peers{{kTwo, {{"127.0.0.1", 1}}}};
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, peers);
  Node one(world, kOne, {.origins = &origins});
  one.knows(peers);
  Visitor two(world, one.endpoint());
  two.say(hello_of(kTwo) + frame_of("vote for me"));
  EXPECT_TRUE(world.until([&] { return one.has(kTwo, "vote for me"); }));
}

TEST(ElectionLinks, TheGreetingOfAnOldServerIsOnlyItsId) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  Visitor two(world, one.endpoint());
  two.say(hello_of(kTwo, {}));
  EXPECT_TRUE(world.until([&] { return one.links->has_link(kTwo); }));
}

TEST(ElectionLinks, GarbageInsteadOfAGreetingIsClosed) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  const std::string version(8, '\x80');
  const std::string long_addresses = hello_of(kTwo).substr(0, 16) + std::string("\x7f\xff\xff\xff", 4);
  for (const std::string& garbage : {version + "GET / HTTP/1.1\r\n\r\n", long_addresses}) {
    Visitor visitor(world, one.endpoint());
    visitor.say(garbage);
    ASSERT_TRUE(world.until([&] { return visitor.closed.has_value(); }));
  }
  EXPECT_FALSE(one.links->has_link(kTwo));
}

TEST(ElectionLinks, AnIncompleteGreetingTimesOut) {
  World world;
  Node one(world, kOne, {.hello_timeout_ms = 30});
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  Visitor half(world, one.endpoint());
  half.say(hello_of(kTwo).substr(0, 19));
  ASSERT_TRUE(world.until([&] { return half.closed.has_value(); }));
  EXPECT_NE(one.trouble.at(0).find("its greeting took too long"), std::string::npos);
}

TEST(ElectionLinks, ManySilentConnectionsDoNotBlockAPeer) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  std::vector<std::unique_ptr<Visitor>> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(std::make_unique<Visitor>(world, one.endpoint()));
    ASSERT_TRUE(world.until([&] { return silent.back()->connected == 1; }));
  }
  ASSERT_TRUE(world.until(
      [&] { return std::ranges::count_if(silent, [](auto& v) { return v->closed.has_value(); }) == 36; }));
  EXPECT_EQ(one.links->ungreeted(), 64u);
  Visitor two(world, one.endpoint());
  two.say(hello_of(kTwo));
  EXPECT_TRUE(world.until([&] { return one.links->has_link(kTwo); }));
}

TEST(ElectionLinks, AFrameOfImpossibleLengthClosesTheLink) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  for (const std::int32_t length : {0, -1, 512 * 1024 + 1, 0x7FFFFFFF}) {
    Visitor two(world, one.endpoint());
    std::string header;
    wire::Writer(header).i32(length);
    two.say(hello_of(kTwo) + frame_of("good") + header);
    ASSERT_TRUE(world.until([&] { return two.closed.has_value(); })) << length;
    EXPECT_TRUE(one.has(kTwo, "good"));
    EXPECT_FALSE(one.links->has_link(kTwo));
    one.received.clear();
  }
}

TEST(ElectionLinks, TheLargestFrameAndManySmallOnesArriveComplete) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  const std::string largest(wire::kNotificationBytesMax, 'x');
  std::string flood = hello_of(kTwo) + frame_of(largest);
  for (int i = 0; i < 100'000; ++i) flood += frame_of("small");
  Visitor two(world, one.endpoint());
  two.say(flood);
  ASSERT_TRUE(world.until([&] { return one.received.size() == 100'001; }));
  EXPECT_TRUE(one.received[0].second == largest);
  EXPECT_EQ(one.received.back().second, "small");
}

}  // namespace
}  // namespace drover::net

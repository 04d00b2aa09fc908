// SPDX-License-Identifier: Apache-2.0
//
// The server with the smaller id knocks, the one with the larger connects back.
#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "net/election_test_support.h"

namespace drover::net {
namespace {

using namespace testing;

TEST(ElectionLinks, TheSmallerIdOnlyKnocksAndTheLargerConnectsBack) {
  World world;
  Node one(world, kOne);
  SilentPeer two(world);
  one.knows({{kTwo, {two.endpoint()}}});
  one.links->send(kTwo, "vote of one");
  ASSERT_TRUE(world.until([&] { return two.calls.size() == 1 && two.calls[0]->closed; }));
  EXPECT_EQ(two.calls[0]->received, hello_of(kOne, {"127.0.0.1:3888"})) << "a greeting and nothing else";
  EXPECT_FALSE(one.links->has_link(kTwo));

  Visitor back(world, one.endpoint());
  back.say(hello_of(kTwo));
  ASSERT_TRUE(world.until([&] { return back.received == frame_of("vote of one"); }));
  EXPECT_TRUE(one.links->has_link(kTwo));
}

TEST(ElectionLinks, AKnockIsAnsweredByConnectingBackToTheConfiguredAddressNotTheAnnouncedOne) {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  SilentPeer victim(world);
  two.knows({{kOne, {one.endpoint()}}});
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(victim.endpoint())}));
  ASSERT_TRUE(world.until([&] { return knock.closed && one.calls.size() == 1; }));
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne); }));
  world.settle();
  EXPECT_TRUE(victim.calls.empty());
}

TEST(ElectionLinks, ABurstOfKnocksIsAnsweredOnce) {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  two.knows({{kOne, {one.endpoint()}}});
  std::vector<std::unique_ptr<Visitor>> knocks;
  while (knocks.size() < 10) {
    knocks.push_back(std::make_unique<Visitor>(world, two.endpoint()));
    ASSERT_TRUE(world.until([&] { return knocks.back()->connected == 1; }));
  }
  for (const auto& knock : knocks) knock->say(hello_of(kOne));
  ASSERT_TRUE(world.until(
      [&] { return std::ranges::all_of(knocks, [](auto& knock) { return knock->closed.has_value(); }); }));
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne) && !one.calls.empty(); }));
  world.settle();
  EXPECT_EQ(one.calls.size(), 1u);
}

// Returns how many connections a knock right after a new link leaves; nullopt if this machine was too slow
// for the knock to come right after it.
std::optional<std::size_t> calls_after_a_crossing_knock() {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  two.knows({{kOne, {one.endpoint()}}});
  Visitor knock(world, two.endpoint());
  EXPECT_TRUE(world.until([&] { return knock.connected == 1; }));
  two.links->send(kOne, "vote of two");
  EXPECT_TRUE(world.until([&] { return two.links->has_link(kOne) && one.calls.size() == 1; }));
  const Instant up = world.loop().now();
  knock.say(hello_of(kOne));
  EXPECT_TRUE(world.until([&] { return knock.closed.has_value(); }));
  if (world.loop().now() - up > 50) return std::nullopt;
  world.run_for(30);
  return one.calls.size();
}

TEST(ElectionLinks, AKnockThatCrossedANewLinkIsNotAnswered) {
  std::optional<std::size_t> calls;
  for (int attempt = 0; attempt < 100 && !calls; ++attempt) calls = calls_after_a_crossing_knock();
  EXPECT_EQ(calls, 1u);
}

// A link this old is old enough for a knock to count.
constexpr int kOldLinkMs = 150;

TEST(ElectionLinks, AKnockDespiteAnOldLinkCreatesANewLinkAndResendsTheLastNotification) {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  two.knows({{kOne, {one.endpoint()}}});
  two.links->send(kOne, "vote of two");
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne); }));
  world.run_for(kOldLinkMs);
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne));
  const std::string all = hello_of(kTwo, {"127.0.0.1:3888"}) + frame_of("vote of two");
  ASSERT_TRUE(world.until([&] { return one.calls.size() == 2 && one.calls[1]->received == all; }));
  ASSERT_TRUE(world.until([&] { return one.calls[0]->closed.has_value(); }));
  EXPECT_EQ(two.reachable[kOne], std::vector{true});
}

TEST(ElectionLinks, AKnockDoesNotCloseTheLinkUnlessANewOneIsUp) {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  two.knows({{kOne, {one.endpoint()}}});
  two.links->send(kOne, "vote of two");
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne) && one.calls.size() == 1; }));
  world.run_for(kOldLinkMs);
  one.listener.reset();  // Connecting back fails; the existing link stays.
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne));
  ASSERT_TRUE(world.until([&] { return knock.closed.has_value(); }));
  world.run_for(kOldLinkMs);
  two.links->send(kOne, "and more");
  ASSERT_TRUE(world.until([&] { return one.calls[0]->received.ends_with(frame_of("and more")); }));
  EXPECT_EQ(two.reachable[kOne], std::vector{true});
}

TEST(ElectionLinks, APendingKnockIsCancelledWhenThePeerConnects) {
  const auto release = std::make_shared<std::promise<void>>();
  World world([release, future = release->get_future().share()](const std::string&, std::uint16_t) {
    future.wait();
    return Resolver::Addresses({*Address::parse("127.0.0.1", 0)});
  });
  Node one(world, kOne);
  SilentPeer two(world);
  const Endpoint named{"slow", two.endpoint().port};
  one.knows({{kTwo, {named}}});
  one.links->send(kTwo, "vote of one");
  Visitor back(world, one.endpoint());
  back.say(hello_of(kTwo));
  ASSERT_TRUE(world.until([&] { return one.links->has_link(kTwo); }));

  bool answered = false;
  world.resolver().ask(named, [&](const Resolver::Addresses&) { answered = true; });
  release->set_value();
  ASSERT_TRUE(world.until([&] { return answered; }));
  world.run_for(30);
  EXPECT_TRUE(two.calls.empty());
}

TEST(ElectionLinks, AnUnansweredKnockMakesThePeerUnreachableAndIsRepeated) {
  World world;
  Node one(world, kOne, {.connect_timeout_ms = 10 * kPatienceMs});
  SilentPeer two(world);
  one.knows({{kTwo, {two.endpoint()}}});
  one.links->send(kTwo, "vote of one");
  ASSERT_TRUE(world.until([&] { return one.reachable[kTwo] == std::vector{false}; }));
  EXPECT_EQ(two.calls.size(), 1u);
  EXPECT_TRUE(world.until([&] { return two.calls.size() == 2; }));
}

TEST(ElectionLinks, AKnockIsRepeatedEvenIfThePeerNeverCloses) {
  World world;
  Node one(world, kOne, {.connect_timeout_ms = 50});
  Door two;
  const auto listener = *PeerListener::open(world.loop(), two, {.at = {{"127.0.0.1", 0}}});
  one.knows({{kTwo, {endpoint_of(listener->local().front())}}});
  one.links->send(kTwo, "vote of one");
  EXPECT_TRUE(world.until([&] { return two.accepted.size() == 2; }));
}

}  // namespace
}  // namespace drover::net

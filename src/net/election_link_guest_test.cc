// SPDX-License-Identifier: Apache-2.0
//
// Guests of the election port: servers that are about to join the ensemble, and servers that were removed.
#include <gtest/gtest.h>

#include "net/election_test_support.h"

namespace drover::net {
namespace {

using namespace testing;

constexpr ServerId kNine{9};

// A server that is about to join: it knows the member, the member does not know it.
struct Joiner : Node {
  Joiner(World& w, ServerId id, const Node& member) : Node(w, id) {
    EXPECT_TRUE(links->rebind({{"127.0.0.1", 0}}, {endpoint()}));  // greets with its true address
    knows({{member.me, {member.endpoint()}}});
  }
};

// --- who links, and how ---

TEST(ElectionLinkGuests, AJoinerWithALargerIdExchangesNotifications) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  Joiner three(world, kThree, two);
  three.links->send(kTwo, "who leads?");
  ASSERT_TRUE(world.until([&] { return two.has(kThree, "who leads?"); }));
  two.links->send(kThree, "two leads");
  ASSERT_TRUE(world.until([&] { return three.has(kTwo, "two leads"); }));
  EXPECT_EQ(two.links->guests(), 1u);
  EXPECT_TRUE(two.reachable.empty()) << "a guest is not reported";
  EXPECT_EQ(three.reachable[kTwo], std::vector{true});
}

TEST(ElectionLinkGuests, AJoinerWithASmallerIdIsDialledAtTheAddressOfItsGreeting) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  Joiner one(world, kOne, two);
  one.links->send(kTwo, "who leads?");
  ASSERT_TRUE(world.until([&] { return two.has(kOne, "who leads?"); }));
  two.links->send(kOne, "two leads");
  ASSERT_TRUE(world.until([&] { return one.has(kTwo, "two leads"); }));
  EXPECT_EQ(two.links->guests(), 1u);
  EXPECT_TRUE(two.reachable.empty());
}

TEST(ElectionLinkGuests, AJoinerOverTlsExchangesNotifications) {
  const PeerCertificates certificates;
  for (const ServerId id : {kOne, kThree}) {
    World world;
    Node two(world, kTwo, {.tls = certificates.tls(), .guests_max = 1});
    Node joiner(world, id, {.tls = certificates.tls()});
    ASSERT_TRUE(joiner.links->rebind({{"127.0.0.1", 0}}, {joiner.endpoint()}));
    joiner.knows({{kTwo, {two.endpoint()}}});
    joiner.links->send(kTwo, "who leads?");
    ASSERT_TRUE(world.until([&] { return two.has(id, "who leads?"); })) << raw(id);
    two.links->send(id, "two leads");
    EXPECT_TRUE(world.until([&] { return joiner.has(kTwo, "two leads"); })) << raw(id);
  }
}

TEST(ElectionLinkGuests, TheNameInAGreetingIsLookedUp) {
  World world;
  const auto lookup = [](const std::string& host, std::uint16_t) -> Resolver::Addresses {
    if (host != "zk1.example") return std::unexpected(data_error("no such host"));
    return std::vector{*Address::parse("127.0.0.1", 0)};
  };
  Node two(world, kTwo, {.guests_max = 1, .guest_lookup = lookup});
  SilentPeer one(world);
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {"zk1.example:" + std::to_string(one.endpoint().port)}));
  EXPECT_TRUE(world.until([&] { return two.links->has_link(kOne) && one.calls.size() == 1; }));
}

TEST(ElectionLinkGuests, ANotificationWaitsWhileAGuestIsDialled) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  SilentPeer one(world);
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(one.endpoint())}));
  ASSERT_TRUE(world.until([&] { return two.links->guests() == 1; }));
  two.links->send(kOne, "two leads");
  const std::string all = hello_of(kTwo, {"127.0.0.1:3888"}) + frame_of("two leads");
  EXPECT_TRUE(world.until([&] { return one.calls.size() == 1 && one.calls[0]->received == all; }));
}

TEST(ElectionLinkGuests, NothingIsSentToAServerThatIsNeitherPeerNorGuest) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  two.links->send(kThree, "hello?");
  EXPECT_EQ(two.links->guests(), 0u);
  EXPECT_EQ(two.links->next_time(), std::nullopt);
}

// --- how long they stay ---

TEST(ElectionLinkGuests, TheGuestThatHasBeenSilentTheLongestMakesRoom) {
  World world;
  Node one(world, kOne, {.guests_max = 2});
  Visitor two(world, one.endpoint());
  two.say(hello_of(kTwo));
  ASSERT_TRUE(world.until([&] { return one.links->has_link(kTwo); }));
  Visitor three(world, one.endpoint());
  three.say(hello_of(kThree));
  ASSERT_TRUE(world.until([&] { return one.links->has_link(kThree); }));
  two.say(frame_of("still here"));
  ASSERT_TRUE(world.until([&] { return one.has(kTwo, "still here"); }));

  Visitor nine(world, one.endpoint());
  nine.say(hello_of(kNine));
  ASSERT_TRUE(world.until([&] { return three.closed.has_value(); }));
  EXPECT_TRUE(one.links->has_link(kTwo));
  EXPECT_TRUE(one.links->has_link(kNine));
  EXPECT_EQ(one.links->guests(), 2u);
  EXPECT_EQ(one.links->refusals().of(Refusal::kCrowded), 1u);
}

TEST(ElectionLinkGuests, AGuestWhoseLinkBreaksIsForgottenAndNotDialledAgain) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  SilentPeer one(world);
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(one.endpoint())}));
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne) && one.calls.size() == 1; }));
  two.links->send(kOne, "two leads");
  one.calls[0]->link->close();
  ASSERT_TRUE(world.until([&] { return two.links->guests() == 0; }));
  EXPECT_EQ(two.links->next_time(), std::nullopt);
  two.links->send(kOne, "two leads");
  world.settle();
  EXPECT_EQ(one.calls.size(), 1u);
  EXPECT_TRUE(two.reachable.empty());
}

TEST(ElectionLinkGuests, AGuestThatKnocksAgainIsDialledAtItsNewAddress) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  SilentPeer before(world);
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(before.endpoint())}));
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne) && before.calls.size() == 1; }));
  world.run_for(150);  // After that a knock did not cross the link.
  SilentPeer after(world);
  Visitor again(world, two.endpoint());
  again.say(hello_of(kOne, {to_text(after.endpoint())}));
  ASSERT_TRUE(world.until([&] { return after.calls.size() == 1 && before.calls[0]->closed; }));
  EXPECT_TRUE(two.links->has_link(kOne));
  EXPECT_EQ(two.links->guests(), 1u);
}

// --- when the membership changes ---

TEST(ElectionLinkGuests, AGuestThatBecomesAPeerKeepsItsLink) {
  for (const ServerId id : {kOne, kThree}) {
    World world;
    Node two(world, kTwo, {.guests_max = 1});
    Joiner joiner(world, id, two);
    joiner.links->send(kTwo, "who leads?");
    ASSERT_TRUE(world.until([&] { return two.has(id, "who leads?"); }));
    two.knows({{id, {joiner.endpoint()}}});
    EXPECT_EQ(two.links->guests(), 0u);
    EXPECT_TRUE(two.links->has_link(id));
    EXPECT_TRUE(two.reachable.empty()) << "not from within set_peers()";
    ASSERT_TRUE(world.until([&] { return two.reachable[id] == std::vector{true}; }));

    two.links->send(id, "welcome");
    ASSERT_TRUE(world.until([&] { return joiner.has(kTwo, "welcome"); }));
    joiner.links->send(kTwo, "thank you");
    ASSERT_TRUE(world.until([&] { return two.has(id, "thank you"); }));
    EXPECT_EQ(joiner.reachable[kTwo], std::vector{true}) << "it did not connect again";
  }
}

TEST(ElectionLinkGuests, AGuestThatBecomesAPeerWhileItIsDialledIsDialledAtItsConfiguredAddress) {
  World world;
  const ReservedPort nobody;
  Node two(world, kTwo, {.guests_max = 1});
  SilentPeer one(world);
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(nobody.endpoint())}));
  ASSERT_TRUE(world.until([&] { return two.links->guests() == 1; }));
  two.knows({{kOne, {one.endpoint()}}});
  ASSERT_TRUE(world.until([&] { return one.calls.size() == 1; }));
  EXPECT_EQ(two.reachable[kOne], std::vector{true});
}

TEST(ElectionLinkGuests, ARemovedPeerBecomesAGuestAndKeepsItsLink) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  Node three(world, kThree);
  introduce({&two, &three});
  three.links->send(kTwo, "vote");
  ASSERT_TRUE(world.until([&] { return two.has(kThree, "vote"); }));
  two.knows({});
  EXPECT_EQ(two.links->guests(), 1u);
  two.links->send(kThree, "you were removed");
  ASSERT_TRUE(world.until([&] { return three.has(kTwo, "you were removed"); }));
  EXPECT_EQ(three.reachable[kTwo], std::vector{true}) << "it did not connect again";

  three.links->close();
  ASSERT_TRUE(world.until([&] { return two.links->guests() == 0; }));
  EXPECT_EQ(two.reachable[kThree], std::vector{true}) << "a guest is not reported";
}

TEST(ElectionLinkGuests, ARemovedPeerWithoutALinkIsForgotten) {
  World world;
  const ReservedPort nobody;
  Node two(world, kTwo, {.guests_max = 1});
  two.knows({{kOne, {nobody.endpoint()}}});
  two.links->send(kOne, "vote");
  two.knows({});
  EXPECT_EQ(two.links->guests(), 0u);
  EXPECT_EQ(two.links->next_time(), std::nullopt);
}

TEST(ElectionLinkGuests, RemovedPeersCountAsGuestsAndTheLimitHolds) {
  World world;
  Node one(world, kOne, {.guests_max = 2});
  const std::vector ids{kTwo, kThree, ServerId{4}};
  one.knows({{ids[0], {}}, {ids[1], {}}, {ids[2], {}}});
  std::vector<std::unique_ptr<Visitor>> peers;
  for (const ServerId id : ids) {
    peers.push_back(std::make_unique<Visitor>(world, one.endpoint()));
    peers.back()->say(hello_of(id));
    ASSERT_TRUE(world.until([&] { return one.links->has_link(id); }));
  }
  one.knows({});
  EXPECT_EQ(one.links->guests(), 2u);
}

TEST(ElectionLinkGuests, APeerWithNewAddressesKeepsItsLinkAndIsDialledAtTheNewOnesLater) {
  World world;
  Node two(world, kTwo, {.guests_max = 1});
  SilentPeer before(world);
  SilentPeer after(world);
  two.knows({{kOne, {before.endpoint()}}});
  two.links->send(kOne, "vote");
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne) && before.calls.size() == 1; }));
  two.knows({{kOne, {after.endpoint()}}});
  two.links->send(kOne, "and more");
  ASSERT_TRUE(world.until([&] { return before.calls[0]->received.ends_with(frame_of("and more")); }));
  EXPECT_TRUE(after.calls.empty());
  before.calls[0]->link->close();
  ASSERT_TRUE(world.until([&] { return after.calls.size() == 1; }));
  EXPECT_EQ(before.calls.size(), 1u);
}

}  // namespace
}  // namespace drover::net

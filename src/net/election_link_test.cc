// SPDX-License-Identifier: Apache-2.0
#include "net/election_link.h"

#include <gtest/gtest.h>

#include <set>

#include "net/election_test_support.h"
#include "net/frame.h"

namespace drover::net {
namespace {

using namespace testing;

// --- who connects ---

TEST(ElectionLinks, ALinkIsCreatedOnDemandAndCarriesNotificationsBothWays) {
  World world;
  Node one(world, kOne);
  Node two(world, kTwo);
  introduce({&one, &two});
  world.settle();
  EXPECT_FALSE(two.links->has_link(kOne));

  two.links->send(kOne, "vote of two");
  ASSERT_TRUE(world.until([&] { return one.has(kTwo, "vote of two"); }));
  one.links->send(kTwo, "vote of one");
  ASSERT_TRUE(world.until([&] { return two.has(kOne, "vote of one"); }));
  EXPECT_EQ(one.reachable[kTwo], std::vector{true});
  EXPECT_EQ(two.reachable[kOne], std::vector{true});
}

TEST(ElectionLinks, CrossingConnectionsEndWithExactlyOneLink) {
  for (int round = 0; round < 20; ++round) {
    World world;
    Node one(world, kOne);
    Node two(world, kTwo);
    Node three(world, kThree);
    introduce({&one, &two, &three});
    const std::vector<Node*> nodes{&one, &two, &three};
    for (const Node* to : nodes) {
      for (const Node* from : nodes) from->links->send(to->me, "vote " + std::to_string(raw(from->me)));
    }
    ASSERT_TRUE(world.until([&] {
      return std::ranges::all_of(nodes, [&](const Node* node) {
        std::set<ServerId> heard;
        for (const auto& [from, text] : node->received) heard.insert(from);
        return heard.size() == 2;
      });
    }));
    world.settle();
    for (const Node* a : nodes) {
      EXPECT_EQ(a->links->ungreeted(), 0u);
      for (const Node* b : nodes) EXPECT_EQ(a->links->has_link(b->me), a != b);
    }
    // The remaining links work.
    for (const Node* from : nodes) {
      for (const Node* to : nodes) from->links->send(to->me, "again");
    }
    ASSERT_TRUE(world.until([&] {
      return std::ranges::all_of(nodes, [&](const Node* node) {
        return std::ranges::count(node->received, std::string("again"),
                                  &std::pair<ServerId, std::string>::second) >= 2;
      });
    }));
  }
}

TEST(ElectionLinks, TheNewerConnectionOfTheSameServerReplacesTheOlder) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  Visitor older(world, one.endpoint());
  older.say(hello_of(kTwo));
  ASSERT_TRUE(world.until([&] { return one.links->has_link(kTwo); }));
  Visitor newer(world, one.endpoint());
  newer.say(hello_of(kTwo) + frame_of("newer"));
  ASSERT_TRUE(world.until([&] { return older.closed && one.has(kTwo, "newer"); }));
  EXPECT_EQ(one.reachable[kTwo], std::vector{true}) << "it was never out of reach";
}

// --- what is sent ---

TEST(ElectionLinks, OnlyTheNewestNotificationIsQueued) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  for (int i = 0; i < 1000; ++i) one.links->send(kTwo, "vote " + std::to_string(i));
  Visitor two(world, one.endpoint());
  two.say(hello_of(kTwo));
  ASSERT_TRUE(world.until([&] { return !two.received.empty(); }));
  EXPECT_EQ(two.received, frame_of("vote 999"));
}

TEST(ElectionLinks, ABrokenLinkIsRestoredAndTheLastNotificationRepeated) {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  two.knows({{kOne, {one.endpoint()}}});
  two.links->send(kOne, "vote of two");
  const std::string all = hello_of(kTwo, {"127.0.0.1:3888"}) + frame_of("vote of two");
  ASSERT_TRUE(world.until([&] { return one.calls.size() == 1 && one.calls[0]->received == all; }));
  one.calls[0]->link->close();
  ASSERT_TRUE(world.until([&] { return one.calls.size() == 2 && one.calls[1]->received == all; }));
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne); }));
  EXPECT_EQ(two.reachable[kOne], (std::vector{true, false, true}));
}

TEST(ElectionLinks, APeerThatReturnsIsReconnectedFromBothSides) {
  World world;
  Node one(world, kOne);
  auto two = std::make_unique<Node>(world, kTwo);
  introduce({&one, two.get()});
  one.links->send(kTwo, "vote of one");
  ASSERT_TRUE(world.until([&] { return two->has(kOne, "vote of one"); }));
  const Endpoint address = two->endpoint();
  two->links->close();
  ASSERT_TRUE(world.until([&] { return one.reachable[kTwo] == std::vector({true, false}); }));

  Node returned(world, kTwo, {.listen = {address}});
  returned.knows({{kOne, {one.endpoint()}}});
  ASSERT_TRUE(world.until([&] { return returned.has(kOne, "vote of one"); }));
  EXPECT_EQ(one.reachable[kTwo], std::vector({true, false, true}));
}

TEST(ElectionLinks, AnswersToAPeerThatDoesNotReadDoNotAccumulate) {
  World world;
  Node one(world, kOne);
  one.knows({{kTwo, {{"127.0.0.1", 1}}}});
  Socket two = *start_connect(*Address::parse("127.0.0.1", one.endpoint().port));
  Stream stream(std::move(two));
  while (stream.write(hello_of(kTwo)).status == IoStatus::kAgain) world.settle();
  ASSERT_TRUE(world.until([&] { return one.links->has_link(kTwo); }));
  const std::string large(wire::kNotificationBytesMax, 'n');
  for (int i = 0; i < 100; ++i) {
    one.links->send(kTwo, large);
    world.settle();
  }
  one.links->send(kTwo, "newest");
  // Far fewer than the hundred that were sent, all complete, and the newest one last.
  std::string got;
  std::vector<std::size_t> frames;
  const Instant deadline = world.loop().now() + kPatienceMs;
  while ((frames.empty() || frames.back() != 6) && world.loop().now() < deadline) {
    got += receive(stream);
    std::string_view frame;
    if (next_frame(got, wire::kNotificationBytesMax, frame) == FrameStatus::kComplete) {
      frames.push_back(frame.size());
      got.erase(0, kFrameHeaderBytes + frames.back());
    }
    world.settle();
  }
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back(), 6u);
  EXPECT_LT(frames.size(), 50u);
}

// --- reachability ---

TEST(ElectionLinks, ARefusedConnectionIsReportedAndRetriedUntilItWorks) {
  World world;
  const ReservedPort port;
  Node two(world, kTwo);
  two.knows({{kOne, {port.endpoint()}}});
  two.links->send(kOne, "vote of two");
  EXPECT_TRUE(two.reachable[kOne].empty()) << "not from within send()";
  ASSERT_TRUE(world.until([&] { return two.reachable[kOne] == std::vector{false}; }));
  ASSERT_EQ(two.trouble.size(), 1u);
  EXPECT_NE(two.trouble[0].find("no election link to server 1: "), std::string::npos) << two.trouble[0];

  Node one(world, kOne, {.listen = {port.endpoint()}});
  one.knows({{kTwo, {two.endpoint()}}});
  ASSERT_TRUE(world.until([&] { return one.has(kTwo, "vote of two"); }));
  EXPECT_EQ(two.reachable[kOne], (std::vector{false, true}));
}

TEST(ElectionLinks, WithNothingToSendNoPeerIsContacted) {
  World world;
  const ReservedPort port;
  Node two(world, kTwo);
  two.knows({{kOne, {port.endpoint()}}});
  world.settle();
  EXPECT_EQ(two.links->next_time(), std::nullopt);
}

TEST(ElectionLinks, RemovedPeersLoseTheirLinkAndNewAddressesAreUsed) {
  World world;
  const ReservedPort nobody;
  Node two(world, kTwo);
  Node three(world, kThree);
  introduce({&two, &three});
  three.knows({{kOne, {nobody.endpoint()}}, {kTwo, {two.endpoint()}}});
  three.links->send(kTwo, "to two");
  three.links->send(kOne, "to one");
  ASSERT_TRUE(world.until([&] { return two.has(kThree, "to two"); }));
  ASSERT_TRUE(world.until([&] { return three.reachable[kOne] == std::vector{false}; }));

  Node one(world, kOne);
  one.knows({{kThree, {three.endpoint()}}});
  three.knows({{kOne, {one.endpoint()}}});
  ASSERT_TRUE(world.until([&] { return one.has(kThree, "to one"); }));
  ASSERT_TRUE(world.until([&] { return !two.links->has_link(kThree); }));
  EXPECT_FALSE(three.links->has_link(kTwo));
  three.links->send(kTwo, "not a peer any more");
}

// --- our own address ---

TEST(ElectionLinks, AfterARebindLinksStayAndLaterGreetingsHaveTheNewAddress) {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  two.knows({{kOne, {one.endpoint()}}});
  two.links->send(kOne, "before");
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne) && one.calls.size() == 1; }));
  const Endpoint old = two.endpoint();
  const ReservedPort port;
  ASSERT_TRUE(two.links->rebind({port.endpoint()}, {port.endpoint()}));
  EXPECT_EQ(two.endpoint(), port.endpoint());
  two.links->send(kOne, "after");
  ASSERT_TRUE(world.until([&] { return one.calls[0]->received.ends_with(frame_of("after")); }));

  one.calls[0]->link->close();
  const std::string all = hello_of(kTwo, {to_text(port.endpoint())}) + frame_of("after");
  ASSERT_TRUE(world.until([&] { return one.calls.size() == 2 && one.calls[1]->received == all; }));
  Visitor late(world, old);
  Visitor three(world, two.endpoint());
  ASSERT_TRUE(world.until([&] { return late.closed && three.connected == 1; }));
  EXPECT_EQ(late.connected, 0);
}

TEST(ElectionLinks, AFailedRebindIsReportedAndChangesNothing) {
  World world;
  Node two(world, kTwo);
  SilentPeer one(world);
  two.knows({{kOne, {one.endpoint()}}});
  const Endpoint old = two.endpoint();
  EXPECT_FALSE(two.links->rebind({one.endpoint()}, {one.endpoint()})) << "the port is in use";
  EXPECT_EQ(two.endpoint(), old);
  two.links->send(kOne, "vote");
  const std::string all = hello_of(kTwo, {"127.0.0.1:3888"}) + frame_of("vote");
  ASSERT_TRUE(world.until([&] { return one.calls.size() == 1 && one.calls[0]->received == all; }));
  two.links->close();
  EXPECT_FALSE(two.links->rebind({{"127.0.0.1", 0}}, {{"127.0.0.1", 3888}}));
}

// --- what callbacks may do ---

TEST(ElectionLinks, TheOwnerMayBeDestroyedWhenALinkComesUp) {
  World world;
  std::unique_ptr<ElectionLinks> links;
  ElectionLinksConfig config{.me = kOne, .listen = {{"127.0.0.1", 0}}, .peers = {{kTwo, {}}}};
  links =
      *ElectionLinks::open(world.loop(), world.resolver(), config,
                           {.on_notification = [](ServerId, std::string_view) { FAIL() << "after close()"; },
                            .on_reachable = [&](ServerId, bool) { links->close(); }});
  world.keep_time(links);
  Visitor two(world, endpoint_of(links->local().front()));
  two.say(hello_of(kTwo) + frame_of("first"));
  EXPECT_TRUE(world.until([&] { return two.closed.has_value(); }));
}

TEST(ElectionLinks, TheOwnerMayBeDestroyedByANotification) {
  for (const bool by_close : {true, false}) {
    World world;
    std::unique_ptr<ElectionLinks> links;
    int notifications = 0;
    ElectionLinksConfig config{.me = kOne, .listen = {{"127.0.0.1", 0}}, .peers = {{kTwo, {}}}};
    links = *ElectionLinks::open(world.loop(), world.resolver(), config,
                                 {.on_notification = [&](ServerId, std::string_view) {
                                   ++notifications;
                                   by_close ? links->close() : links->set_peers({});
                                 }});
    world.keep_time(links);
    Visitor two(world, endpoint_of(links->local().front()));
    two.say(hello_of(kTwo) + frame_of("first") + frame_of("second"));
    ASSERT_TRUE(world.until([&] { return two.closed.has_value(); }));
    EXPECT_EQ(notifications, 1);
  }
}

// --- TLS and several addresses ---

TEST(ElectionLinks, WorkOverTlsFromBothSides) {
  const PeerCertificates certificates;
  for (const bool smaller_first : {true, false}) {
    World world;
    Node one(world, kOne, {.tls = certificates.tls()});
    Node two(world, kTwo, {.tls = certificates.tls()});
    introduce({&one, &two});
    Node& first = smaller_first ? one : two;
    Node& second = smaller_first ? two : one;
    first.links->send(second.me, "vote");
    ASSERT_TRUE(world.until([&] { return second.has(first.me, "vote"); }));
    second.links->send(first.me, "answer");
    ASSERT_TRUE(world.until([&] { return first.has(second.me, "answer"); }));
  }
}

TEST(ElectionLinks, AUnifiedPortAlsoAcceptsPlainPeers) {
  const PeerCertificates certificates;
  World world;
  Node one(world, kOne, {.tls = certificates.tls_or_plain()});
  Node two(world, kTwo);
  Node three(world, kThree, {.tls = certificates.tls()});
  introduce({&one, &two, &three});
  two.links->send(kOne, "plain");
  three.links->send(kOne, "secret");
  EXPECT_TRUE(world.until([&] { return one.has(kTwo, "plain") && one.has(kThree, "secret"); }));
}

TEST(ElectionLinks, AServerWithSeveralAddressesIsReachedAtTheOneThatWorks) {
  World world;
  const ReservedPort dead;
  Node one(world, kOne);
  Node two(world, kTwo);
  one.knows({{kTwo, {two.endpoint()}}});
  two.knows({{kOne, {dead.endpoint(), one.endpoint()}}});
  two.links->send(kOne, "vote of two");
  ASSERT_TRUE(world.until([&] { return one.has(kTwo, "vote of two"); }));
  EXPECT_EQ(two.reachable[kOne], std::vector{true});
}

}  // namespace
}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
//
// Hostile guests: what a stranger on the election port must not cause when guests are allowed.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <limits>
#include <random>

#include "net/election_test_support.h"

namespace drover::net {
namespace {

using namespace testing;

constexpr ServerId kMember{500};

TEST(ElectionLinkGuests, AThousandStrangersDoNotExceedTheLimitNorBlockAMember) {
  World world;
  const ReservedPort nobody;
  Node member(world, kMember, {.guests_max = 4});
  member.knows({{kOne, {nobody.endpoint()}}, {ServerId{501}, {nobody.endpoint()}}});
  std::mt19937 random(7);
  std::vector<std::unique_ptr<Visitor>> strangers;
  for (int i = 0; i < 1000; ++i) {
    const ServerId id{static_cast<std::int64_t>(random() % 400) + (i % 2 == 0 ? 2 : 502)};
    strangers.push_back(std::make_unique<Visitor>(world, member.endpoint()));
    strangers.back()->say(hello_of(id, {to_text(nobody.endpoint())}) + frame_of("vote for me"));
    ASSERT_TRUE(world.until([&] { return strangers.back()->connected == 1; }));
    ASSERT_LE(member.links->guests(), 4u);
  }
  const auto is_open = [](const auto& stranger) { return !stranger->closed; };
  ASSERT_TRUE(world.until([&] { return std::ranges::count_if(strangers, is_open) <= 4; }));
  EXPECT_LE(member.links->guests(), 4u);
  EXPECT_EQ(member.links->ungreeted(), 0u);
  EXPECT_TRUE(member.reachable.empty());

  Visitor peer(world, member.endpoint());
  peer.say(hello_of(ServerId{501}) + frame_of("vote"));
  EXPECT_TRUE(world.until([&] { return member.has(ServerId{501}, "vote"); }));
  // The log gets at most one line a second, however many strangers come.
  EXPECT_LT(member.trouble.size(), 100u);
}

TEST(ElectionLinkGuests, AStrangerThatClaimsAMembersIdIsNotAGuest) {
  World world;
  const ElectionLinksConfig::Peers peers{{kThree, {{"192.0.2.3", 3888}}}};
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, peers);
  Node two(world, kTwo, {.origins = &origins, .guests_max = 4});
  two.knows(peers);
  Visitor stranger(world, two.endpoint());
  stranger.say(hello_of(kThree) + frame_of("vote for me"));
  ASSERT_TRUE(world.until([&] { return stranger.closed.has_value(); }));
  EXPECT_TRUE(two.received.empty());
  EXPECT_FALSE(two.links->has_link(kThree));
  EXPECT_EQ(two.links->guests(), 0u);
  EXPECT_EQ(two.links->refusals().of(Refusal::kWrongAddress), 1u);
}

TEST(ElectionLinkGuests, AKnockWithAMembersIdIsAnsweredAtTheConfiguredAddress) {
  World world;
  Node two(world, kTwo, {.guests_max = 4});
  SilentPeer one(world);
  SilentPeer victim(world);
  two.knows({{kOne, {one.endpoint()}}});
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(victim.endpoint())}));
  ASSERT_TRUE(world.until([&] { return knock.closed && one.calls.size() == 1; }));
  world.settle();
  EXPECT_TRUE(victim.calls.empty());
  EXPECT_EQ(two.links->guests(), 0u);
}

TEST(ElectionLinkGuests, IdsThatNoServerHasAreRefused) {
  World world;
  Node two(world, kTwo, {.guests_max = 4});
  const ServerId anonymous{std::numeric_limits<std::int64_t>::max()};
  for (const ServerId id :
       {kTwo, ServerId{-1}, ServerId{std::numeric_limits<std::int64_t>::min()}, anonymous}) {
    Visitor visitor(world, two.endpoint());
    visitor.say(hello_of(id));
    ASSERT_TRUE(world.until([&] { return visitor.closed.has_value(); })) << raw(id);
  }
  EXPECT_EQ(two.links->guests(), 0u);
  EXPECT_EQ(two.links->refusals().of(Refusal::kNoMember), 4u);
}

// --- addresses that lead nowhere ---

TEST(ElectionLinkGuests, AGreetingWithoutAUsableAddressIsRefused) {
  World world;
  Node two(world, kTwo, {.guests_max = 4});
  const std::vector<std::vector<std::string>> useless{
      {},
      {"0.0.0.0:3888"},
      {"[::]:3888"},
      {"127.0.0.1:0"},
      {"two words:3888"},
      {"a\nline:3888"},
      {std::string(254, 'h') + ":3888"},
      {"[fe80::1%lo]:3888"},
  };
  for (const auto& addresses : useless) {
    Visitor knock(world, two.endpoint());
    knock.say(hello_of(kOne, addresses));
    ASSERT_TRUE(world.until([&] { return knock.closed.has_value(); }));
    EXPECT_EQ(two.links->guests(), 0u);
  }
  EXPECT_EQ(two.links->refusals().of(Refusal::kNoMember), useless.size());
  EXPECT_NE(two.trouble.at(0).find("its greeting has no address to connect back to"), std::string::npos);
}

TEST(ElectionLinkGuests, AGuestAtAnAddressWhereNobodyListensIsForgotten) {
  World world;
  const ReservedPort nobody;
  Node two(world, kTwo, {.guests_max = 4});
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(nobody.endpoint())}));
  ASSERT_TRUE(world.until([&] { return knock.closed && two.trouble.size() == 1; }));
  EXPECT_NE(two.trouble[0].find("cannot connect back to server 1, which is not a member: "),
            std::string::npos)
      << two.trouble[0];
  EXPECT_EQ(two.links->guests(), 0u);
  EXPECT_EQ(two.links->next_time(), std::nullopt) << "no further attempt";
}

TEST(ElectionLinkGuests, AKnockInTheNameOfAGuestDoesNotCloseItsLinkUnlessANewOneIsUp) {
  World world;
  const ReservedPort nobody;
  Node two(world, kTwo, {.guests_max = 4});
  SilentPeer one(world);
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(one.endpoint())}));
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kOne) && one.calls.size() == 1; }));
  world.run_for(150);  // After that a knock did not cross the link.
  Visitor forged(world, two.endpoint());
  forged.say(hello_of(kOne, {to_text(nobody.endpoint())}));
  ASSERT_TRUE(world.until([&] { return forged.closed && two.trouble.size() == 1; }));
  two.links->send(kOne, "two leads");
  EXPECT_TRUE(world.until([&] { return one.calls[0]->received.ends_with(frame_of("two leads")); }));
}

// We speak TLS, and the guest does not answer the handshake.
TEST(ElectionLinkGuests, AGuestWithAWaitingNotificationIsDialledThreeTimesAtMost) {
  const PeerCertificates certificates;
  World world;
  Door silent;
  const auto listener = *PeerListener::open(world.loop(), silent, {.at = {{"127.0.0.1", 0}}});
  Node two(world, kTwo,
           {.connect_timeout_ms = 30,
            .tls = {.server = nullptr, .client = certificates.tls().client},
            .guests_max = 4});
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, {to_text(endpoint_of(listener->local().front()))}));
  ASSERT_TRUE(world.until([&] { return two.links->guests() == 1; }));
  two.links->send(kOne, "two leads");
  ASSERT_TRUE(world.until([&] { return two.links->guests() == 0; }));
  EXPECT_EQ(silent.accepted.size(), 3u);
  EXPECT_EQ(two.links->next_time(), std::nullopt);
}

TEST(ElectionLinkGuests, OnlyTheFirstFourAddressesOfAGreetingAreDialled) {
  World world;
  Node two(world, kTwo, {.guests_max = 4});
  const ReservedPort nobody;
  SilentPeer fifth(world);
  std::vector<std::string> addresses(4, to_text(nobody.endpoint()));
  addresses.push_back(to_text(fifth.endpoint()));
  Visitor knock(world, two.endpoint());
  knock.say(hello_of(kOne, addresses));
  ASSERT_TRUE(world.until([&] { return knock.closed && two.trouble.size() == 1; }));
  EXPECT_TRUE(fifth.calls.empty());
}

// Otherwise the member would take the connection for our new link and close the working one.
TEST(ElectionLinkGuests, AGuestThatAnnouncesAMembersAddressDoesNotBreakOurLinkToTheMember) {
  World world;
  Node two(world, kTwo);
  const ElectionLinksConfig::Peers peers{{kTwo, {two.endpoint()}}};
  PeerOrigins origins(world.resolver(), {OriginCheck::kLearned}, peers);
  Node three(world, kThree, {.origins = &origins, .guests_max = 4});
  two.knows({{kThree, {three.endpoint()}}});
  three.knows(peers);
  three.links->send(kTwo, "vote");
  ASSERT_TRUE(world.until([&] { return two.has(kThree, "vote"); }));

  Visitor knock(world, three.endpoint());
  knock.say(hello_of(kOne, {to_text(two.endpoint())}));
  ASSERT_TRUE(world.until([&] { return knock.closed && three.trouble.size() == 1; }));
  EXPECT_NE(three.trouble[0].find("is the address of a member"), std::string::npos) << three.trouble[0];
  EXPECT_EQ(three.links->guests(), 0u);
  EXPECT_EQ(three.links->refusals().of(Refusal::kWrongAddress), 1u);
  world.settle();
  EXPECT_EQ(three.reachable[kTwo], std::vector{true});
  EXPECT_EQ(two.reachable[kThree], std::vector{true});
}

// --- a name service that does not answer ---

TEST(ElectionLinkGuests, NamesOfManyGuestsDoNotStartManyLookups) {
  struct Lookups {
    std::promise<void> release;
    std::shared_future<void> released = release.get_future().share();
    std::atomic<int> begun = 0;
  };
  const auto lookups = std::make_shared<Lookups>();  // The lookup threads may outlive the test.
  World world;
  Node member(
      world, kMember,
      {.guests_max = 4, .guest_lookup = [lookups](const std::string&, std::uint16_t) -> Resolver::Addresses {
         ++lookups->begun;
         lookups->released.wait();
         return std::unexpected(data_error("no such host"));
       }});
  std::vector<std::unique_ptr<Visitor>> knocks;
  for (int i = 0; i < 100; ++i) {
    knocks.push_back(std::make_unique<Visitor>(world, member.endpoint()));
    knocks.back()->say(hello_of(ServerId{i}, {"host" + std::to_string(i) + ":3888"}));
    ASSERT_TRUE(world.until([&] { return knocks.back()->closed.has_value(); }));
    ASSERT_LE(member.links->guests(), 4u);
  }
  ASSERT_TRUE(world.until([&] { return lookups->begun >= 16; }));
  world.settle();
  EXPECT_EQ(lookups->begun, 16);
  lookups->release.set_value();
  EXPECT_TRUE(world.until([&] { return member.links->guests() == 0; }));
}

// --- a stranger that waits for a membership ---

TEST(ElectionLinkGuests, TheLinkOfAFormerGuestIsCheckedBeforeItsNextNotificationCounts) {
  for (const ServerId id : {kOne, kThree}) {
    World world;
    PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, {});
    Node two(world, kTwo, {.origins = &origins, .guests_max = 4});
    SilentPeer stranger(world);
    Visitor visitor(world, two.endpoint());
    visitor.say(hello_of(id, {to_text(stranger.endpoint())}));
    ASSERT_TRUE(world.until([&] { return two.links->has_link(id); }));

    const ElectionLinksConfig::Peers peers{{id, {{"192.0.2.9", 3888}}}};
    origins.set_peers(peers);
    two.knows(peers);
    EXPECT_TRUE(two.links->has_link(id));
    ASSERT_TRUE(world.until([&] { return id > kTwo || stranger.calls.size() == 1; }));
    PeerLink& link = id > kTwo ? *visitor.link : *stranger.calls[0]->link;
    link.output() += frame_of("vote for me");
    link.flush();
    ASSERT_TRUE(world.until([&] { return !two.links->has_link(id); }));
    EXPECT_TRUE(two.received.empty());
    EXPECT_EQ(two.links->refusals().of(Refusal::kWrongAddress), 1u);
  }
}

TEST(ElectionLinkGuests, AFormerGuestAtItsConfiguredAddressMaySpeak) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, {});
  Node two(world, kTwo, {.origins = &origins, .guests_max = 4});
  Visitor three(world, two.endpoint());
  three.say(hello_of(kThree));
  ASSERT_TRUE(world.until([&] { return two.links->has_link(kThree); }));
  const ElectionLinksConfig::Peers peers{{kThree, {{"127.0.0.1", 1}}}};
  origins.set_peers(peers);
  two.knows(peers);
  three.say(frame_of("vote"));
  EXPECT_TRUE(world.until([&] { return two.has(kThree, "vote"); }));
}

// --- what a guest sends and does not read ---

TEST(ElectionLinkGuests, AFrameOfImpossibleLengthEndsAGuest) {
  World world;
  Node one(world, kOne, {.guests_max = 4});
  Visitor two(world, one.endpoint());
  std::string header;
  wire::Writer(header).i32(0x7FFFFFFF);
  two.say(hello_of(kTwo) + frame_of("good") + header);
  ASSERT_TRUE(world.until([&] { return two.closed.has_value(); }));
  EXPECT_TRUE(one.has(kTwo, "good"));
  EXPECT_EQ(one.links->guests(), 0u);
}

TEST(ElectionLinkGuests, TheOwnerMayChangeThePeersWhenAGuestSpeaks) {
  for (const bool becomes_peer : {true, false}) {
    World world;
    std::unique_ptr<ElectionLinks> links;
    int notifications = 0;
    ElectionLinksConfig config{.me = kOne, .listen = {{"127.0.0.1", 0}}, .guests_max = 1};
    links = *ElectionLinks::open(world.loop(), world.resolver(), config,
                                 {.on_notification = [&](ServerId, std::string_view) {
                                   ++notifications;
                                   becomes_peer ? links->set_peers({{kTwo, {}}}) : links->close();
                                 }});
    world.keep_time(links);
    Visitor two(world, endpoint_of(links->local().front()));
    two.say(hello_of(kTwo) + frame_of("first") + frame_of("second"));
    ASSERT_TRUE(world.until([&] { return becomes_peer ? notifications == 2 : two.closed.has_value(); }));
    EXPECT_EQ(notifications, becomes_peer ? 2 : 1);
    EXPECT_EQ(links->has_link(kTwo), becomes_peer);
  }
}

}  // namespace
}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
//
// The election port with SASL: who gets in, and what a stranger cannot do.
#include <gtest/gtest.h>

#include "net/auth_test_support.h"
#include "net/election_test_support.h"

namespace drover::net {
namespace {

using namespace testing;
using wire::AuthStatus;

const std::string kAuthHello = auth_packet(AuthStatus::kInProgress, "");

// A server with SASL, as its configuration says.
struct AuthNode {
  enum Stage { kOff, kEnabled, kLearnerRequires, kServerRequires };  // the steps of the rolling upgrade

  AuthNode(World& world, ServerId id, Stage stage, const std::string& secret = "secret",
           ElectionLinksConfig config = {})
      : acceptor(secret), starter(*SaslStarter::create(world.loop())) {
    auth.starter = starter.get();
    if (stage >= kEnabled) auth.acceptor = &acceptor;
    if (stage >= kLearnerRequires) auth.connector = secret_connector(secret);
    auth.required = stage >= kServerRequires;
    config.auth = &auth;
    node = std::make_unique<Node>(world, id, std::move(config));
  }
  Node* operator->() { return node.get(); }
  bool is_refused(Refusal kind) const { return node->links->refusals().of(kind) > 0; }

  SecretAcceptor acceptor;
  std::unique_ptr<SaslStarter> starter;
  PeerAuth auth;
  std::unique_ptr<Node> node;
};

bool exchange_votes(World& world, AuthNode& one, AuthNode& two) {
  introduce({one.node.get(), two.node.get()});
  one->links->send(kTwo, "from 1");
  two->links->send(kOne, "from 2");
  return world.until([&] { return one->has(kTwo, "from 2") && two->has(kOne, "from 1"); });
}

// --- servers with credentials ---

TEST(ElectionLinksAuth, ServersWithTheSecretLink) {
  World world;
  AuthNode one(world, kOne, AuthNode::kServerRequires);
  AuthNode two(world, kTwo, AuthNode::kServerRequires);
  EXPECT_TRUE(exchange_votes(world, one, two));
}

TEST(ElectionLinksAuth, AKnockWithTheSecretIsAnswered) {
  World world;
  AuthNode one(world, kOne, AuthNode::kServerRequires);
  AuthNode two(world, kTwo, AuthNode::kServerRequires);
  introduce({one.node.get(), two.node.get()});
  one->links->send(kTwo, "from 1");
  EXPECT_TRUE(world.until([&] { return two->has(kOne, "from 1"); }));
}

// Each stage of the rolling upgrade works together with the one before and the one after.
TEST(ElectionLinksAuth, ServersOneStageOfTheUpgradeApartLink) {
  using Stage = AuthNode::Stage;
  for (const auto& [first, second] :
       {std::pair(Stage::kOff, Stage::kEnabled), std::pair(Stage::kEnabled, Stage::kLearnerRequires),
        std::pair(Stage::kLearnerRequires, Stage::kServerRequires)}) {
    for (const bool swapped : {false, true}) {
      World world;
      AuthNode one(world, kOne, swapped ? second : first);
      AuthNode two(world, kTwo, swapped ? first : second);
      EXPECT_TRUE(exchange_votes(world, one, two)) << first << swapped;
    }
  }
}

TEST(ElectionLinksAuth, AServerWithoutAuthenticationIsToldApartFromABrokenOne) {
  World world;
  AuthNode one(world, kOne, AuthNode::kOff);
  AuthNode two(world, kTwo, AuthNode::kLearnerRequires);
  introduce({one.node.get(), two.node.get()});
  two->links->send(kOne, "from 2");
  ASSERT_TRUE(world.until([&] { return !one->trouble.empty(); }));
  EXPECT_NE(one->trouble.at(0).find("quorum.auth.enableSasl"), std::string::npos) << one->trouble.at(0);
}

TEST(ElectionLinksAuth, AWrongSecretKeepsAServerOutInBothDirections) {
  for (const bool guesser_is_larger : {false, true}) {
    World world;
    AuthNode one(world, kOne, AuthNode::kServerRequires, guesser_is_larger ? "secret" : "guess");
    AuthNode two(world, kTwo, AuthNode::kServerRequires, guesser_is_larger ? "guess" : "secret");
    introduce({one.node.get(), two.node.get()});
    one->links->send(kTwo, "from 1");
    two->links->send(kOne, "from 2");
    ASSERT_TRUE(world.until(
        [&] { return one.is_refused(Refusal::kCredentials) && two.is_refused(Refusal::kCredentials); }));
    EXPECT_TRUE(one->received.empty());
    EXPECT_TRUE(two->received.empty());
    EXPECT_FALSE(one->links->has_link(kTwo));
    EXPECT_FALSE(two->links->has_link(kOne));
  }
}

TEST(ElectionLinksAuth, AServerThatNeverAnswersIsGivenUp) {
  World world;
  AuthNode two(world, kTwo, AuthNode::kServerRequires, "secret", {.hello_timeout_ms = 30});
  SilentPeer one(world);
  two->knows({{kOne, {one.endpoint()}}});
  two->links->send(kOne, "from 2");
  ASSERT_TRUE(world.until([&] { return !two->trouble.empty(); }));
  EXPECT_NE(two->trouble.at(0).find("the SASL authentication took too long"), std::string::npos);
  EXPECT_EQ(one.calls.at(0)->received, hello_of(kTwo, {"127.0.0.1:3888"}) + kAuthHello)
      << "the vote is not for a stranger";
}

// --- strangers ---

struct Fortress {
  explicit Fortress(ElectionLinksConfig config = {})
      : one(world, kOne, AuthNode::kServerRequires, "secret", std::move(config)) {
    one->knows({{kTwo, {{"127.0.0.1", 1}}}, {ServerId{0}, {{"127.0.0.1", 1}}}});
  }
  World world;
  AuthNode one;
};

TEST(ElectionLinksAuth, AStrangerCannotVoteWithAnyMessage) {
  Fortress fortress;
  const std::string vote = frame_of("vote for me");
  const std::string proof = auth_packet(AuthStatus::kInProgress, "client:guess");
  for (const std::string& said :
       {vote, std::string(1, '\0'), kAuthHello + vote, kAuthHello + proof + vote,
        auth_packet(AuthStatus::kSuccess, "client:secret") + vote, auth_packet(AuthStatus::kError, "") + vote,
        std::string("\x5f\x24\x35\x01garbage")}) {
    Visitor stranger(fortress.world, fortress.one->endpoint());
    stranger.say(hello_of(kTwo) + said);
    ASSERT_TRUE(fortress.world.until([&] { return stranger.closed.has_value(); }));
  }
  EXPECT_TRUE(fortress.one->received.empty());
  EXPECT_EQ(fortress.one->links->refusals().of(Refusal::kCredentials), 7u);
}

TEST(ElectionLinksAuth, AStrangerCannotReadVotes) {
  Fortress fortress({.hello_timeout_ms = 50});
  fortress.one->links->send(kTwo, "secret vote");
  Visitor stranger(fortress.world, fortress.one->endpoint());
  stranger.say(hello_of(kTwo));
  ASSERT_TRUE(fortress.world.until([&] { return stranger.closed.has_value(); }));
  EXPECT_EQ(stranger.received, "");
}

TEST(ElectionLinksAuth, AStrangerCannotReplaceALink) {
  World world;
  AuthNode one(world, kOne, AuthNode::kServerRequires);
  AuthNode two(world, kTwo, AuthNode::kServerRequires);
  ASSERT_TRUE(exchange_votes(world, one, two));
  const auto ups = one->reachable[kTwo];
  Visitor stranger(world, one->endpoint());
  stranger.say(hello_of(kTwo) + frame_of("vote for me"));
  ASSERT_TRUE(world.until([&] { return stranger.closed.has_value(); }));
  two->links->send(kOne, "another");
  EXPECT_TRUE(world.until([&] { return one->has(kTwo, "another"); }));
  EXPECT_EQ(one->reachable[kTwo], ups);
}

TEST(ElectionLinksAuth, AStrangersKnockDoesNotMakeUsDial) {
  World world;
  AuthNode two(world, kTwo, AuthNode::kServerRequires);
  SilentPeer one(world);
  two->knows({{kOne, {one.endpoint()}}});
  Visitor stranger(world, two->endpoint());
  stranger.say(hello_of(kOne));
  stranger.link->finish();
  ASSERT_TRUE(world.until([&] { return two.is_refused(Refusal::kCredentials); }));
  EXPECT_NE(two->trouble.at(0).find("does not authenticate"), std::string::npos) << two->trouble.at(0);
  world.settle();
  EXPECT_TRUE(one.calls.empty());
}

TEST(ElectionLinksAuth, AStrangerIsNoGuest) {
  World world;
  AuthNode two(world, kTwo, AuthNode::kServerRequires, "secret", {.guests_max = 4});
  Visitor stranger(world, two->endpoint());
  stranger.say(hello_of(kThree) + frame_of("vote for me"));
  ASSERT_TRUE(world.until([&] { return stranger.closed.has_value(); }));
  EXPECT_EQ(two->links->guests(), 0u);
}

TEST(ElectionLinksAuth, SilenceInTheExchangeTimesOut) {
  Fortress fortress({.hello_timeout_ms = 30});
  for (const std::string& said :
       {hello_of(kTwo), hello_of(kTwo) + kAuthHello.substr(0, 9), hello_of(kTwo) + kAuthHello}) {
    Visitor silent(fortress.world, fortress.one->endpoint());
    silent.say(said);
    ASSERT_TRUE(fortress.world.until([&] { return silent.closed.has_value(); }));
  }
  EXPECT_EQ(fortress.one->links->refusals().of(Refusal::kLate), 3u);
}

TEST(ElectionLinksAuth, ManyUnfinishedExchangesDoNotBlockAPeer) {
  World world;
  AuthNode one(world, kOne, AuthNode::kServerRequires);
  AuthNode two(world, kTwo, AuthNode::kServerRequires);
  std::vector<std::unique_ptr<Visitor>> silent;
  one->knows({{kTwo, {{"127.0.0.1", 1}}}});
  for (int i = 0; i < 100; ++i) {
    silent.push_back(std::make_unique<Visitor>(world, one->endpoint()));
    silent.back()->say(hello_of(kTwo) + kAuthHello);
  }
  ASSERT_TRUE(world.until([&] { return one.is_refused(Refusal::kCrowded); }));
  EXPECT_TRUE(exchange_votes(world, one, two));
}

// --- where authentication is not required ---

TEST(ElectionLinksAuth, AKnockWithoutAuthenticationIsAnsweredIfItIsNotRequired) {
  World world;
  AuthNode one(world, kOne, AuthNode::kOff);
  AuthNode two(world, kTwo, AuthNode::kEnabled);
  introduce({one.node.get(), two.node.get()});
  one->links->send(kTwo, "from 1");
  EXPECT_TRUE(world.until([&] { return two->has(kOne, "from 1"); }));
}

TEST(ElectionLinksAuth, AQuietServerIsLinkedAfterAWhileIfAuthenticationIsNotRequired) {
  World world;
  AuthNode one(world, kOne, AuthNode::kEnabled);
  one->knows({{kTwo, {{"127.0.0.1", 1}}}});
  Visitor two(world, one->endpoint());
  two.say(hello_of(kTwo));
  EXPECT_TRUE(world.until([&] { return one->links->has_link(kTwo); }));
}

// It would show an attacker a digest of the password.
TEST(ElectionLinksAuth, AGuestThatDidNotAuthenticateIsNotAuthenticatedTo) {
  World world;
  AuthNode two(world, kTwo, AuthNode::kLearnerRequires, "secret", {.guests_max = 4});
  SilentPeer attacker(world);
  Visitor knock(world, two->endpoint());
  knock.say(hello_of(kOne, {to_text(attacker.endpoint())}));
  knock.link->finish();
  ASSERT_TRUE(world.until([&] { return attacker.calls.size() == 1; }));
  world.run_for(50);
  EXPECT_EQ(attacker.calls.at(0)->received, hello_of(kTwo, {"127.0.0.1:3888"}));
}

TEST(ElectionLinksAuth, AGuestWithTheSecretIsDialledWithIt) {
  World world;
  AuthNode two(world, kTwo, AuthNode::kServerRequires, "secret", {.guests_max = 4});
  SilentPeer guest(world);
  Visitor knock(world, two->endpoint());
  knock.say(hello_of(kOne, {to_text(guest.endpoint())}) + kAuthHello +
            auth_packet(AuthStatus::kInProgress, "client:secret"));
  const std::string expected = hello_of(kTwo, {"127.0.0.1:3888"}) + kAuthHello;
  EXPECT_TRUE(world.until([&] { return !guest.calls.empty() && guest.calls[0]->received == expected; }));
}

}  // namespace
}  // namespace drover::net

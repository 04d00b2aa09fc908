// SPDX-License-Identifier: Apache-2.0
#include "net/link_auth.h"

#include <gtest/gtest.h>

#include "net/auth_test_support.h"
#include "net/peer_test_support.h"

namespace drover::net {
namespace {

using namespace testing;
using wire::AuthStatus;
using Accepted = AcceptedAuth::State;
using Connecting = ConnectingAuth::State;

const std::string kHello = auth_packet(AuthStatus::kInProgress, "");
const std::string kProof = auth_packet(AuthStatus::kInProgress, "client:secret");
const std::string kRefused = auth_packet(AuthStatus::kError, "");

// --- accepting ---

struct Acceptor {
  explicit Acceptor(PeerAuth s = {}) : settings(std::move(s)) {
    if (settings.acceptor == nullptr) settings.acceptor = &factory;
  }
  std::size_t hear(std::string_view bytes) { return auth.on_bytes(bytes, out); }

  SecretAcceptor factory;
  PeerAuth settings;
  AcceptedAuth auth{settings};
  std::string out;
};

TEST(AcceptedAuth, APeerThatKnowsTheSecretPasses) {
  Acceptor acceptor;
  EXPECT_EQ(acceptor.hear(kHello), kHello.size());
  EXPECT_EQ(acceptor.out, auth_packet(AuthStatus::kInProgress, "prove it"));
  acceptor.out.clear();
  EXPECT_EQ(acceptor.hear(kProof + "FOLLOWERINFO"), kProof.size()) << "what follows is for others";
  EXPECT_EQ(acceptor.out, auth_packet(AuthStatus::kSuccess, "server:secret"));
  EXPECT_EQ(acceptor.auth.state(), Accepted::kPassed);
  EXPECT_EQ(acceptor.auth.name(), "peer");
}

TEST(AcceptedAuth, TheExchangeMayArriveByteByByte) {
  Acceptor acceptor;
  std::string pending;
  for (const char byte : kHello + kProof) {
    pending += byte;
    pending.erase(0, acceptor.hear(pending));
  }
  EXPECT_EQ(acceptor.auth.state(), Accepted::kPassed);
}

TEST(AcceptedAuth, AWrongSecretIsAnsweredWithAnError) {
  Acceptor acceptor;
  acceptor.hear(kHello);
  acceptor.out.clear();
  acceptor.hear(auth_packet(AuthStatus::kInProgress, "client:guess"));
  EXPECT_EQ(acceptor.auth.state(), Accepted::kFailed);
  EXPECT_EQ(acceptor.auth.failure(), "SASL authentication failed: wrong secret");
  EXPECT_EQ(acceptor.out, kRefused);
}

TEST(AcceptedAuth, OtherTrafficPassesOnlyIfAuthenticationIsNotRequired) {
  Acceptor lenient;
  EXPECT_EQ(lenient.hear(std::string_view("\0", 1)), 0u);
  EXPECT_EQ(lenient.auth.state(), Accepted::kAbsent);
  Acceptor strict({.required = true});
  EXPECT_EQ(strict.hear(std::string_view("\0", 1)), 0u);
  EXPECT_EQ(strict.auth.state(), Accepted::kFailed);
  EXPECT_EQ(strict.out, "") << "the peer would not understand a packet";
  EXPECT_EQ(strict.factory.started + lenient.factory.started, 0) << "a stranger costs no exchange";
}

TEST(AcceptedAuth, AnExchangeOnceBegunCannotBeLeft) {
  for (const bool required : {false, true}) {
    Acceptor acceptor({.required = required});
    acceptor.hear(kHello);
    acceptor.hear(std::string_view("\0\0\0\x0b", 4));
    EXPECT_EQ(acceptor.auth.state(), Accepted::kFailed) << required;
  }
}

TEST(AcceptedAuth, APeerThatSaysItHasSucceededOrFailedIsRefused) {
  for (const AuthStatus status : {AuthStatus::kSuccess, AuthStatus::kError}) {
    Acceptor acceptor;
    acceptor.hear(auth_packet(status, "client:secret"));
    EXPECT_EQ(acceptor.auth.state(), Accepted::kFailed);
  }
}

TEST(AcceptedAuth, EndlessRoundsEnd) {
  struct Endless final : SaslFactory {
    std::unique_ptr<SaslConversation> start() override {
      return std::make_unique<ScriptedConversation>(
          ScriptedConversation::Script{[](std::string_view) { return go_on("more"); }});
    }
  } endless;
  Acceptor acceptor({.acceptor = &endless});
  for (int round = 1; round <= kAuthRoundsMax; ++round) {
    acceptor.hear(kHello);
    ASSERT_EQ(acceptor.auth.state(), Accepted::kWaiting) << round;
  }
  acceptor.hear(kHello);
  EXPECT_EQ(acceptor.auth.state(), Accepted::kFailed);
}

TEST(AcceptedAuth, AHugeTokenIsRefusedBeforeItArrives) {
  Acceptor acceptor;
  std::string header = kHello;
  wire::store_be<std::int32_t>(header.data() + 12, wire::kAuthTokenBytesMax + 1);
  acceptor.hear(header);
  EXPECT_EQ(acceptor.auth.state(), Accepted::kFailed);
  EXPECT_EQ(acceptor.factory.started, 0);
}

TEST(AcceptedAuth, AProvenNameMustBeAllowed) {
  std::string asked;
  Acceptor acceptor({.objection = [&](const std::string& name) {
    asked = name;
    return std::optional<std::string>("peer is no member");
  }});
  acceptor.hear(kHello);
  acceptor.out.clear();
  acceptor.hear(kProof);
  EXPECT_EQ(asked, "peer");
  EXPECT_EQ(acceptor.auth.state(), Accepted::kFailed);
  EXPECT_EQ(acceptor.out, kRefused) << "it must not learn more";
}

TEST(AcceptedAuth, WithoutCredentialsOfItsOwnNobodyPasses) {
  struct Nothing final : SaslFactory {
    std::unique_ptr<SaslConversation> start() override { return nullptr; }
  } nothing;
  Acceptor acceptor({.acceptor = &nothing});
  acceptor.hear(kHello);
  EXPECT_EQ(acceptor.auth.state(), Accepted::kFailed);
}

// --- connecting ---

struct Connector {
  explicit Connector(const ScriptedConversation::Script& script)
      : settings{.connector =
                     [script](ServerId, const std::string&) {
                       return [script] { return std::make_unique<ScriptedConversation>(script); };
                     },
                 .starter = starter.get()},
        auth(settings, ServerId{1}, "host", [this] { ++started; }) {
    EXPECT_TRUE(world.until([&] { return started == 1; }));
  }
  explicit Connector(const std::string& secret)
      : Connector({[](std::string_view) { return go_on(); },
                   [secret](std::string_view) { return go_on("client:" + secret); },
                   [secret](std::string_view token) { return done_if(token == "server:" + secret); }}) {}
  std::size_t hear(std::string_view bytes) { return auth.on_bytes(bytes, out); }

  World world;
  std::unique_ptr<SaslStarter> starter = *SaslStarter::create(world.loop());
  PeerAuth settings;
  int started = 0;
  ConnectingAuth auth;
  std::string out;
};

TEST(ConnectingAuth, SpeaksFirstEvenWithAnEmptyToken) {
  Connector connector("secret");
  EXPECT_EQ(connector.auth.first_packet(), kHello);
  EXPECT_EQ(connector.auth.state(), Connecting::kWaiting);
}

TEST(ConnectingAuth, PassesWhenBothSidesAreConvinced) {
  Connector connector("secret");
  connector.hear(auth_packet(AuthStatus::kInProgress, "prove it"));
  EXPECT_EQ(connector.out, kProof);
  const std::string answer = auth_packet(AuthStatus::kSuccess, "server:secret");
  EXPECT_EQ(connector.hear(answer + "vote"), answer.size());
  EXPECT_EQ(connector.auth.state(), Connecting::kPassed);
}

TEST(ConnectingAuth, AServerThatDoesNotKnowTheSecretIsNotTrusted) {
  for (const char* const proof : {"server:guess", ""}) {
    Connector connector("secret");
    connector.hear(auth_packet(AuthStatus::kInProgress, "prove it"));
    connector.hear(auth_packet(AuthStatus::kSuccess, proof));
    EXPECT_EQ(connector.auth.state(), Connecting::kFailed) << proof;
  }
}

TEST(ConnectingAuth, SuccessBeforeTheExchangeProvesNothing) {
  Connector connector("secret");
  connector.hear(auth_packet(AuthStatus::kSuccess, "server:secret"));
  EXPECT_EQ(connector.auth.state(), Connecting::kFailed);
}

// With Kerberos our side is done first, and the answer has no token.
TEST(ConnectingAuth, MayBeConvincedBeforeTheOtherSide) {
  Connector connector({[](std::string_view) { return go_on("ticket"); },
                       [](std::string_view token) { return done_if(token == "mutual", "layer"); }});
  EXPECT_EQ(connector.auth.first_packet(), auth_packet(AuthStatus::kInProgress, "ticket"));
  connector.hear(auth_packet(AuthStatus::kInProgress, "mutual"));
  EXPECT_EQ(connector.out, auth_packet(AuthStatus::kInProgress, "layer"));
  EXPECT_EQ(connector.auth.state(), Connecting::kWaiting) << "the peer has not decided yet";
  connector.hear(auth_packet(AuthStatus::kSuccess, std::nullopt));
  EXPECT_EQ(connector.auth.state(), Connecting::kPassed);
}

TEST(ConnectingAuth, ARefusalSaysWhoseCredentialsAreWrong) {
  Connector connector("guess");
  connector.hear(auth_packet(AuthStatus::kInProgress, "prove it") + kRefused);
  EXPECT_EQ(connector.auth.failure(),
            "SASL authentication failed: it refuses the credentials of this server");
}

TEST(ConnectingAuth, EndlessRoundsEnd) {
  Connector connector({[](std::string_view) { return go_on("more"); }});
  for (int round = 1; round <= kAuthRoundsMax; ++round) {
    connector.hear(auth_packet(AuthStatus::kInProgress, "more"));
    ASSERT_EQ(connector.auth.state(), Connecting::kWaiting) << round;
  }
  connector.hear(auth_packet(AuthStatus::kInProgress, "more"));
  EXPECT_EQ(connector.auth.state(), Connecting::kFailed);
}

TEST(ConnectingAuth, AServerThatGoesOnAfterTheEndIsRefused) {
  Connector connector({[](std::string_view) { return done("all"); }});
  connector.hear(auth_packet(AuthStatus::kInProgress, "more"));
  EXPECT_EQ(connector.auth.state(), Connecting::kFailed);
}

TEST(ConnectingAuth, AServerThatSendsSomethingElseIsRefused) {
  Connector connector("secret");
  connector.hear("HTTP/1.1 400 Bad Request");
  EXPECT_EQ(connector.auth.state(), Connecting::kFailed);
}

TEST(ConnectingAuth, WithoutCredentialsItFails) {
  World world;
  const auto starter = *SaslStarter::create(world.loop());
  const PeerAuth settings{.connector =
                              [](ServerId, const std::string&) {
                                return [] { return std::unexpected(data_error("the keytab is gone")); };
                              },
                          .starter = starter.get()};
  int started = 0;
  const ConnectingAuth auth(settings, ServerId{1}, "host", [&] { ++started; });
  ASSERT_TRUE(world.until([&] { return started == 1; }));
  EXPECT_EQ(auth.state(), Connecting::kFailed);
  EXPECT_EQ(auth.failure(), "SASL authentication failed: the keytab is gone");
}

// --- the thread of the first step ---

TEST(SaslStarter, AKdcThatDoesNotAnswerBlocksNobody) {
  World world;
  const auto starter = *SaslStarter::create(world.loop());
  const auto kdc = std::make_shared<std::binary_semaphore>(0);
  int blocked_done = 0;
  int done_calls = 0;
  starter->begin(
      [kdc] {
        kdc->acquire();
        return std::unexpected(data_error("no answer"));
      },
      [&](SaslStarter::Started) { ++blocked_done; });
  starter->begin([] { return secret_conversation("secret"); },
                 [&](SaslStarter::Started first) {
                   ++done_calls;
                   EXPECT_EQ(first.step.status, SaslStep::Status::kContinue);
                 });
  ASSERT_TRUE(world.until([&] { return done_calls == 1; }));
  EXPECT_EQ(blocked_done, 0);
  kdc->release();
  EXPECT_TRUE(world.until([&] { return blocked_done == 1; }));
}

TEST(SaslStarter, ThreadsThatWaitForAKdcAreLimited) {
  World world;
  const auto starter = *SaslStarter::create(world.loop());
  const auto kdc = std::make_shared<std::counting_semaphore<>>(0);
  int ended = 0;
  const auto wait = [kdc] {
    kdc->acquire();
    return std::unexpected(data_error("no answer"));
  };
  for (int i = 0; i < SaslStarter::kThreadsMax; ++i) {
    starter->begin(wait, [&](SaslStarter::Started) { ++ended; });
  }
  std::string reason;
  starter->begin(wait, [&](SaslStarter::Started first) { reason = first.step.reason; });
  ASSERT_TRUE(world.until([&] { return !reason.empty(); }));
  EXPECT_EQ(reason, "too many exchanges wait for the KDC");
  EXPECT_EQ(ended, 0);
  kdc->release(SaslStarter::kThreadsMax);
  EXPECT_TRUE(world.until([&] { return ended == SaslStarter::kThreadsMax; }));
}

TEST(SaslStarter, ACancelledExchangeIsNotReported) {
  World world;
  const auto starter = *SaslStarter::create(world.loop());
  int cancelled = 0;
  int later = 0;
  const auto start = [] { return secret_conversation("secret"); };
  const auto ticket = starter->begin(start, [&](SaslStarter::Started) { ++cancelled; });
  starter->cancel(ticket);
  world.settle();
  starter->begin(start, [&](SaslStarter::Started) { ++later; });
  ASSERT_TRUE(world.until([&] { return later == 1; }));
  EXPECT_EQ(cancelled, 0);
}

}  // namespace
}  // namespace drover::net

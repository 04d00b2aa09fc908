// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sasl/mechanisms.h"

namespace drover::sasl {
namespace {

using Status = SaslStep::Status;
using testing::HasSubstr;
using testing::Not;

Users two_users() {
  Users users;
  users.emplace("bob", Secret("builder"));
  users.emplace("super", Secret("sesame"));
  return users;
}

std::unique_ptr<SaslFactory> server_of(Users users, AuthorizationRule rule = as_authenticated(),
                                       const ServiceName& service = kClientPortDigest) {
  auto factory = digest_md5_server(std::move(users), service, std::move(rule));
  EXPECT_TRUE(factory) << factory.error().what;
  return *std::move(factory);
}

std::unique_ptr<SaslFactory> client_of(const std::string& user, const std::string& password,
                                       const ServiceName& service = kClientPortDigest) {
  auto factory = digest_md5_client(user, Secret(password), service);
  EXPECT_TRUE(factory) << factory.error().what;
  return *std::move(factory);
}

struct Outcome {
  SaslStep client;
  SaslStep server;
  std::string id;
};

// Carries tokens until one side is done or fails.
Outcome converse(SaslFactory& client_factory, SaslFactory& server_factory) {
  const auto client = client_factory.start();
  const auto server = server_factory.start();
  Outcome outcome;
  outcome.client = client->step({});
  while (outcome.client.status == Status::kContinue) {
    outcome.server = server->step(outcome.client.token.value_or(""));
    if (outcome.server.status == Status::kFailed) break;
    outcome.client = client->step(outcome.server.token.value_or(""));
  }
  outcome.id = server->authorization_id();
  return outcome;
}

Outcome converse(const std::string& user, const std::string& password) {
  return converse(*client_of(user, password), *server_of(two_users()));
}

// A conversation of the server that has sent its challenge.
std::unique_ptr<SaslConversation> challenged() {
  auto conversation = server_of(two_users())->start();
  EXPECT_EQ(conversation->step({}).status, Status::kContinue);
  return conversation;
}

SaslStep answer(std::string_view token) { return challenged()->step(token); }

TEST(DigestMd5, TheRightPasswordProvesTheUser) {
  const Outcome outcome = converse("bob", "builder");
  EXPECT_EQ(outcome.client.status, Status::kDone) << outcome.client.reason;
  EXPECT_EQ(outcome.server.status, Status::kDone) << outcome.server.reason;
  EXPECT_EQ(outcome.id, "bob");
}

TEST(DigestMd5, TheServersLastTokenIsItsProof) {
  const Outcome outcome = converse("bob", "builder");
  ASSERT_TRUE(outcome.server.token);
  EXPECT_THAT(*outcome.server.token, testing::StartsWith("rspauth="));
  EXPECT_FALSE(outcome.client.token);
}

TEST(DigestMd5, AWrongPasswordOrUserFailsWithoutSecretsInTheReason) {
  for (const char* user : {"bob", "super", "nobody"}) {
    const Outcome outcome = converse(user, "WrongPassword");
    EXPECT_EQ(outcome.server.status, Status::kFailed);
    EXPECT_FALSE(outcome.server.token);
    EXPECT_THAT(outcome.server.reason, HasSubstr(std::string("\"") + user + "\""));
    EXPECT_THAT(outcome.server.reason, Not(HasSubstr("builder")));
    EXPECT_THAT(outcome.server.reason, Not(HasSubstr("sesame")));
    EXPECT_THAT(outcome.server.reason, Not(HasSubstr("WrongPassword")));
    EXPECT_EQ(outcome.id, "");
  }
}

TEST(DigestMd5, NamesWithAtSlashQuotesAndUmlautsWork) {
  for (const char* user : {"bob@EXAMPLE.COM", "hbase/node1@EXAMPLE.COM", "a b", "say \"hi\"", "back\\slash",
                           "J\xc3\xbcrgen", "a,b=c", "\xe2\x82\xac"}) {
    Users users;
    users.emplace(user, Secret("p\xc3\xa4ss \"word\""));
    const Outcome outcome = converse(*client_of(user, "p\xc3\xa4ss \"word\""), *server_of(std::move(users)));
    EXPECT_EQ(outcome.server.status, Status::kDone) << user << ": " << outcome.server.reason;
    EXPECT_EQ(outcome.client.status, Status::kDone) << user << ": " << outcome.client.reason;
    EXPECT_EQ(outcome.id, user);
  }
}

TEST(DigestMd5, AnEmptyPasswordNeverWorks) {
  Users users;
  users.emplace("bob", Secret(""));
  EXPECT_EQ(converse(*client_of("bob", ""), *server_of(std::move(users))).server.status, Status::kFailed);
}

TEST(DigestMd5, APasswordOfTheClientPortIsNoneBetweenServers) {
  const auto quorum = server_of(two_users(), as_authenticated(), kQuorumDigest);
  EXPECT_EQ(converse(*client_of("bob", "builder"), *quorum).server.status, Status::kFailed);
  EXPECT_EQ(converse(*client_of("bob", "builder", kQuorumDigest), *quorum).server.status, Status::kDone);
}

TEST(DigestMd5, TheChallengeOffersAuthenticationOnly) {
  const SaslStep step = server_of(two_users())->start()->step({});
  ASSERT_TRUE(step.token);
  EXPECT_THAT(*step.token, HasSubstr("realm=\"zk-sasl-md5\""));
  EXPECT_THAT(*step.token, HasSubstr("qop=\"auth\""));
  EXPECT_THAT(*step.token, HasSubstr("charset=utf-8"));
  EXPECT_THAT(*step.token, HasSubstr("algorithm=md5-sess"));
}

TEST(DigestMd5, TheRuleDecidesAsWhomTheUserActs) {
  const auto as_group = [](const ProvenPeer& peer) -> std::expected<std::string, std::string> {
    return "group-of-" + std::string(peer.authentication_id);
  };
  EXPECT_EQ(converse(*client_of("bob", "builder"), *server_of(two_users(), as_group)).id, "group-of-bob");

  const auto nobody = [](const ProvenPeer&) -> std::expected<std::string, std::string> {
    return std::unexpected("not today");
  };
  const Outcome refused = converse(*client_of("bob", "builder"), *server_of(two_users(), nobody));
  EXPECT_EQ(refused.server.status, Status::kFailed);
  EXPECT_THAT(refused.server.reason, HasSubstr("not today"));
  EXPECT_FALSE(refused.server.token);
}

TEST(DigestMd5, ASecondConversationOfOneFactoryStartsAfresh) {
  // Cyrus SASL's client would reuse the first one's nonce.
  const auto client = client_of("bob", "builder");
  const auto server = server_of(two_users());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(converse(*client, *server).id, "bob");
}

TEST(DigestMd5, ARecordedResponseProvesNothingLater) {
  const auto client = client_of("bob", "builder")->start();
  const auto first = server_of(two_users())->start();
  client->step({});
  const SaslStep response = client->step(*first->step({}).token);
  ASSERT_EQ(response.status, Status::kContinue);
  EXPECT_EQ(answer(*response.token).status, Status::kFailed);
  EXPECT_EQ(first->step(*response.token).status, Status::kDone);
}

TEST(DigestMd5, NoStepFollowsTheEnd) {
  const auto client = client_of("bob", "builder")->start();
  const auto server = server_of(two_users())->start();
  client->step({});
  const SaslStep response = client->step(*server->step({}).token);
  const SaslStep done = server->step(*response.token);
  EXPECT_EQ(client->step(*done.token).status, Status::kDone);
  for (SaslConversation* side : {server.get(), client.get()}) {
    const SaslStep late = side->step(*response.token);
    EXPECT_EQ(late.status, Status::kFailed);
    EXPECT_THAT(late.reason, HasSubstr("after the end"));
  }
  EXPECT_EQ(server->authorization_id(), "bob");
}

TEST(DigestMd5, AFailedServerStaysFailed) {
  const auto server = challenged();
  EXPECT_EQ(server->step("").status, Status::kFailed);
  EXPECT_EQ(server->step("").status, Status::kFailed);
}

TEST(DigestMd5, HostileTokensFailCleanly) {
  for (const std::string& token :
       {std::string("\0", 1), std::string("username=\"bob\0x\"", 16), std::string(65537, 'a'),
        std::string(5000, ','), std::string("username=\"bob"), std::string("=,=,="),
        std::string("\xff\xfe\x80"), std::string("username=bob,username=bob,username=bob")}) {
    const SaslStep step = answer(token);
    EXPECT_EQ(step.status, Status::kFailed);
    EXPECT_FALSE(step.token);
    EXPECT_NE(step.reason, "");
  }
}

TEST(DigestMd5, AServerDoesNotReadTheFirstToken) {
  const auto client = client_of("bob", "builder")->start();
  const auto server = server_of(two_users())->start();
  client->step({});
  const SaslStep response = client->step(*server->step("nonce=\"old\",garbage").token);
  EXPECT_EQ(server->step(*response.token).status, Status::kDone);
}

TEST(DigestMd5, AServerCannotSkipTheChallenge) {
  for (const char* token :
       {"", "rspauth=0123456789abcdef", "rspauth=,nonce=a,algorithm=md5-sess", "nonce=\"a\""}) {
    const auto client = client_of("bob", "builder")->start();
    client->step({});
    EXPECT_EQ(client->step(token).status, Status::kFailed) << token;
  }
}

TEST(DigestMd5, AServerWithoutThePasswordDoesNotConvinceTheClient) {
  const auto client = client_of("bob", "builder")->start();
  const auto server = server_of(two_users())->start();
  client->step({});
  ASSERT_EQ(client->step(*server->step({}).token).status, Status::kContinue);
  const SaslStep step = client->step("rspauth=ea40f60335c427b5527b84dbabcdfffd");
  EXPECT_EQ(step.status, Status::kFailed);
  EXPECT_THAT(step.reason, HasSubstr("proof"));
}

TEST(DigestMd5, AConversationMayOutliveItsFactory) {
  auto factory = server_of(two_users());
  const auto server = factory->start();
  factory.reset();
  const auto client = client_of("bob", "builder")->start();
  client->step({});
  EXPECT_EQ(server->step(*client->step(*server->step({}).token).token).status, Status::kDone);
}

TEST(DigestMd5, ConversationsRunOnManyThreads) {
  const auto client = client_of("bob", "builder");
  const auto server = server_of(two_users());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) EXPECT_EQ(converse(*client, *server).id, "bob");
    });
  }
}

}  // namespace
}  // namespace drover::sasl

// SPDX-License-Identifier: Apache-2.0
//
// A client's SASL exchange, with a mechanism that these tests play.
#include <gtest/gtest.h>

#include "replica/testing.h"
#include "wire/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::from_hex;
using wire::testing::path_watch_body;

// One step: "ask" is answered with "who?"; a name makes the client that user, "bad" fails.
class PlayedExchange final : public SaslConversation {
 public:
  explicit PlayedExchange(int& alive) : alive_(alive) { ++alive_; }
  ~PlayedExchange() override { --alive_; }

  SaslStep step(std::string_view token) override {
    using Status = SaslStep::Status;
    if (token == "bad") return {.status = Status::kFailed, .reason = "bad was said"};
    if (token == "ask") return {.status = Status::kContinue, .token = "who?"};
    if (token == "wait") return {.status = Status::kContinue};
    id_ = token;
    return {.status = Status::kDone, .token = "hello"};
  }
  const std::string& authorization_id() const override { return id_; }

 private:
  int& alive_;
  std::string id_;
};

struct PlayedSasl final : SaslFactory {
  std::unique_ptr<SaslConversation> start() override {
    ++started;
    return std::make_unique<PlayedExchange>(alive);
  }
  int started = 0;
  int alive = 0;
};

class Sasl : public ::testing::Test {
 protected:
  Harness& server() {
    if (!harness_) {
      config_.front.sasl = &sasl_;
      config_.state.sasl_scheme = true;
      harness_.emplace(config_);
    }
    return *harness_;
  }
  Client client() { return connected(server()); }
  static Reply say(Client& c, std::string_view token) {
    std::string body;
    wire::Writer w(body);
    w.string(token);
    return c.ask(OpCode::kSasl, body);
  }
  static std::string token_of(const Reply& reply) {
    wire::Reader r(reply.body);
    const auto token = r.buffer();
    return token ? std::string(*token) : "null";
  }
  // "ip:127.0.0.1 sasl:bob"
  static std::string who_am_i(Client& c) {
    const Reply reply = c.ask(OpCode::kWhoAmI);
    wire::Reader r(reply.body);
    std::string text;
    for (std::int32_t left = r.i32(); left > 0; --left) {
      text += text.empty() ? "" : " ";
      text += r.string();
      text += ":";
      text += r.string();
    }
    return text;
  }
  static ErrorCode look(Client& c) { return c.error(OpCode::kExists, path_watch_body("/")); }

  PlayedSasl sasl_;
  HarnessConfig config_;
  std::optional<Harness> harness_;
};

TEST_F(Sasl, AFinishedExchangeGivesAnIdentity) {
  Client c = client();
  const Reply challenge = say(c, "ask");
  EXPECT_EQ(challenge.header.error, ErrorCode::kOk);
  EXPECT_EQ(challenge.header.zxid, Zxid{0});
  EXPECT_EQ(token_of(challenge), "who?");
  EXPECT_EQ(token_of(say(c, "bob")), "hello");
  EXPECT_EQ(who_am_i(c), "ip:127.0.0.1 sasl:bob");
  EXPECT_EQ(server().front().totals().sasl_logins, 1u);
}

TEST_F(Sasl, AnExchangeLivesOnlyAsLongAsItIsUnderWay) {
  Client c = client();
  EXPECT_EQ(look(c), ErrorCode::kOk);
  EXPECT_EQ(sasl_.started, 0) << "nothing is made for a client that does not ask";
  say(c, "ask");
  EXPECT_EQ(look(c), ErrorCode::kOk) << "requests may come between the steps";
  EXPECT_EQ(sasl_.alive, 1);
  say(c, "bob");
  EXPECT_EQ(sasl_.alive, 0);
  Client gone = client();
  say(gone, "ask");
  gone.vanish();
  EXPECT_EQ(sasl_.alive, 0);
  EXPECT_EQ(sasl_.started, 2);
}

TEST_F(Sasl, AnEmptyTokenIsAnAnswerAndANullTokenIsNone) {
  Client c = client();
  EXPECT_EQ(token_of(say(c, "wait")), "null");
  c.send(OpCode::kSasl, from_hex("ffffffff"));
  EXPECT_EQ(story(c.take()), Story{}) << "as Java";
  EXPECT_TRUE(c.closed());
}

TEST_F(Sasl, AFailedExchangeEndsTheConnection) {
  Client c = client();
  const Reply reply = say(c, "bad");
  EXPECT_EQ(reply.header.error, ErrorCode::kAuthFailed);
  EXPECT_EQ(token_of(reply), "null");
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(server().front().totals().sasl_failures, 1u);
  EXPECT_EQ(sasl_.alive, 0);
}

TEST_F(Sasl, ATokenAfterTheEndIsAFailure) {
  Client c = client();
  say(c, "bob");
  EXPECT_EQ(say(c, "ask").header.error, ErrorCode::kAuthFailed);
  EXPECT_TRUE(c.closed());
}

TEST_F(Sasl, AClientThatMayFailGoesOnWithoutAnIdentity) {
  config_.front.allow_sasl_failed_clients = true;
  Client c = client();
  const Reply reply = say(c, "bad");
  EXPECT_EQ(reply.header.error, ErrorCode::kOk);
  EXPECT_EQ(token_of(reply), "null");
  EXPECT_EQ(token_of(say(c, "bob")), "null") << "one attempt per connection";
  EXPECT_EQ(who_am_i(c), "ip:127.0.0.1");
}

TEST_F(Sasl, ARequiredLoginComesBeforeEverythingElse) {
  config_.front.required_schemes = {"sasl"};
  config_.front.allow_sasl_failed_clients = true;
  Client without = client();
  EXPECT_EQ(look(without), ErrorCode::kSessionClosedRequireSaslAuth);
  EXPECT_TRUE(without.closed());
  Client failed = client();
  EXPECT_EQ(say(failed, "bad").header.error, ErrorCode::kSessionClosedRequireSaslAuth);
  EXPECT_TRUE(failed.closed());
  Client with = client();
  say(with, "bob");
  EXPECT_EQ(look(with), ErrorCode::kOk);
}

TEST_F(Sasl, ATokenAndAnExchangeHaveALimit) {
  Client large = client();
  EXPECT_EQ(token_of(say(large, std::string(client_limits::kSaslTokenBytes, 'x'))), "null")
      << "too many bytes";
  EXPECT_TRUE(large.closed());
  Client endless = client();
  for (std::size_t i = 0; i < client_limits::kSaslSteps; ++i)
    EXPECT_EQ(token_of(say(endless, "ask")), "who?");
  EXPECT_EQ(say(endless, "ask").header.error, ErrorCode::kAuthFailed);
  EXPECT_TRUE(endless.closed());
}

TEST_F(Sasl, ASuperUserIsMarkedAsSuch) {
  config_.state.sasl_super_users = {"root", "admin"};
  Client c = client();
  say(c, "admin");
  EXPECT_EQ(who_am_i(c), "ip:127.0.0.1 sasl:admin super:");
}

TEST_F(Sasl, EachLoginIsReportedOnce) {
  Client c = client();
  say(c, "bob");
  Client failed = client();
  say(failed, "bad");
  const auto outcomes = server().front().take_sasl_outcomes();
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_TRUE(outcomes[0].success);
  EXPECT_TRUE(outcomes[0].text.ends_with(": bob")) << outcomes[0].text;
  EXPECT_FALSE(outcomes[1].success);
  EXPECT_TRUE(outcomes[1].text.ends_with(": bad was said")) << outcomes[1].text;
  EXPECT_TRUE(server().front().take_sasl_outcomes().empty());
}

}  // namespace
}  // namespace drover::replica

// SPDX-License-Identifier: Apache-2.0
//
// Logins with SASL: when they happen, what waits for them, and how they fail.
#include <gtest/gtest.h>

#include <string>

#include "client/client_testing.h"
#include "client/session.h"
#include "client/testing.h"

namespace drover::client {
namespace {

using testing::Bench;
using testing::kSession;
using testing::Request;
using testing::World;
using wire::OpCode;
namespace t = wire::testing;

SaslStep go_on(std::string token) {
  return {.status = SaslStep::Status::kContinue, .token = std::move(token)};
}
SaslStep done(std::optional<std::string> token = {}) {
  return {.status = SaslStep::Status::kDone, .token = std::move(token)};
}
SaslStep failed(std::string reason) {
  return {.status = SaslStep::Status::kFailed, .token = {}, .reason = std::move(reason)};
}
std::string buffer(std::string_view token) {
  std::string out;
  wire::Writer(out).string(token);
  return out;
}
const std::string kNull = "\xff\xff\xff\xff";

// A session whose mechanism is the test.
struct Login : Bench {
  explicit Login(SessionOptions options = {}) : Bench(with_sasl(options)) {}
  static SessionOptions with_sasl(SessionOptions options) {
    options.sasl = true;
    return options;
  }
  // Up to the exchange.
  void greet() {
    wait_for_dial();
    connect_socket();
    connect_request();
    hear(connect_response(9000));
  }
  void begin() {
    start();
    greet();
  }
  void step(SaslStep given) {
    asked.reset();
    step_sasl(std::move(given));
  }
  Request expect_token(const std::string& token) {
    Request request = take_request();
    EXPECT_EQ(request.op, OpCode::kSasl);
    EXPECT_EQ(request.body, buffer(token));
    return request;
  }
  void answer(const Request& request, std::string_view body, ErrorCode error = ErrorCode::kOk) {
    hear(reply(request.xid, 0, error, body));
  }
  // As DIGEST-MD5: empty token, challenge, response, proof.
  void log_in() {
    step(go_on(""));
    answer(expect_token(""), buffer("challenge"));
    step(go_on("response"));
    answer(expect_token("response"), buffer("proof"));
    step(done());
  }
};

TEST(SessionLogin, ComesBeforeEverythingElse) {
  Login b;
  b.session.add_auth(Token{9}, "digest", "u:p", b.now, b.effects);
  const std::int32_t xid = b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  b.begin();
  EXPECT_EQ(b.asked, "");
  EXPECT_EQ(b.sent, "");
  EXPECT_EQ(b.session.state(), SessionState::kConnecting);

  b.step(go_on(""));
  b.answer(b.expect_token(""), buffer("challenge"));
  EXPECT_EQ(b.asked, "challenge");
  b.step(go_on("response"));
  b.answer(b.expect_token("response"), buffer("proof"));
  EXPECT_EQ(b.asked, "proof");
  EXPECT_EQ(b.session.state(), SessionState::kConnecting) << "the server has not proved itself";
  EXPECT_EQ(b.sent, "");

  b.step(done());
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
  EXPECT_EQ(b.take_request().op, OpCode::kAuth);
  EXPECT_EQ(b.take_request().xid, xid);
  EXPECT_EQ(b.sent, "");
}

TEST(SessionLogin, EndsWithTheServersConsentIfOurTokenIsTheLast) {
  Login b;
  b.begin();
  b.step(go_on("ticket"));
  b.answer(b.expect_token("ticket"), buffer("proof"));
  b.step(done("layers"));
  const Request last = b.expect_token("layers");
  EXPECT_EQ(b.session.state(), SessionState::kConnecting);
  b.answer(last, kNull);
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
}

TEST(SessionLogin, HappensOnEveryConnection) {
  Login b;
  b.begin();
  b.log_in();
  b.lose();
  const std::int32_t xid = b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  b.greet();
  EXPECT_EQ(b.asked, "");
  EXPECT_EQ(b.sent, "");
  EXPECT_EQ(b.session.state(), SessionState::kSuspended);
  b.log_in();
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
  EXPECT_EQ(b.take_request().xid, xid);
}

TEST(SessionLogin, RequestsOfItsTimeWait) {
  Login b;
  b.begin();
  b.step(go_on(""));
  const Request first = b.take_request();
  b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  b.pass(5000);
  EXPECT_EQ(b.sent, "") << "not even a ping";
  b.answer(first, buffer("challenge"));
  b.step(done());
  EXPECT_EQ(b.take_request().op, OpCode::kDelete);
}

TEST(SessionLogin, ARefusalIsFinalAndSaysWhy) {
  for (const auto error : {ErrorCode::kAuthFailed, ErrorCode::kSessionClosedRequireSaslAuth}) {
    Login b;
    b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
    b.begin();
    b.step(go_on(""));
    b.answer(b.take_request(), kNull, error);
    EXPECT_EQ(b.session.state(), SessionState::kAuthFailed);
    EXPECT_EQ(b.session.auth_failure(), "SASL: the server refuses the login");
    EXPECT_EQ(b.hang_ups, 1u);
    EXPECT_TRUE(b.ended_with(1, Outcome::kNotApplied, ErrorCode::kAuthFailed));
  }
}

TEST(SessionLogin, ANullTokenBeforeTheEndIsARefusal) {
  Login b;
  b.begin();
  b.step(go_on(""));
  b.answer(b.take_request(), kNull);
  EXPECT_EQ(b.session.state(), SessionState::kAuthFailed);
  EXPECT_EQ(b.session.auth_failure(), "SASL: the server does not accept the login, or has no SASL");
}

TEST(SessionLogin, AFailureOfOursIsFinalAtFirst) {
  Login b;
  b.begin();
  b.step(failed("no ticket"));
  EXPECT_EQ(b.session.state(), SessionState::kAuthFailed);
  EXPECT_EQ(b.session.auth_failure(), "SASL: no ticket");
  EXPECT_EQ(b.sent, "");
}

TEST(SessionLogin, AClientThatWasLoggedInWaitsForItsKdc) {
  Login b;
  b.begin();
  b.log_in();
  for (int i = 0; i < 3; ++i) {
    b.lose();
    b.greet();
    b.step(failed("no KDC answers"));
    EXPECT_EQ(b.session.state(), SessionState::kSuspended);
  }
  b.greet();
  b.log_in();
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
}

TEST(SessionLogin, AServerThatCannotProveItselfIsRefusedLaterToo) {
  Login b;
  b.begin();
  b.log_in();
  b.lose();
  b.greet();
  b.step(go_on(""));
  b.answer(b.take_request(), buffer("challenge"));
  b.step(failed("the server's proof is wrong"));
  EXPECT_EQ(b.session.state(), SessionState::kAuthFailed);
}

TEST(SessionLogin, TakesTwoThirdsOfTheTimeoutAtMost) {
  for (const bool is_our_turn : {true, false}) {
    Login b({.timeout_ms = 9000});
    b.begin();
    if (!is_our_turn) b.step(go_on(""));
    b.pass(5999);
    EXPECT_EQ(b.hang_ups, 0u);
    b.pass(1);
    EXPECT_EQ(b.hang_ups, 1u);
    // The thread that asked the KDC answers late.
    b.step(go_on("late"));
    EXPECT_EQ(b.sent, "");
    EXPECT_EQ(b.session.state(), SessionState::kConnecting);
  }
}

TEST(SessionLogin, TokensOutOfTurnEndTheConnection) {
  Login b;
  b.begin();
  b.hear(Bench::reply(1, 0, ErrorCode::kOk, buffer("unasked")));
  EXPECT_EQ(b.hang_ups, 1u);

  Login c;
  c.begin();
  c.step(go_on(""));
  const Request first = c.take_request();
  c.hear(Bench::reply(first.xid, 0, ErrorCode::kOk, "\x7f"));  // no token
  EXPECT_EQ(c.hang_ups, 1u);
}

TEST(SessionLogin, ASessionMayCloseMeanwhile) {
  Login b;
  b.begin();
  b.close();
  EXPECT_EQ(b.sent, "");
  b.log_in();
  EXPECT_EQ(b.take_request().op, OpCode::kCloseSession);
}

TEST(SessionLogin, AReadOnlyServerStaysOne) {
  Login b({.read_only_ok = true});
  b.start();
  b.wait_for_dial();
  b.connect_socket();
  b.connect_request();
  b.hear(Bench::connect_response(9000, kSession, true));
  b.log_in();
  EXPECT_EQ(b.session.state(), SessionState::kConnectedReadOnly);
  EXPECT_FALSE(b.session.valid_until());
}

TEST(SessionLogin, UsersLearnWhyItFailed) {
  World w({.session = {.sasl = true}});
  auto reading = w.run(w.client->get("/a"));
  w.accept();
  w.driver->on_sasl(failed("no ticket"), w.now);
  ASSERT_TRUE(*reading);
  EXPECT_EQ((*reading)->error().code, Errc::kAuthFailed);
  EXPECT_EQ((*reading)->error().detail, "SASL: no ticket");
  EXPECT_EQ(w.states.back(), (StateEvent{ConnectionState::kAuthFailed, kSession, "SASL: no ticket"}));
  auto late = w.run(w.client->get("/a"));
  EXPECT_EQ((**late).error().detail, "SASL: no ticket");
}

}  // namespace
}  // namespace drover::client

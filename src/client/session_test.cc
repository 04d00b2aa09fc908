// SPDX-License-Identifier: Apache-2.0
//
// One connection: the handshake, requests and their answers, pings, the end.
#include "client/session.h"

#include <gtest/gtest.h>

#include "client/testing.h"

namespace drover::client {
namespace {

using testing::Bench;
using testing::kPassword;
using testing::kSession;
using wire::EventType;
using wire::OpCode;
namespace t = wire::testing;

TEST(Session, RequestsANewSessionWithTheUsualBytes) {
  Bench b({.timeout_ms = 30'000});
  b.start();
  EXPECT_TRUE(b.dialled.has_value()) << "at once";
  b.connect_socket();
  EXPECT_EQ(t::to_hex(b.sent),
            "0000002d00000000000000000000000000007530000000000000000000000010"
            "0000000000000000000000000000000000");
}

TEST(Session, HasTheSessionGrantedByTheServer) {
  Bench b;
  b.open(9000);
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
  EXPECT_EQ(b.session.id(), kSession);
  EXPECT_EQ(b.session.password(), kPassword);
  EXPECT_EQ(b.session.timeout_ms(), 9000);
}

TEST(Session, CompletesPipelinedRequestsInTheOrderOfSending) {
  Bench b;
  b.open();
  const std::int32_t first = b.submit(1, OpCode::kGetData, t::path_watch_body("/a"));
  const std::int32_t second = b.submit(2, OpCode::kGetData, t::path_watch_body("/b"));
  EXPECT_EQ(b.take_request().body, t::path_watch_body("/a"));
  EXPECT_EQ(b.take_request().xid, second);
  b.hear(Bench::reply(first, 5, ErrorCode::kOk, "one") + Bench::reply(second, 6, ErrorCode::kNoNode));
  ASSERT_EQ(b.ended.size(), 2u);
  EXPECT_EQ(b.ended[0].token, 1u);
  EXPECT_EQ(b.ended[0].body, "one");
  EXPECT_TRUE(b.ended_with(2, Outcome::kAnswered, ErrorCode::kNoNode));
  EXPECT_EQ(b.session.outstanding(), 0u);
}

TEST(Session, ReadsRepliesByteByByte) {
  Bench b;
  b.open();
  const std::int32_t xid = b.submit(1, OpCode::kGetData, t::path_watch_body("/a"));
  for (const char byte :
       Bench::reply(xid, 5, ErrorCode::kOk, "value") + Bench::event(EventType::kNodeDeleted, "/b", 6))
    b.hear(std::string_view(&byte, 1));
  ASSERT_EQ(b.ended.size(), 1u);
  EXPECT_EQ(b.ended[0].body, "value");
  ASSERT_EQ(b.told.size(), 1u);
  EXPECT_EQ(b.told[0].path, "/b");
}

TEST(Session, ReportsEventsAndRepliesInStreamOrder) {
  Bench b;
  b.open();
  b.order.clear();
  const std::int32_t xid = b.submit(1, OpCode::kSync, t::path_body("/"));
  b.hear(Bench::event(EventType::kNodeCreated, "/a", 7) + Bench::reply(xid, 7) +
         Bench::event(EventType::kNodeDeleted, "/a", 8));
  EXPECT_EQ(b.order, "ece");
}

TEST(Session, QueuesRequestsUntilThereIsASession) {
  Bench b;
  b.submit(1, OpCode::kSync, t::path_body("/"));
  b.open();
  EXPECT_EQ(b.take_request().op, OpCode::kSync);
}

TEST(Session, WithdrawsUnsentRequests) {
  Bench b;
  b.submit(1, OpCode::kSync, t::path_body("/a"));
  b.submit(2, OpCode::kSync, t::path_body("/b"));
  EXPECT_TRUE(b.session.withdraw(Token{1}));
  b.open();
  EXPECT_EQ(b.take_request().body, t::path_body("/b"));
  EXPECT_FALSE(b.session.withdraw(Token{2})) << "it is on its way";
}

TEST(Session, RefusesRequestsBeyondItsBounds) {
  Bench b({.outstanding_max = 2, .queued_bytes_max = 100});
  b.submit(1, OpCode::kSync, std::string(99, 'x'));
  b.submit(2, OpCode::kSync, "xx");
  EXPECT_TRUE(b.ended_with(2, Outcome::kNotApplied, ErrorCode::kThrottledOp)) << "too many bytes";
  b.submit(3, OpCode::kSync, "x");
  b.submit(4, OpCode::kSync, "");
  EXPECT_TRUE(b.ended_with(4, Outcome::kNotApplied, ErrorCode::kThrottledOp)) << "too many requests";
}

TEST(Session, PingsAfterAThirdOfTheTimeoutWithoutRequests) {
  Bench b;
  b.open(9000);
  b.pass(2999);
  EXPECT_EQ(b.sent, "");
  b.pass(1);
  EXPECT_EQ(t::to_hex(b.sent), "00000008fffffffe0000000b");
  b.take_request();
  b.hear(Bench::reply(wire::kPingXid, 0));
  b.pass(1000);
  b.submit(1, OpCode::kSync, t::path_body("/"));
  b.take_request();
  b.pass(2999);
  EXPECT_EQ(b.sent, "") << "the request was as good as a ping";
}

TEST(Session, HangsUpAfterTwoThirdsOfTheTimeoutInSilence) {
  Bench b;
  b.open(9000);
  b.pass(5999);
  EXPECT_EQ(b.hang_ups, 0u);
  b.pass(1);
  EXPECT_EQ(b.hang_ups, 1u);
  EXPECT_EQ(b.session.state(), SessionState::kSuspended);
}

TEST(Session, WhileHoldingOnlyRepliesThatProveAQuorumCount) {
  Bench b({.timeout_ms = 9000});
  b.open(9000);
  const Instant opened = b.now;
  EXPECT_EQ(b.session.valid_until(), opened + 9000);
  b.session.set_holding(true);
  b.pass(1000);
  b.hear(Bench::reply(b.submit(1, OpCode::kGetData, t::path_watch_body("/a")), 5, ErrorCode::kOk, "x"));
  EXPECT_EQ(b.session.valid_until(), opened + 9000) << "a read is any server's answer";
  b.take_request();
  b.pass(2000);
  const testing::Request probe = b.take_request();
  EXPECT_EQ(probe.op, OpCode::kSync) << "where a ping would be";
  b.hear(Bench::reply(probe.xid, 5, ErrorCode::kOk));
  EXPECT_EQ(b.session.valid_until(), opened + 3000 + 9000);
}

TEST(Session, WhileHoldingItLeavesAServerWithoutAQuorum) {
  Bench b({.timeout_ms = 9000});
  b.open(9000);
  b.session.set_holding(true);
  for (int i = 0; i < 5; ++i) {  // It answers reads.
    b.pass(1000);
    b.sent.clear();
    b.hear(Bench::event(EventType::kNodeDataChanged, "/a", 6));
  }
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
  b.pass(1000);
  EXPECT_EQ(b.session.state(), SessionState::kSuspended);
}

TEST(Session, HangsUpOnMalformedInput) {
  const auto hangs_up_on = [](std::string_view bytes) {
    Bench b;
    b.open();
    b.submit(1, OpCode::kSync, t::path_body("/"));
    b.hear(bytes);
    return b.hang_ups == 1 && b.ended_with(1, Outcome::kUnknown, ErrorCode::kConnectionLoss);
  };
  EXPECT_TRUE(hangs_up_on(Bench::reply(17, 1))) << "nobody asked";
  EXPECT_TRUE(hangs_up_on(Bench::reply(wire::kPingXid, 0))) << "nobody pinged";
  EXPECT_TRUE(hangs_up_on(Bench::reply(wire::kAuthXid, 0)));
  EXPECT_TRUE(hangs_up_on(Bench::reply(kSetWatchesXid, 1)));
  EXPECT_TRUE(hangs_up_on(t::from_hex("ffffffff"))) << "a negative length";
  EXPECT_TRUE(hangs_up_on(t::from_hex("7fffffff"))) << "too large a frame";
  EXPECT_TRUE(hangs_up_on(t::from_hex("00000001 00"))) << "no header";
  EXPECT_TRUE(hangs_up_on(t::from_hex("00000014 ffffffff 0000000000000001 00000000 00000001")))
      << "half an event";
}

TEST(Session, InputBeforeMalformedInputIsProcessed) {
  Bench b;
  b.open();
  const std::int32_t xid = b.submit(1, OpCode::kGetData, t::path_watch_body("/a"));
  const std::string bytes = Bench::reply(xid, 5, ErrorCode::kOk, "value") + t::from_hex("ffffffff");
  b.hear(bytes.substr(0, 3));
  b.hear(bytes.substr(3));
  ASSERT_EQ(b.ended.size(), 1u);
  EXPECT_EQ(b.ended[0].body, "value");
  EXPECT_EQ(b.hang_ups, 1u);
}

TEST(Session, ClosesAfterAllEarlierRequests) {
  Bench b;
  b.open();
  const std::int32_t xid = b.submit(1, OpCode::kSync, t::path_body("/"));
  b.session.close(b.now, b.effects);
  b.submit(2, OpCode::kSync, t::path_body("/"));
  EXPECT_TRUE(b.ended_with(2, Outcome::kNotApplied, ErrorCode::kSessionExpired)) << "it is too late for that";
  EXPECT_EQ(b.take_request().op, OpCode::kSync);
  const auto close = b.take_request();
  EXPECT_EQ(close.op, OpCode::kCloseSession);
  b.hear(Bench::reply(xid, 5) + Bench::reply(close.xid, 6));
  EXPECT_EQ(b.session.state(), SessionState::kClosed);
  EXPECT_TRUE(b.session.is_close_confirmed());
  EXPECT_EQ(b.hang_ups, 1u);
  EXPECT_FALSE(b.session.next_time().has_value());
}

TEST(Session, ClosesAtOnceIfNeverOpened) {
  Bench b;
  b.start();
  b.session.close(b.now, b.effects);
  b.submit(1, OpCode::kSync, "");
  EXPECT_EQ(b.session.state(), SessionState::kClosed);
  EXPECT_FALSE(b.session.is_close_confirmed());
}

TEST(Session, AbandonSendsNothing) {
  Bench b;
  b.open();
  b.submit(1, OpCode::kSync, t::path_body("/"));
  b.sent.clear();
  b.session.abandon(b.effects);
  b.hear("");
  EXPECT_EQ(b.session.state(), SessionState::kClosed);
  EXPECT_EQ(b.sent, "");
  EXPECT_TRUE(b.ended_with(1, Outcome::kUnknown, ErrorCode::kSessionExpired));
}

TEST(Session, AuthIsAnsweredOnce) {
  Bench b;
  b.open();
  b.session.add_auth(Token{9}, "digest", "u:p", b.now, b.effects);
  b.hear("");
  EXPECT_EQ(t::to_hex(b.sent),
            "0000001dfffffffc0000006400000000000000066469676573740000000375"
            "3a70");
  b.hear(Bench::reply(wire::kAuthXid, 0));
  EXPECT_TRUE(b.ended_with(9, Outcome::kAnswered, ErrorCode::kOk));
}

TEST(Session, RefusedAuthEndsTheSession) {
  Bench b;
  b.open();
  b.submit(1, OpCode::kSync, t::path_body("/"));
  b.session.add_auth(Token{9}, "nonsense", "", b.now, b.effects);
  b.hear(Bench::reply(wire::kAuthXid, 0, ErrorCode::kAuthFailed));
  EXPECT_EQ(b.session.state(), SessionState::kAuthFailed);
  EXPECT_TRUE(b.ended_with(9, Outcome::kAnswered, ErrorCode::kAuthFailed));
  EXPECT_TRUE(b.ended_with(1, Outcome::kUnknown, ErrorCode::kAuthFailed));
  b.submit(2, OpCode::kSync, "");
  EXPECT_TRUE(b.ended_with(2, Outcome::kNotApplied, ErrorCode::kAuthFailed));
}

}  // namespace
}  // namespace drover::client

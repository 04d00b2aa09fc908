// SPDX-License-Identifier: Apache-2.0
//
// A session whose list of servers changes.
#include <gtest/gtest.h>

#include "client/session.h"
#include "client/testing.h"

namespace drover::client {
namespace {

using testing::Bench;
using wire::OpCode;
namespace t = wire::testing;

constexpr std::optional<std::size_t> kAdded;

TEST(SessionServers, SessionOfARemovedServerMovesWhenAllRepliesHaveArrived) {
  Bench b;
  b.open();
  const std::int32_t first = b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  b.sent.clear();
  b.replace_servers({kAdded, kAdded});
  EXPECT_EQ(b.hang_ups, 0u);
  b.submit(2, OpCode::kDelete, t::path_version_body("/b"));
  EXPECT_EQ(b.sent, "") << "it waits for the next server";
  b.hear(Bench::reply(first, 7));
  EXPECT_TRUE(b.ended_with(1, Outcome::kAnswered, ErrorCode::kOk));
  EXPECT_EQ(b.hang_ups, 1u);
  b.reopen();
  EXPECT_EQ(b.take_request().body, t::path_version_body("/b"));
}

TEST(SessionServers, IdleSessionMovesAtOnce) {
  Bench b;
  b.open();
  b.replace_servers({kAdded});
  EXPECT_EQ(b.hang_ups, 1u);
  EXPECT_LE(b.session.next_time()->ms - b.now.ms, kJitterMs);
  b.reopen();
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
}

TEST(SessionServers, MoveDoesNotWaitForeverForAReply) {
  Bench b;
  b.open(9000);
  b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  b.replace_servers({kAdded});
  b.pass(2999);
  EXPECT_EQ(b.hang_ups, 0u);
  b.pass(1);
  EXPECT_EQ(b.hang_ups, 1u);
  EXPECT_TRUE(b.ended_with(1, Outcome::kUnknown, ErrorCode::kConnectionLoss));
}

TEST(SessionServers, SessionOfAKeptServerStaysIfTheListDoesNotGrow) {
  Bench b({.servers = 2});
  b.open();
  const std::size_t old = *b.session.current_server();
  b.replace_servers({kAdded, old});
  EXPECT_EQ(b.hang_ups, 0u);
  EXPECT_EQ(b.session.current_server(), 1u);
  b.lose();
  EXPECT_EQ(b.wait_for_dial(), 0u) << "the other one first";
}

TEST(SessionServers, DialToARemovedServerEnds) {
  Bench b;
  b.start();
  b.replace_servers({kAdded});
  EXPECT_EQ(b.hang_ups, 1u);
  b.dialled.reset();
  EXPECT_EQ(b.wait_for_dial(), 0u);
}

TEST(SessionServers, DialThatNobodyHasSeenGoesToTheSameServerOfTheNewList) {
  Session session({.servers = 2});
  SessionEffects effects;
  session.start(Instant{0}, effects);
  const std::size_t old = *effects.dial;
  session.replace_servers({1, 0}, Current::kByList, Instant{0}, effects);
  EXPECT_FALSE(effects.hang_up);
  EXPECT_EQ(effects.dial, 1 - old);
}

TEST(SessionServers, SessionThatIsLeavingClosesWhereItIs) {
  Bench b;
  b.open();
  b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  b.replace_servers({kAdded});
  b.submit(2, OpCode::kDelete, t::path_version_body("/b"));
  b.close();
  EXPECT_EQ(b.take_request().body, t::path_version_body("/a"));
  EXPECT_EQ(b.take_request().body, t::path_version_body("/b"));
  EXPECT_EQ(b.take_request().op, OpCode::kCloseSession);
  EXPECT_EQ(b.hang_ups, 0u);
}

TEST(SessionServers, RequestsThatWaitForAMoveAreLimited) {
  Bench b({.queued_bytes_max = 40});
  b.open();
  b.submit(1, OpCode::kSync, t::path_body("/"));
  b.replace_servers({kAdded});
  b.submit(2, OpCode::kSync, t::path_body("/" + std::string(50, 'x')));
  EXPECT_TRUE(b.ended_with(2, Outcome::kNotApplied, ErrorCode::kThrottledOp));
}

}  // namespace
}  // namespace drover::client

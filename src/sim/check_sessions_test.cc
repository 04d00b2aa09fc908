// SPDX-License-Identifier: Apache-2.0
//
// Sessions that act after their end, end too early, or leave something behind (I8, I13).
#include <gtest/gtest.h>

#include "sim/oracle_testing.h"

namespace drover::sim {
namespace {

using testing::kEpoch;
using testing::kFollower;
using testing::kLeader;
using testing::Story;
using testing::zxid_of;
using wire::OpCode;
namespace t = wire::testing;

struct SessionsTest : ::testing::Test {
  Story s;
  Story::Client a = s.join();
  Story::Client b = s.join();
};

TEST_F(SessionsTest, AWriteOfAClosedSessionIsFound) {
  const std::string body = t::create_body("/a", {.data = "x"});
  const std::int32_t xid = s.ask(a, OpCode::kCreate, body);
  s.commit_next(a.session, 99, OpCode::kCloseSession, "");
  s.commit_next(a.session, xid, OpCode::kCreate, body);
  EXPECT_REJECTED(s, "I8: 0x500000004 of session 0x701, which was closed at 0x500000003");
}

TEST_F(SessionsTest, AnEphemeralOfADeadSessionIsFound) {
  const std::string body = t::create_body("/a", {.data = "x", .flags = wire::kEphemeral});
  const std::int32_t xid = s.ask(a, OpCode::kCreate, body);
  s.commit_next(a.session, 99, OpCode::kCloseSession, "");
  s.commit_next(a.session, xid, OpCode::kCreate, body);
  EXPECT_REJECTED(s, "I8: 0x500000004 leaves an ephemeral of session 0x701, which is over");
}

TEST_F(SessionsTest, WriteOfASessionThatNeverExistedIsFound) {
  s.commit_next(SessionId{0x999}, 0, OpCode::kDelete, t::path_version_body("/a"));
  Story::Client ghost{s.oracle.new_client(), SessionId{0x998}, 1};
  s.oracle.on_session(ghost.id, ghost.session, 10'000, kLeader, s.oracle.now());
  EXPECT_REJECTED(s, "I8: a client has session 0x998, which was never created");
}

TEST_F(SessionsTest, ASessionThatIsCreatedTwiceIsFound) {
  s.commit_next(a.session, 99, OpCode::kCloseSession, "");
  s.commit_next(a.session, 0, OpCode::kCreateSession, t::written([](wire::Writer& w) { w.i32(1); }));
  EXPECT_REJECTED(s, "I8: session 0x701 is created at 0x500000004 and was at 0x500000001");
}

// A leader adds this after the end of a session whose nodes it could not list completely.
std::string sweep(Story& s, const std::vector<std::string>& paths, OpCode op = OpCode::kDelete) {
  return t::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{SessionId{}, 0, next(s.last), 1'700'000'000'000, OpCode::kMulti});
    w.i32(static_cast<std::int32_t>(paths.size()));
    for (const std::string& path : paths) {
      w.i32(static_cast<std::int32_t>(op));
      w.string(t::written([&](wire::Writer& r) { wire::encode(r, wire::DeleteTxn{path}); }));
    }
  });
}

TEST_F(SessionsTest, SweepThatDeletesAnotherNodeIsFound) {
  s.ask(a, OpCode::kCreate, t::create_body("/there"));
  s.commit_next(a.session, 1, OpCode::kCreate, t::create_body("/there"));
  const std::string right = sweep(s, {"/gone", "/gone/too"});
  s.apply(right);
  s.commit(right);
  EXPECT_TRUE(s.oracle.ok());
  const std::string wrong = sweep(s, {"/gone", "/there"});
  s.apply(wrong);
  s.commit(wrong);
  EXPECT_REJECTED(s, "I8: 0x500000005 deletes /there, which is there, for a session that is over");
}

TEST_F(SessionsTest, TransactionTooLargeForFollowersIsFound) {
  std::string entry = sweep(s, {});
  entry.resize(state::Options{}.txn_bytes_max, 'x');
  s.oracle.on_known(entry);
  EXPECT_TRUE(s.oracle.ok());
  s.oracle.on_known(entry + "x");
  EXPECT_REJECTED(s, "I14: 0x500000003 has 2097151 bytes, more than a follower can read: 2097150");
}

TEST_F(SessionsTest, TwoClientsWithOneSessionAreFound) {
  s.oracle.on_session(b.id, a.session, 10'000, kLeader, s.oracle.now());
  EXPECT_REJECTED(s, "I8: session 0x701 belongs to client 0 and to client 1");
}

TEST_F(SessionsTest, ASessionThatExpiresTooEarlyIsFound) {
  s.oracle.set_now({1000 + 9000});
  s.commit_next(a.session, 0, OpCode::kCloseSession, "");
  EXPECT_REJECTED(s, "I8: session 0x701 expired at 0x500000003 after 9000 ms, with a timeout of 10000 ms");
}

TEST_F(SessionsTest, ASessionMayExpireAfterItsTimeoutAndBeClosedAtAnyTime) {
  s.commit_next(b.session, 99, OpCode::kCloseSession, "");
  s.oracle.set_now({1000 + 10'001});
  s.commit_next(a.session, 0, OpCode::kCloseSession, "");
  EXPECT_ACCEPTED(s);
}

TEST_F(SessionsTest, WriteReceivedByTheLeaderExtendsTheSession) {
  s.oracle.set_now({1000 + 8000});
  s.create(a, "/a");
  s.oracle.set_now({1000 + 12'000});
  s.commit_next(a.session, 0, OpCode::kCloseSession, "");
  EXPECT_REJECTED(s, "after 4000 ms");
}

TEST_F(SessionsTest, WriteForwardedByAFollowerMayNotExtendTheSession) {
  Story::Client c = s.join(10'000, kFollower);
  s.oracle.set_now({1000 + 8000});
  s.create(c, "/a");
  s.oracle.set_now({1000 + 12'000});
  s.commit_next(c.session, 0, OpCode::kCloseSession, "");
  EXPECT_ACCEPTED(s);
}

TEST_F(SessionsTest, ANewLeaderGivesEverySessionAFullTimeout) {
  s.oracle.set_now({1000 + 9000});
  s.oracle.on_established(kFollower, kEpoch + 1, s.last);
  s.oracle.set_now({1000 + 12'000});
  s.last = zxid_of(0, kEpoch + 1);
  const std::string entry = s.decide(a.session, 0, OpCode::kCloseSession, "");
  s.oracle.on_state(kFollower, s.machine(), false);
  s.oracle.on_applied(kFollower, s.last, entry, std::nullopt, true);
  EXPECT_REJECTED(s, "I8: session 0x701 expired at 0x600000001 after 3000 ms");
}

TEST_F(SessionsTest, ARestartedStandaloneServerRecoversExpiriesOfItsEarlierLife) {
  s.oracle.set_now({1000 + 12'000});
  const std::string entry = s.decide(a.session, 0, OpCode::kCloseSession, "");
  s.oracle.on_known(entry);
  s.oracle.on_standalone(kLeader, s.last);
  EXPECT_ACCEPTED(s);
}

TEST_F(SessionsTest, ARestartedStandaloneServerGivesEverySessionAFullTimeout) {
  s.oracle.set_now({1000 + 9000});
  s.oracle.on_standalone(kLeader, s.last);
  s.oracle.set_now({1000 + 12'000});
  s.commit_next(a.session, 0, OpCode::kCloseSession, "");
  EXPECT_REJECTED(s, "after 3000 ms");
}

TEST_F(SessionsTest, LiveSessionReportedAsExpiredIsFound) {
  const std::string body = t::set_data_body("/a", "x");
  const std::int32_t xid = s.ask(a, OpCode::kSetData, body);
  const std::string entry = t::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{a.session, xid, next(s.last), 1, OpCode::kError});
    wire::encode(w, wire::ErrorTxn{ErrorCode::kSessionExpired});
  });
  s.apply(entry);
  s.commit(entry);
  EXPECT_REJECTED(s, "I8: 0x500000003 says that session 0x701 is over, and it is not");
}

TEST_F(SessionsTest, ConfirmedCloseMissingFromTheHistoryIsFound) {
  s.oracle.on_closed(a.id);
  EXPECT_REJECTED(s, "I8: a client was told that session 0x701 is closed, and it is not");
}

TEST_F(SessionsTest, LeftoversOfDepartedClientsAreFound) {
  s.create(a, "/e", wire::kEphemeral);
  s.oracle.on_drained(kLeader, s.machine(), {.connections = 1, .watches = 2, .requests = 3});
  EXPECT_REJECTED(s, "I13: server 1 has 2 sessions");
  EXPECT_REJECTED(s, "I13: server 1 has 1 ephemerals");
  EXPECT_REJECTED(s, "I13: server 1 has 1 connections left");
  EXPECT_REJECTED(s, "I13: server 1 has 2 watches left");
  EXPECT_REJECTED(s, "I13: server 1 has 3 requests left");
}

}  // namespace
}  // namespace drover::sim

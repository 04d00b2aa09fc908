// SPDX-License-Identifier: Apache-2.0
//
// Sessions that involve several servers: moved, resumed, and closed from a server that they have left.
#include <gtest/gtest.h>

#include <string>

#include "replica/member_testing.h"
#include "replica/pair_testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;

class MemberSessions : public ::testing::Test {
 protected:
  MemberSessions() : c(3) {
    c.start({1, 2, 3});
    c.settle_down();
    EXPECT_EQ(c.leader(), 3);
  }
  // Proposals from now on stay under way.
  void hold_disks(bool held) {
    for (const std::int64_t id : {1, 2, 3}) c.hold_disk(id, held);
    c.run();
  }
  Cluster c;
};

TEST_F(MemberSessions, SessionClosedThroughItsOldServerCreatesNoMoreEphemerals) {
  Client old = connected(c.node(1));
  Client moved = connected(c.node(2), {.session = old.session()});
  hold_disks(true);
  old.send(OpCode::kCloseSession);
  moved.send(OpCode::kCreate, create_body("/e", {.flags = wire::kEphemeral}));
  hold_disks(false);
  for (const std::int64_t id : {1, 2, 3}) {
    EXPECT_FALSE(c.has(id, "/e")) << id;
    EXPECT_FALSE(c.machine(id).sessions.contains(old.session())) << id;
  }
  EXPECT_TRUE(moved.closed());
}

TEST_F(MemberSessions, WriteThroughTheOldServerOfAMovedSessionIsRefused) {
  Client old = connected(c.node(1));
  Client moved = connected(c.node(2), {.session = old.session()});
  old.send(OpCode::kCreate, create_body("/e", {.flags = wire::kEphemeral}));
  EXPECT_FALSE(c.has(3, "/e"));
  EXPECT_TRUE(old.closed());
  EXPECT_EQ(moved.create("/f"), ErrorCode::kOk);
}

TEST_F(MemberSessions, MultiThroughTheOldServerOfAMovedSessionClosesTheConnection) {
  Client old = connected(c.node(1));
  Client moved = connected(c.node(2), {.session = old.session()});
  old.send(OpCode::kMulti, wire::testing::written([](wire::Writer& w) {
             wire::encode(w, wire::MultiHeader{OpCode::kCreate, false, -1});
             w.raw(create_body("/a", {}));
             wire::encode(w, wire::kMultiEnd);
           }));
  EXPECT_FALSE(c.has(3, "/a"));
  EXPECT_TRUE(old.closed());
  EXPECT_TRUE(old.take().empty()) << "without a word";
}

TEST_F(MemberSessions, ResumedSessionHasTheNewTimeout) {
  Client first = connected(c.node(1), {.timeout_ms = 6000});
  connected(c.node(2), {.timeout_ms = 30'000, .session = first.session()});
  c.pass(29'000);
  EXPECT_TRUE(c.machine(3).sessions.contains(first.session()));
  c.pass(2000);
  EXPECT_FALSE(c.machine(3).sessions.contains(first.session()));
}

TEST_F(MemberSessions, SessionResumedWithAShorterTimeoutExpiresSooner) {
  Client first = connected(c.node(1), {.timeout_ms = 30'000});
  connected(c.node(2), {.timeout_ms = 6000, .session = first.session()});
  c.pass(5000);
  EXPECT_TRUE(c.machine(3).sessions.contains(first.session()));
  c.pass(2000);
  EXPECT_FALSE(c.machine(3).sessions.contains(first.session()));
}

TEST_F(MemberSessions, PingsOfTheOldServerDoNotShortenTheTimeoutOfAMovedSession) {
  Client first = connected(c.node(1), {.timeout_ms = 6000});
  Client resumed = connected(c.node(2), {.timeout_ms = 30'000, .session = first.session()});
  first.send(OpCode::kPing);  // goes to the leader with the next ping of server 1
  c.pass(20'000);
  EXPECT_TRUE(c.machine(3).sessions.contains(first.session()));
}

TEST_F(MemberSessions, OldConnectionOfAMovedSessionIsClosedAfterTheTimeout) {
  Client old = connected(c.node(1), {.timeout_ms = 6000});
  Client moved = connected(c.node(2), {.timeout_ms = 6000, .session = old.session()});
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(old.closed());
    moved.send(OpCode::kPing);
    c.pass(1000);
  }
  for (int i = 0; i < 2; ++i) {
    moved.send(OpCode::kPing);
    c.pass(1000);
  }
  EXPECT_TRUE(old.closed());
  EXPECT_FALSE(moved.closed());
  EXPECT_TRUE(c.machine(3).sessions.contains(old.session()));
}

// A client of a pair's learner.
Client connected_to_learner(Pair& p) {
  Client client(p.learner);
  client.send_hello({});
  p.settle();
  client.take_hello();
  return client;
}

TEST(SilentConnections, UnreadInputKeepsAConnectionAliveWhileTheProcessIsPaused) {
  Harness h;
  Client c = connected(h, {.timeout_ms = 6000});
  const Instant read_until = h.now + 5000;  // and then nothing is read for long
  h.now = h.now + 20'000;
  h.front().on_tick(read_until);
  EXPECT_FALSE(c.closed());
}

TEST(LearnersSessions, CreationRateIsLimitedAsOnTheLeader) {
  ReplicaConfig config;
  config.session_rate.per_second = 2;
  Pair p(config);
  Client a = connected_to_learner(p);
  Client b = connected_to_learner(p);
  EXPECT_FALSE(b.closed());
  Client too_many = connected_to_learner(p);
  EXPECT_TRUE(too_many.closed());
  EXPECT_EQ(p.learner.replica->stats().sessions_throttled, 1u);
  p.advance(1000);
  Client later = connected_to_learner(p);
  EXPECT_FALSE(later.closed());
  EXPECT_NE(raw(later.session()), 0);
}

TEST(LeaderSessions, EndedSessionIsNotCreatedAgain) {
  // A Java follower may ask twice to make one local session global.
  Pair p;
  Client c = connected_to_learner(p);
  Effects effects;
  const auto nobody = std::make_shared<const state::Identities>();
  const auto say = [&](std::int32_t xid, OpCode op, std::string_view body) {
    p.leader.replica->on_forwarded(kLink, {c.session(), xid, op, std::string(body)}, nobody, p.leader.now,
                                   p.leader.wall, effects);
  };
  say(1, OpCode::kCloseSession, "");
  say(0, OpCode::kCreateSession, std::string_view("\0\0\x17\x70", 4));
  say(2, OpCode::kCreate, create_body("/e", {.flags = wire::kEphemeral}));
  p.leader.carry_out(effects);
  p.settle();
  EXPECT_FALSE(p.leader.machine.sessions.contains(c.session()));
  EXPECT_EQ(p.leader.machine.tree.get("/e"), nullptr);
}

}  // namespace
}  // namespace drover::replica

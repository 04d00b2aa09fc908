// SPDX-License-Identifier: Apache-2.0
//
// Local sessions, and how they become global (docs/client-protocol.md, "Sessions").
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replica/pair_testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;

ReplicaConfig local(bool upgrade) {
  ReplicaConfig config;
  config.local_sessions = true;
  config.local_sessions_upgrade = upgrade;
  return config;
}

std::string ephemeral(std::string_view path) { return create_body(path, {.flags = wire::kEphemeral}); }

std::string multi_with_ephemeral(std::string_view path) {
  return wire::testing::written([&](wire::Writer& w) {
    w.i32(static_cast<std::int32_t>(OpCode::kCreate));
    w.boolean(false);
    w.i32(-1);
    w.raw(ephemeral(path));
    w.i32(-1);
    w.boolean(true);
    w.i32(-1);
  });
}

// A client of the pair: its requests are answered when both servers have run.
struct PairClient {
  PairClient(Pair& p, Harness& at, const Hello& hello = {}) : pair(p), client(at) {
    client.send_hello(hello);
    pair.settle();
    response = client.take_hello();
  }
  Reply ask(OpCode op, std::string_view body = {}) {
    client.send(op, body);
    pair.settle();
    const auto replies = client.take();
    EXPECT_EQ(replies.size(), 1u);
    return replies.empty() ? Reply{} : replies.front();
  }
  ErrorCode error(OpCode op, std::string_view body = {}) { return ask(op, body).header.error; }
  bool refused() const { return !response || wire::decode_connect_response(*response)->timeout_ms == 0; }

  Pair& pair;
  Client client;
  std::optional<std::string> response;
};

std::size_t txns(const Pair& p) { return p.leader.log.size(); }

TEST(LocalSessions, AreCreatedUsedAndClosedWithoutSessionTransactions) {
  Pair p(local(false));
  for (Harness* at : {&p.leader, &p.learner}) {
    const std::size_t before = txns(p);
    PairClient c(p, *at);
    EXPECT_FALSE(c.refused());
    EXPECT_EQ(at->replica->local_session_count(), 1u);
    EXPECT_EQ(txns(p), before);
    EXPECT_EQ(c.error(OpCode::kCreate, create_body(at == &p.leader ? "/a" : "/b", {})), ErrorCode::kOk);
    EXPECT_EQ(txns(p), before + 1) << "the node, nothing else";
    EXPECT_EQ(c.error(OpCode::kCloseSession), ErrorCode::kOk);
    EXPECT_TRUE(c.client.closed());
    EXPECT_EQ(txns(p), before + 1);
    EXPECT_EQ(at->replica->local_session_count(), 0u);
  }
  EXPECT_TRUE(p.leader.machine.sessions.empty());
}

TEST(LocalSessions, EndAfterTheirEarlierRequests) {
  Pair p(local(false));
  PairClient c(p, p.learner);
  p.link_holds = false;
  c.client.send(OpCode::kCreate, create_body("/a", {}));
  c.client.send(OpCode::kCloseSession);
  p.settle();
  EXPECT_TRUE(c.client.take().empty()) << "the close must not overtake the create";
  p.link_holds = true;
  p.settle();
  EXPECT_EQ(story(c.client.take()), (Story{"1 Ok", "2 Ok"}));
}

TEST(LocalSessions, AreUnknownToOtherServers) {
  Pair p(local(true));
  PairClient at_learner(p, p.learner);
  PairClient at_leader(p, p.leader);
  EXPECT_TRUE(PairClient(p, p.leader, {.session = at_learner.client.session()}).refused());
  EXPECT_TRUE(PairClient(p, p.learner, {.session = at_leader.client.session()}).refused());
  EXPECT_FALSE(PairClient(p, p.learner, {.session = at_learner.client.session()}).refused());
  EXPECT_FALSE(PairClient(p, p.leader, {.session = at_leader.client.session()}).refused());
}

TEST(LocalSessions, ExpireLocallyWithoutTheLeader) {
  Pair p(local(true));
  for (Harness* at : {&p.leader, &p.learner}) {
    const std::size_t before = txns(p);
    PairClient c(p, *at);
    p.advance(14'000);
    EXPECT_TRUE(c.client.closed());
    EXPECT_EQ(at->replica->local_session_count(), 0u);
    EXPECT_EQ(txns(p), before);
    EXPECT_TRUE(PairClient(p, *at, {.session = c.client.session()}).refused());
  }
}

TEST(LocalSessions, ThatHaveExpiredAreIgnoredEvenIfStillConnected) {
  Pair p(local(true));
  PairClient c(p, p.learner);
  p.learner.advance(14'000);
  ToReplica late;
  late.writes.push_back({c.client.conn(), c.client.session(), 1, OpCode::kDelete, 0, 0, nullptr});
  Effects effects;
  p.learner.replica->on_front(FrontId{0}, late, p.learner.now, p.learner.wall, effects);
  EXPECT_TRUE(effects.to_leader.empty()) << "the leader would believe it";
  ASSERT_EQ(effects.answers.size(), 1u);
  EXPECT_EQ(effects.answers[0].kind, SessionAnswer::Kind::kDropped);
}

TEST(LocalSessions, ThatPingStayAlive) {
  Pair p(local(true));
  PairClient c(p, p.learner);
  for (int i = 0; i < 10; ++i) {
    p.advance(4000);
    EXPECT_EQ(c.error(OpCode::kPing), ErrorCode::kOk);
  }
  std::string touched;
  p.learner.replica->take_touched(touched, 1000);
  EXPECT_TRUE(touched.empty()) << "a local session is not reported to the leader";
}

TEST(LocalSessions, MayNotOwnEphemeralNodesUnlessTheyCanBecomeGlobal) {
  Pair p(local(false));
  for (Harness* at : {&p.leader, &p.learner}) {
    PairClient c(p, *at);
    const Zxid before = at->machine.last_zxid;
    const Reply reply = c.ask(OpCode::kCreate, ephemeral("/e"));
    EXPECT_EQ(reply.header.error, ErrorCode::kEphemeralOnLocalSession);
    EXPECT_GT(reply.header.zxid, before) << "it takes its zxid like every write that fails";
    EXPECT_EQ(at->machine.tree.get("/e"), nullptr);
    EXPECT_EQ(c.error(OpCode::kCreate, create_body(at == &p.leader ? "/a" : "/b", {})), ErrorCode::kOk);
  }
}

TEST(LocalSessions, BecomeGlobalForTheirFirstEphemeralNode) {
  Pair p(local(true));
  for (const bool in_multi : {false, true}) {
    for (Harness* at : {&p.leader, &p.learner}) {
      PairClient c(p, *at);
      const std::size_t before = txns(p);
      const std::string path = std::string(at == &p.leader ? "/l" : "/f") + (in_multi ? "m" : "");
      const auto op = in_multi ? OpCode::kMulti : OpCode::kCreate2;
      EXPECT_EQ(c.error(op, in_multi ? multi_with_ephemeral(path) : ephemeral(path)), ErrorCode::kOk);
      EXPECT_GT(txns(p), before);
      EXPECT_TRUE(p.leader.machine.sessions.contains(c.client.session()));
      EXPECT_TRUE(p.learner.machine.sessions.contains(c.client.session()));
      EXPECT_EQ(at->replica->local_session_count(), 0u);
      EXPECT_NE(p.learner.machine.tree.get(path), nullptr);
      EXPECT_EQ(c.error(OpCode::kCloseSession), ErrorCode::kOk);
      EXPECT_EQ(p.learner.machine.tree.get(path), nullptr) << "its end is a transaction now";
      EXPECT_FALSE(p.leader.machine.sessions.contains(c.client.session()));
    }
  }
}

TEST(LocalSessions, ThatBecameGlobalAreExpiredByTheLeader) {
  Pair p(local(true));
  PairClient c(p, p.learner);
  EXPECT_EQ(c.error(OpCode::kCreate, ephemeral("/e")), ErrorCode::kOk);
  p.learner.advance(8000);
  EXPECT_EQ(c.error(OpCode::kPing), ErrorCode::kOk);
  p.learner.advance(8000);
  EXPECT_EQ(c.error(OpCode::kCreate, create_body("/still-here", {})), ErrorCode::kOk);
  p.leader.advance(14'000);
  p.settle();
  EXPECT_EQ(p.learner.machine.tree.get("/e"), nullptr);
  EXPECT_TRUE(c.client.closed());
}

TEST(LocalSessions, ThatAreBecomingGlobalMayReconnect) {
  Pair p(local(true));
  PairClient c(p, p.learner);
  p.link_holds = false;
  c.client.send(OpCode::kCreate, ephemeral("/e"));
  c.client.vanish();
  Client again(p.learner);
  again.send_hello({.session = c.client.session()});
  p.link_holds = true;
  p.settle();
  const auto response = again.take_hello();
  ASSERT_TRUE(response);
  EXPECT_EQ(wire::decode_connect_response(*response)->session, c.client.session());
  EXPECT_NE(p.leader.machine.tree.get("/e"), nullptr);
}

TEST(LocalSessions, OfALearnerMayWriteThroughTheLeaderButOwnNoEphemerals) {
  Pair p(local(true));
  Effects effects;
  const SessionId unknown{0x0300'0000'0000'0001};
  const auto who = std::make_shared<const state::Identities>();
  p.leader.replica->on_forwarded(kLink, {unknown, 1, OpCode::kCreate, create_body("/a", {})}, who,
                                 p.leader.now, p.leader.wall, effects);
  p.leader.replica->on_forwarded(kLink, {unknown, 2, OpCode::kCreate, ephemeral("/e")}, who, p.leader.now,
                                 p.leader.wall, effects);
  p.leader.replica->on_forwarded(kLink, {unknown, 3, OpCode::kCloseSession, {}}, who, p.leader.now,
                                 p.leader.wall, effects);
  const SessionId ours{raw(kFirstSession) + 99};
  p.leader.replica->on_forwarded(kLink, {ours, 1, OpCode::kCreate, create_body("/b", {})}, who, p.leader.now,
                                 p.leader.wall, effects);
  const PairClient at_leader(p, p.leader);
  p.leader.replica->on_forwarded(kLink,
                                 {at_leader.client.session(), 1, OpCode::kCreate, create_body("/c", {})}, who,
                                 p.leader.now, p.leader.wall, effects);
  p.leader.carry_out(effects);
  p.settle();
  EXPECT_EQ(p.leader.machine.tree.get("/c"), nullptr)
      << "a local session of the leader's is not the learner's";
  EXPECT_NE(p.leader.machine.tree.get("/a"), nullptr);
  EXPECT_EQ(p.leader.machine.tree.get("/e"), nullptr);
  EXPECT_EQ(p.leader.machine.tree.get("/b"), nullptr) << "ours would be known here";
}

TEST(LocalSessions, DoNotReviveAnEndedGlobalSession) {
  Pair p(local(true));
  PairClient c(p, p.learner);
  EXPECT_EQ(c.error(OpCode::kCreate, ephemeral("/lock")), ErrorCode::kOk);
  // It expires at the leader while one of its writes is on the way.
  p.link_holds = false;
  c.client.send(OpCode::kCreate, create_body("/a", {}));
  p.leader.advance(14'000);
  p.link_holds = true;
  p.settle();
  EXPECT_EQ(p.leader.machine.tree.get("/lock"), nullptr);
  EXPECT_EQ(p.leader.machine.tree.get("/a"), nullptr) << "somebody else may hold the lock by now";
}

TEST(LocalSessions, AreOffByDefault) {
  Pair p;
  PairClient c(p, p.learner);
  EXPECT_EQ(p.learner.replica->local_session_count(), 0u);
  EXPECT_TRUE(p.leader.machine.sessions.contains(c.client.session()));
  Effects effects;
  p.leader.replica->on_forwarded(
      kLink, {SessionId{0x0300'0000'0000'0001}, 1, OpCode::kCreate, create_body("/a", {})},
      std::make_shared<const state::Identities>(), p.leader.now, p.leader.wall, effects);
  p.leader.carry_out(effects);
  p.settle();
  EXPECT_EQ(p.leader.machine.tree.get("/a"), nullptr);
}

}  // namespace
}  // namespace drover::replica

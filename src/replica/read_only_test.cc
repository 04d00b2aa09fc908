// SPDX-License-Identifier: Apache-2.0
//
// Read-only mode: a server without a leader (docs/client-protocol.md, "sync and read-only servers").
#include <gtest/gtest.h>

#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_watch_body;

constexpr SessionId kGlobal{0x0200'0000'0000'0005};
const Hello kReader{.read_only = true};

HarnessConfig without_leader() {
  HarnessConfig config;
  config.leads = false;
  return config;
}

class ReadOnly : public ::testing::Test {
 protected:
  ReadOnly() : h(without_leader()) { h.replica->begin_read_only(); }
  Harness h;
};

wire::ConnectResponse answer_to(Client& c, const Hello& hello) {
  const auto frame = c.connect(hello);
  EXPECT_TRUE(frame);
  return frame ? *wire::decode_connect_response(*frame) : wire::ConnectResponse{};
}

TEST_F(ReadOnly, ClientsThatAllowItAreServedAndInformed) {
  Client c(h);
  const auto response = answer_to(c, kReader);
  EXPECT_TRUE(response.read_only);
  EXPECT_EQ(response.timeout_ms, 10'000);
  EXPECT_EQ(response.session, kFirstSession);
  EXPECT_EQ(c.error(OpCode::kExists, path_watch_body("/zookeeper")), ErrorCode::kOk);
}

TEST_F(ReadOnly, ClientsThatDoNotAllowItAreDisconnected) {
  Client c(h);
  EXPECT_FALSE(c.connect());
  EXPECT_TRUE(c.closed());
  Client old(h);
  EXPECT_FALSE(old.connect({.read_only_byte = false}));
  EXPECT_TRUE(old.closed());
}

TEST_F(ReadOnly, WritesAreRefusedAndTheConnectionStaysOpen) {
  h.machine.last_zxid = Zxid{0x500000003};
  Client c = connected(h, kReader);
  for (const OpCode op :
       {OpCode::kCreate, OpCode::kCreate2, OpCode::kCreateTtl, OpCode::kCreateContainer, OpCode::kDelete,
        OpCode::kSetData, OpCode::kSetAcl, OpCode::kMulti, OpCode::kReconfig, OpCode::kSync}) {
    const Reply reply = c.ask(op, create_body("/a", {}));
    EXPECT_EQ(reply.header.error, ErrorCode::kNotReadOnly) << static_cast<int>(op);
    EXPECT_EQ(reply.header.zxid, Zxid{0x500000003});
  }
  EXPECT_EQ(c.error(OpCode::kPing), ErrorCode::kOk);
  EXPECT_FALSE(c.closed());
}

TEST_F(ReadOnly, SessionsNeedNoTransactions) {
  Client c = connected(h, kReader);
  EXPECT_TRUE(h.machine.sessions.empty());
  EXPECT_EQ(h.replica->local_session_count(), 1u);
  const Reply reply = c.ask(OpCode::kCloseSession);
  EXPECT_EQ(reply.header.error, ErrorCode::kOk);
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.replica->local_session_count(), 0u);
  EXPECT_TRUE(h.log.empty());
}

TEST_F(ReadOnly, SessionsExpireLocally) {
  Client c = connected(h, kReader);
  h.advance(14'000);
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.replica->local_session_count(), 0u);
  Client again(h);
  EXPECT_EQ(answer_to(again, {.session = c.session(), .read_only = true}).timeout_ms, 0);
}

TEST_F(ReadOnly, AClientThatReconnectsKeepsItsSession) {
  Client c = connected(h, kReader);
  c.vanish();
  Client again(h);
  EXPECT_EQ(answer_to(again, {.session = c.session(), .read_only = true}).session, c.session());
}

TEST_F(ReadOnly, AGlobalSessionIsNotRejectedSoThatItsClientKeepsIt) {
  h.machine.sessions[kGlobal] = 10'000;
  Client known(h);
  EXPECT_FALSE(known.connect({.session = kGlobal, .read_only = true}));
  EXPECT_TRUE(known.closed());
  Client newer_than_our_state(h);
  EXPECT_FALSE(newer_than_our_state.connect({.session = SessionId{raw(kGlobal) + 1}, .read_only = true}));
  EXPECT_TRUE(newer_than_our_state.closed());
}

TEST_F(ReadOnly, AClientThatHasSeenALaterZxidIsDisconnected) {
  Client c(h);
  EXPECT_FALSE(c.connect({.last_zxid_seen = Zxid{0x100000001}, .read_only = true}));
  EXPECT_TRUE(c.closed());
}

TEST_F(ReadOnly, AllAreDisconnectedWhenALeaderIsFoundAndIdsAreNotReused) {
  Client c = connected(h, kReader);
  h.replica->end_service();
  h.settle();
  EXPECT_TRUE(c.closed());
  h.replica->begin_learning(1, h.now);
  Client next(h);
  next.send_hello({});
  ASSERT_EQ(h.to_leader.size(), 1u);
  EXPECT_GT(h.to_leader[0].session, c.session());
}

TEST_F(ReadOnly, LeftoversOfAnEarlierServiceAreIgnored) {
  ToReplica late;
  late.writes.push_back({{9, 9}, kGlobal, 1, OpCode::kCreate, 0, 0, nullptr});
  late.writes.push_back({{9, 9}, kGlobal, 2, OpCode::kCloseSession, 0, 0, nullptr});
  Effects effects;
  h.replica->on_front(FrontId{0}, late, h.now, h.wall, effects);
  EXPECT_TRUE(effects.answers.empty());
  EXPECT_FALSE(h.replica->has_answers());
}

}  // namespace
}  // namespace drover::replica

// SPDX-License-Identifier: Apache-2.0
//
// A learner's clients: which of the leader's transactions answers which request.
#include <gtest/gtest.h>

#include "replica/pair_testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;

// A client of the learner, with its session.
Client learners_client(Pair& p) {
  Client c(p.learner);
  c.send_hello({});
  p.settle();
  EXPECT_TRUE(c.take_hello());
  return c;
}

TEST(Learning, TheEndOfASessionIsNotTheReplyToAWriteWithXidZero) {
  Pair p;
  Client c = learners_client(p);
  p.link_holds = false;
  c.send_frame(Client::request(0, OpCode::kCreate, create_body("/a")));
  p.leader.advance(20'000);  // It does not hear of the session and ends it, with a transaction of xid 0.
  p.link_holds = true;
  p.settle();
  EXPECT_EQ(p.learner.machine.tree.get("/a"), nullptr);
  EXPECT_EQ(story(c.take()), Story{}) << "nobody may be told that the node was made";
  EXPECT_TRUE(c.closed());
}

TEST(Learning, OddXidsAreAnsweredInOrder) {
  Pair p;
  Client c = learners_client(p);
  p.link_holds = false;
  for (const std::int32_t xid : {0, 0, -1, -2, -4, 0}) {
    c.send_frame(Client::request(xid, OpCode::kCreate, create_body("/a")));
  }
  p.link_holds = true;
  p.settle();
  const auto replies = c.take();
  ASSERT_EQ(replies.size(), 6u);
  EXPECT_EQ(replies[0].header.error, ErrorCode::kOk);
  for (std::size_t i = 1; i < replies.size(); ++i) EXPECT_EQ(replies[i].header.error, ErrorCode::kNodeExists);
}

// The leader gives the session back to this server for the new connection. Writes of the old one may be older
// than writes that the client has sent over another server in between.
TEST(Learning, AConnectionDoesNotWriteWhileItsSessionIsRevalidatedForAnother) {
  Pair p;
  Client left = learners_client(p);
  p.link_holds = false;
  Client again(p.learner);
  again.send_hello({.session = left.session()});
  left.send(OpCode::kCreate, create_body("/late"));
  p.link_holds = true;
  p.settle();
  EXPECT_TRUE(left.closed());
  EXPECT_EQ(p.learner.machine.tree.get("/late"), nullptr);
  again.take_hello();
  EXPECT_EQ(again.session(), left.session());
}

TEST(Learning, AnUndecodableRequestGetsAnErrorTransactionBecauseTheLearnerWaits) {
  Pair p;
  Client c = learners_client(p);
  const Zxid before = p.leader.replica->last_proposed();
  c.send(OpCode::kSetData, "junk");
  p.settle();
  EXPECT_EQ(story(c.take()), Story{"1 MarshallingError"});
  EXPECT_EQ(raw(p.leader.replica->last_proposed()), raw(before) + 1);
}

}  // namespace
}  // namespace drover::replica

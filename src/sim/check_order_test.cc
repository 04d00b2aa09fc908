// SPDX-License-Identifier: Apache-2.0
//
// Histories of servers that are impossible (I1-I4), and some that look odd but are possible.
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

struct OrderTest : ::testing::Test {
  Story s;
  Story::Client c = s.join();  // 5.1

  std::string next_set() {
    const std::string body = t::set_data_body("/a", "x");
    return s.decide(c.session, s.ask(c, OpCode::kSetData, body), OpCode::kSetData, body);
  }
};

TEST_F(OrderTest, EqualHistoriesAreAccepted) {
  const std::string one = next_set();
  const std::uint64_t digest = s.machine().tree.digest();
  s.oracle.on_state(kFollower, s.machine(), false);
  const std::string two = next_set();
  s.oracle.on_applied(kLeader, zxid_of(2), one, digest, true);
  s.commit(two);
  s.commit(two, kFollower);
  EXPECT_ACCEPTED(s);
  EXPECT_EQ(s.oracle.last_committed(), zxid_of(3));
}

TEST_F(OrderTest, TwoTransactionsWithOneZxidAreFound) {
  s.commit(next_set());
  std::string other = s.decide(c.session, 77, OpCode::kDelete, t::path_version_body("/b"));
  wire::store_be(other.data() + 12, raw(zxid_of(2)));
  s.oracle.on_applied(kFollower, zxid_of(2), other, std::nullopt, true);
  EXPECT_REJECTED(s, "I2: two different transactions are 0x500000002");
}

TEST_F(OrderTest, ACommitOutOfOrderIsFound) {
  const std::string one = next_set();
  const std::string two = next_set();
  s.oracle.on_known(one);
  s.oracle.on_known(two);
  s.oracle.on_applied(kLeader, zxid_of(3), two, std::nullopt, true);
  s.oracle.on_applied(kLeader, zxid_of(2), one, std::nullopt, true);
  EXPECT_REJECTED(s, "I2: server 1 applied 0x500000003 after 0x500000001 instead of 0x500000002");
}

TEST_F(OrderTest, LeaderThatTakesOverItsOwnEpochIsFound) {
  constexpr Zxid kFirst{0x7'0000'0001};
  constexpr Zxid kSecond{0x7'0000'0002};
  for (const Zxid zxid : {kFirst, kSecond}) {
    std::string entry = next_set();
    wire::store_be(entry.data() + 12, raw(zxid));
    s.oracle.on_known(entry);
  }
  s.oracle.on_established(kFollower, 7, kSecond);
  EXPECT_REJECTED(s, "I1: server 2 leads epoch 7 with 0x700000002 of no earlier one");
}

TEST_F(OrderTest, AHoleInAServersHistoryIsFound) {
  s.oracle.on_state(kFollower, s.machine(), true);
  s.commit(next_set());
  const std::string two = next_set();
  s.commit(two);
  s.commit(two, kFollower);
  EXPECT_REJECTED(s, "I2: server 2 applied 0x500000003 after 0x500000001");
}

TEST_F(OrderTest, ATransactionAppliedTwiceIsFound) {
  const std::string one = next_set();
  s.commit(one);
  s.commit(one);
  EXPECT_REJECTED(s, "I2: server 1 applied 0x500000002 after 0x500000002");
}

TEST_F(OrderTest, TransactionThatWasNeverProposedIsFound) {
  next_set();
  s.oracle.on_applied(kLeader, zxid_of(3), next_set(), std::nullopt, true);
  EXPECT_REJECTED(s, "nobody was seen to propose 0x500000002");
}

TEST_F(OrderTest, TwoLeadersInOneEpochAreFound) {
  s.oracle.on_established(kFollower, kEpoch, zxid_of(1));
  EXPECT_REJECTED(s, "I1: epoch 5 has leaders 1 and 2");
}

TEST_F(OrderTest, DecreasingEpochOfAServerIsFound) {
  s.oracle.on_established(kFollower, kEpoch + 2, zxid_of(1));
  s.oracle.on_established(kFollower, kEpoch + 1, zxid_of(1));
  EXPECT_REJECTED(s, "I1: server 2 leads epoch 6 after epoch 7");
}

TEST_F(OrderTest, ALeaderTakesOverAnEarlierEpochsHistory) {
  s.oracle.on_established(kFollower, kEpoch + 1, zxid_of(1, kEpoch + 1));
  EXPECT_REJECTED(s, "I1: server 2 leads epoch 6 with 0x600000001 of no earlier one");
}

TEST_F(OrderTest, ALeaderWithoutACommittedWriteIsFound) {
  s.commit(next_set());
  s.oracle.on_established(kFollower, kEpoch + 1, zxid_of(1));
  EXPECT_REJECTED(
      s, "I3: server 2 leads epoch 6 with a history up to 0x500000001, but 0x500000002 is committed");
}

TEST_F(OrderTest, LateCommitOfAFormerLeaderIsAccepted) {
  s.commit(next_set());
  s.oracle.on_established(kFollower, kEpoch + 3, zxid_of(2));
  s.oracle.on_established(ServerId{3}, kEpoch + 2, zxid_of(1));
  EXPECT_ACCEPTED(s);
}

TEST_F(OrderTest, AHistoryThatForksFromACommittedWriteIsFound) {
  // The new leader claims to know the write, and continues without it.
  s.oracle.on_established(kFollower, kEpoch + 1, zxid_of(1));
  s.commit(next_set());
  s.last = zxid_of(0, kEpoch + 1);
  const std::string fork = next_set();
  s.oracle.on_state(kFollower, s.machine(), false);
  s.oracle.on_applied(kFollower, zxid_of(1, kEpoch + 1), fork, std::nullopt, true);
  EXPECT_REJECTED(s, "on top of 0x500000001, but 0x500000002 is committed");
}

TEST_F(OrderTest, UncommittedWriteMayVanish) {
  const std::string tail = next_set();
  s.oracle.on_applied(kFollower, zxid_of(2), tail, std::nullopt, /*serving=*/false);
  s.oracle.on_established(ServerId{3}, kEpoch + 1, zxid_of(1));
  Story other;  // a history without it
  Story::Client d = other.join();
  other.last = zxid_of(0, kEpoch + 1);
  const std::string body = t::set_data_body("/a", "x");
  const std::string next = other.decide(d.session, s.ask(c, OpCode::kSetData, body), OpCode::kSetData, body);
  s.oracle.on_applied(ServerId{3}, zxid_of(1, kEpoch + 1), next, std::nullopt, true);
  EXPECT_ACCEPTED(s);
  EXPECT_EQ(s.oracle.last_committed(), zxid_of(1, kEpoch + 1));
}

TEST_F(OrderTest, ATailThatTheNextLeaderTakesOverIsCommittedWithItsFirstWrite) {
  s.oracle.on_known(next_set());
  s.oracle.on_established(kFollower, kEpoch + 1, zxid_of(2));
  s.last = zxid_of(0, kEpoch + 1);
  const std::string first = next_set();
  s.oracle.on_applied(kFollower, zxid_of(1, kEpoch + 1), first, s.machine().tree.digest(), true);
  EXPECT_ACCEPTED(s);
  EXPECT_EQ(s.oracle.last_committed(), zxid_of(1, kEpoch + 1));
}

TEST_F(OrderTest, ADifferentTreeAtTheSameZxidIsFound) {
  const std::string one = next_set();
  s.commit(one);
  s.oracle.on_applied(kFollower, zxid_of(2), one, s.machine().tree.digest() + 1, true);
  EXPECT_REJECTED(s, "I4: server 2 has another tree than the model at 0x500000002");
}

TEST_F(OrderTest, ADifferentTreeIsFoundEvenIfItWasSeenBeforeTheCommit) {
  const std::string one = next_set();
  s.oracle.on_applied(kFollower, zxid_of(2), one, s.machine().tree.digest() + 1, /*serving=*/false);
  s.commit(one);
  EXPECT_REJECTED(s, "I4: server 2 has another tree");
}

TEST_F(OrderTest, ALoadedStateIsComparedUnlessItIsFuzzy) {
  state::Machine other{state::Options{}};
  other.last_zxid = zxid_of(1);
  s.oracle.on_state(kFollower, other, /*exact=*/false);
  EXPECT_ACCEPTED(s);
  s.oracle.on_state(kFollower, other, /*exact=*/true);
  EXPECT_REJECTED(s, "I4: server 2 has other sessions than the model at 0x500000001");
}

TEST_F(OrderTest, ServerThatEndsBehindIsFound) {
  s.commit(next_set());
  state::Machine behind{state::Options{}};
  behind.last_zxid = zxid_of(1);
  s.oracle.on_settled(kFollower, behind);
  EXPECT_REJECTED(s, "I3: server 2 ended at 0x500000001, but 0x500000002 is committed");
}

TEST_F(OrderTest, UncommittedTransactionSeenByAClientIsFound) {
  // No serving server reported it as applied; but the client was told.
  const std::string one = next_set();
  s.oracle.on_known(one);
  s.tell(c, s.reply_of_last(OpCode::kSetData, 1));
  EXPECT_EQ(s.oracle.last_committed(), zxid_of(2));
  s.oracle.on_established(kFollower, kEpoch + 1, zxid_of(1));
  EXPECT_REJECTED(s, "I3: server 2 leads epoch 6");
}

TEST_F(OrderTest, SeenZxidWithoutATransactionIsFound) {
  auto reply = s.read(c, OpCode::kSync, t::path_body("/"));
  reply.header.zxid = zxid_of(9);
  s.tell(c, reply);
  EXPECT_REJECTED(s, "I3: client 0 has seen 0x500000009, which is no transaction");
}

}  // namespace
}  // namespace drover::sim

// SPDX-License-Identifier: Apache-2.0
//
// The first start of an ensemble: when do servers without data count? And what happens to servers that have
// data if the others began without it?
#include <gtest/gtest.h>

#include "zab/election_testing.h"
#include "zab/ensemble_testing.h"
#include "zab/leader_testing.h"

namespace drover::zab {
namespace {

using testing::Disk;
using testing::Ensemble;
using testing::Leading;
using testing::zx;

Ensemble empty_servers(std::int64_t servers, std::int64_t observers = 0) {
  Ensemble e(servers, observers);
  for (std::int64_t id = 1; id <= servers + observers; ++id) e.disk(id) = {.wiped = true};
  return e;
}

Disk holds(std::uint64_t history_id, std::uint32_t epoch, std::uint32_t counter) {
  return {.accepted = epoch, .current = epoch, .snapshot = zx(epoch, counter), .history_id = history_id};
}

// --- which servers count ---

TEST(NewHistory, BeginsWithAQuorumOfEmptyServers) {
  Ensemble e = empty_servers(3);
  e.start({1, 2});
  e.pass(900);
  EXPECT_EQ(e.leader(), 2) << "before initLimit, which is 1000 ms";
  ASSERT_EQ(e.warnings().size(), 1u);
  EXPECT_TRUE(e.warnings()[0].starts_with("A NEW HISTORY BEGINS: servers 2, 1 hold no data"))
      << e.warnings()[0];
}

TEST(NewHistory, DoesNotBeginWithFewerThanAQuorum) {
  Ensemble e = empty_servers(5);
  e.start({1, 2});
  e.pass(5000);
  EXPECT_EQ(e.leader(), 0);
  EXPECT_TRUE(e.warnings().empty());
}

TEST(NewHistory, ServersThatStartLaterJoinIt) {
  Ensemble e = empty_servers(5, 1);
  e.start({2, 3, 5});
  e.pass(500);
  ASSERT_EQ(e.leader(), 5);
  e.propose(5, 1);
  e.run();
  e.start({1, 4, 6});
  e.pass(900);
  for (const std::int64_t id : {1, 2, 3, 4, 5, 6}) {
    EXPECT_TRUE(e.peer(id).active()) << id;
    EXPECT_EQ(e.disk(id).last(), zx(1, 1)) << id;
    EXPECT_EQ(e.disk(id).history_id, 1005u) << id;
  }
  EXPECT_EQ(e.warnings().size(), 1u);
}

TEST(NewHistory, BeginsAfterAnAttemptThatWasInterruptedByACrash) {
  // 2 has begun an epoch, which is only on its own disk. 1 has promised it, and crashes too, or not.
  for (const bool both : {false, true}) {
    Ensemble e = empty_servers(3);
    e.start({1, 2});
    e.hold_disk(1);
    for (int i = 0; i < 10 && e.disk(2).current == 0; ++i) {
      e.work_disk(1, 1);
      e.pass(30);
    }
    ASSERT_EQ(e.disk(2).current, 1U);
    ASSERT_EQ(e.disk(1).current, 0U);
    e.crash(2);
    if (both) e.crash(1);
    e.release_disk(1);
    e.run();
    e.start(both ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{2});
    e.pass(900);
    EXPECT_EQ(e.leader(), 2) << both;
    EXPECT_EQ(e.disk(1).history_id, 1002U);
  }
}

TEST(NewHistory, IsAHistoryEvenBeforeAnythingIsLogged) {
  // 3 has what was agreed on, in an epoch that 1 has missed and 2 has lost. 1 alone holds an earlier epoch.
  Ensemble e(3);
  e.disk(1) = {.accepted = 1, .current = 1, .history_id = 7};
  e.disk(2) = {.wiped = true};
  e.disk(3) = holds(7, 2, 1);
  e.start({1, 2});
  e.pass(5000);
  EXPECT_EQ(e.leader(), 0);
  e.start({3});
  e.pass(900);
  EXPECT_EQ(e.leader(), 3);
  for (const std::int64_t id : {1, 2, 3}) EXPECT_EQ(e.disk(id).last(), zx(2, 1)) << id;
}

TEST(NewHistory, DoesNotBeginWhileAVoterThatHasOneAnswers) {
  // Two of three were wiped. Together they are a quorum, but the third has what was agreed on.
  for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{7}}) {
    Ensemble e = empty_servers(3);
    e.disk(1) = holds(id, 4, 3);
    e.start({1, 2, 3});
    e.pass(10'000);
    EXPECT_EQ(e.leader(), 0);
    EXPECT_TRUE(e.warnings().empty());
    // Not even when it goes away: that it was there is remembered.
    e.crash(1);
    e.pass(10'000);
    EXPECT_EQ(e.leader(), 0);
    EXPECT_TRUE(e.warnings().empty());
  }
}

TEST(NewHistory, BeginsDespiteAFalseClaimOfOne) {
  // An intruder on the election port could do this in the name of every server.
  Ensemble e = empty_servers(3);
  wire::Notification lie;
  lie.state = wire::PeerState::kLooking;
  lie.zxid = zx(4, 3);
  lie.round = 1;
  lie.peer_epoch = 4;
  e.start({1, 2, 3});
  for (const std::int64_t from : {1, 2, 3}) {
    lie.leader = ServerId{from};
    for (const std::int64_t to : {1, 2, 3}) {
      if (from != to) e.forge(from, to, lie);
    }
  }
  e.pass(5000);
  EXPECT_NE(e.leader(), 0);
  EXPECT_EQ(e.warnings().size(), 1u);
}

TEST(NewHistory, AnEmptyServerDoesNotOutvoteAHistory) {
  // 3 has what was agreed on; 1 has missed it and 2 has lost it.
  Ensemble e(3);
  e.disk(1) = holds(7, 4, 1);
  e.disk(2) = {.wiped = true};
  e.disk(3) = holds(7, 4, 3);
  e.start({1, 2});
  e.pass(5000);
  EXPECT_EQ(e.leader(), 0);
  e.start({3});
  e.pass(900);
  EXPECT_EQ(e.leader(), 3);
  EXPECT_EQ(e.disk(2).last(), zx(4, 3));
  EXPECT_EQ(e.disk(2).history_id, 7u);
}

TEST(NewHistory, AnEmptyLeaderStepsDownForALearnerThatHasOne) {
  // This server never spoke on the election port: its first contact is on the quorum port.
  for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{7}}) {
    Leading l({.log = zab::History(), .current_epoch = 0, .accepted_epoch = 0, .new_history_id = 9});
    l.connect(2).say(2, wire::PacketType::kFollowerInfo, zx(0, 0),
                     wire::encode(wire::LearnerInfo{.server = ServerId{2}, .history = id}));
    if (id == 0) l.promise(2, zx(4, 3), 4);
    EXPECT_EQ(l.leader.why_over(), "server 2 has a history, but this server has none");
  }
}

// --- two histories ---

TEST(TwoHistories, AServerWithADifferentHistoryStopsAndKeepsIt) {
  // Its epochs and zxids may look older, newer, or like a part of the leader's.
  for (const Disk& other : {holds(7, 1, 1), holds(7, 1, 9), holds(7, 5, 3)}) {
    Ensemble e = empty_servers(3);
    e.disk(3) = other;
    e.start({1, 2});
    e.pass(500);
    ASSERT_EQ(e.leader(), 2);
    for (std::uint32_t i = 1; i <= 3; ++i) e.propose(2, i);
    e.run();
    e.start({3});
    e.pass(900);
    EXPECT_FALSE(e.is_up(3));
    EXPECT_TRUE(e.why_halted(3).starts_with("server 2 leads a history that is not the one on this disk"))
        << e.why_halted(3);
    EXPECT_EQ(e.disk(3).last(), other.last());
    EXPECT_EQ(e.disk(3).history_id, 7u);
    EXPECT_EQ(e.leader(), 2) << "and the others serve on";
  }
}

TEST(TwoHistories, NoServerFollowsALeaderWithADifferentHistory) {
  // All start at once. The server with the other history has the latest epoch, so it is elected.
  Ensemble e(3);
  e.disk(1) = holds(8, 2, 4);
  e.disk(2) = holds(8, 2, 4);
  e.disk(3) = holds(7, 5, 3);
  e.start({1, 2, 3});
  e.pass(3000);
  for (const std::int64_t id : {1, 2}) {
    EXPECT_EQ(e.disk(id).last(), zx(2, 4)) << id;
    EXPECT_FALSE(e.why_halted(id).empty()) << id;
  }
  EXPECT_EQ(e.leader(), 0);
}

TEST(TwoHistories, AnIdWithoutTransactionsIsIgnored) {
  Ensemble e = empty_servers(3);
  e.disk(3) = {.accepted = 1, .current = 1, .history_id = 7};
  e.start({1, 2});
  e.pass(500);
  ASSERT_EQ(e.leader(), 2);
  e.propose(2, 1);
  e.run();
  e.start({3});
  e.pass(900);
  EXPECT_TRUE(e.peer(3).active());
  EXPECT_EQ(e.disk(3).history_id, 1002u);
}

TEST(TwoHistories, AHistoryWithoutAnIdTakesItsLeaders) {
  // Java's servers write no id. Nothing says that it is another history.
  Ensemble e(3);
  e.disk(1) = holds(0, 4, 3);
  e.disk(2) = holds(8, 4, 3);
  e.disk(3) = holds(8, 4, 3);
  e.start({1, 2, 3});
  e.pass(900);
  EXPECT_TRUE(e.peer(1).active());
  EXPECT_EQ(e.disk(1).history_id, 8u);
}

// --- voters that start while others elect ---

TEST(Joining, AVoterForAnotherCandidateCompletesTheQuorumOfALeader) {
  // 4 started when 2 and 3 had decided for 3, and 1 had not.
  testing::Server s(1, testing::voters(5));
  s.look({.epoch = 0}).hear(4, {.leader = 4, .epoch = 0});
  s.hear(2, {.state = wire::PeerState::kFollowing, .leader = 3, .epoch = 0});
  EXPECT_EQ(s.leader(), 0) << "3 has not said so itself";
  s.hear(3, {.state = wire::PeerState::kLeading, .leader = 3, .epoch = 0});
  EXPECT_EQ(s.leader(), 3);
}

TEST(Joining, AVoterWithMoreHistoryDoesNotCompleteTheQuorumOfALeader) {
  testing::Server s(1, testing::voters(5));
  s.look({.epoch = 1, .zxid = 5}).hear(2, {.state = wire::PeerState::kFollowing, .leader = 3, .epoch = 0});
  s.hear(3, {.state = wire::PeerState::kLeading, .leader = 3, .epoch = 0});
  EXPECT_EQ(s.leader(), 0) << "the leader would refuse it";
}

}  // namespace
}  // namespace drover::zab

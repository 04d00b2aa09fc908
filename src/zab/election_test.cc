// SPDX-License-Identifier: Apache-2.0
//
// One server that elects with others: candidates, rounds, decisions. election_joining_test.cc tests joining a
// leader that already exists; election_agreement_test.cc tests that several servers agree.
#include "zab/election.h"

#include <gtest/gtest.h>

#include <limits>

#include "zab/election_testing.h"

namespace drover::zab {
namespace {

using testing::kNone;
using testing::Server;
using testing::vote_of;
using testing::voters;
using wire::PeerState;

constexpr auto kLooking = PeerState::kLooking;
constexpr auto kFollowing = PeerState::kFollowing;

// --- candidates ---

TEST(Candidates, EachServerFirstProposesItselfToAllOtherVoters) {
  Server s(2, voters(3, 1));
  s.look({.epoch = 4, .zxid = 77});
  const auto sent = s.sent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].to, ServerId{1});
  EXPECT_EQ(sent[1].to, ServerId{3});
  EXPECT_EQ(vote_of(sent[0].notification), (Vote{ServerId{2}, Zxid{77}, 1, 4}));
  EXPECT_EQ(sent[0].notification.state, kLooking);
  EXPECT_EQ(sent[0].notification.version, 2);
  EXPECT_TRUE(sent[0].notification.config.ends_with("\nversion=0"));
}

TEST(Candidates, ALaterEpochBeatsALongerHistoryBeatsALargerId) {
  Server s(2, voters(5));
  s.look({.epoch = 2, .zxid = 50});
  const auto proposal = [&] { return raw(s.election.proposal().leader); };
  EXPECT_EQ(proposal(), 2);
  s.hear(1, {.leader = 1, .zxid = 50, .epoch = 2});
  EXPECT_EQ(proposal(), 2) << "the smaller id loses";
  s.hear(3, {.leader = 3, .zxid = 50, .epoch = 2});
  EXPECT_EQ(proposal(), 3) << "the larger id wins";
  s.hear(1, {.leader = 1, .zxid = 51, .epoch = 2});
  EXPECT_EQ(proposal(), 1) << "more history wins over id";
  s.hear(5, {.leader = 5, .zxid = 99, .epoch = 1});
  EXPECT_EQ(proposal(), 1) << "an older epoch loses, however long";
  s.hear(4, {.leader = 4, .zxid = 1, .epoch = 3});
  EXPECT_EQ(proposal(), 4) << "a later epoch wins over history";
}

TEST(Candidates, ABetterOneIsForwardedImmediately) {
  Server s(1, voters(3));
  s.look().sent();
  s.hear(3, {.leader = 3, .zxid = 9});
  const auto sent = s.sent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(vote_of(sent[0].notification), (Vote{ServerId{3}, Zxid{9}, 1, 1}));
  s.hear(2, {.leader = 2});
  EXPECT_TRUE(s.sent().empty()) << "a worse one is not worth a word";
}

TEST(Candidates, AServerWithoutWeightIsNotACandidate) {
  Membership m = voters(3);
  m.set_groups({{1, {ServerId{1}, ServerId{2}, ServerId{3}}}});
  m.set_weights({{ServerId{3}, 0}});
  Server s(1, m);
  s.look().hear(3, {.leader = 3, .zxid = 99, .epoch = 9});
  EXPECT_EQ(s.election.proposal().leader, ServerId{1});
  // It does not consider itself one either, whatever others say.
  Server weightless(3, m);
  weightless.look().hear(1, {.state = kFollowing, .leader = 3}).hear(2, {.state = kFollowing, .leader = 3});
  EXPECT_EQ(weightless.leader(), 0);
}

TEST(Candidates, OnlyVotersAreCandidatesAndOnlyVotersProposeThem) {
  Server s(1, voters(3, 1));
  s.look().sent();
  s.hear(2, {.leader = 4, .zxid = 99}).hear(2, {.leader = 99, .zxid = 99}).hear(4, {.leader = 3, .zxid = 99});
  EXPECT_EQ(s.election.proposal().leader, ServerId{1});
}

// --- decisions ---

TEST(Decision, AQuorumWaitsAMomentForBetterCandidates) {
  Server s(1, voters(3));
  s.look().hear(2, {.leader = 2});
  EXPECT_EQ(s.election.next_time(), s.now + 200);
  EXPECT_EQ(s.wait(199).leader(), 0);
  EXPECT_EQ(s.wait(1).leader(), 2);
  EXPECT_EQ(s.election.vote(), (Vote{ServerId{2}, Zxid{0}, 1, 1}));
  EXPECT_FALSE(s.election.next_time());
}

TEST(Decision, ABetterCandidateRestartsTheWait) {
  Server s(1, voters(5));
  s.look().hear(2, {.leader = 2}).hear(3, {.leader = 2}).wait(150);
  s.hear(4, {.leader = 4}).wait(100);
  EXPECT_EQ(s.leader(), 0) << "no quorum for 4 yet";
  s.hear(2, {.leader = 4}).wait(199);
  EXPECT_EQ(s.leader(), 0);
  EXPECT_EQ(s.wait(1).leader(), 4);
}

TEST(Decision, ABetterCandidateWithAQuorumAlsoRestartsTheWait) {
  Server s(1, voters(3));
  s.look().hear(2, {.leader = 2}).wait(150);
  s.hear(3, {.leader = 3});
  EXPECT_EQ(s.wait(199).leader(), 0) << "1 and 3 agree, but 2 may know somebody better";
  EXPECT_EQ(s.wait(1).leader(), 3);
}

TEST(Decision, IsImmediateWhenAllAgree) {
  Server s(2, voters(3));
  s.look({.zxid = 5}).hear(1, {.leader = 2, .zxid = 5});
  EXPECT_EQ(s.leader(), 0);
  s.hear(3, {.leader = 2, .zxid = 5});
  EXPECT_EQ(s.leader(), 2);
  EXPECT_EQ(s.election.vote(), (Vote{ServerId{2}, Zxid{5}, 1, 1}));
}

TEST(Decision, DoesNotWaitForVotersThatAreDown) {
  Server s(2, voters(3));
  s.unreachable(3).look().hear(1, {.leader = 2});
  EXPECT_EQ(s.leader(), 2);
}

TEST(Decision, WaitsForAVoterThatVotedEvenIfItsLinkIsDownNow) {
  Server s(2, voters(3));
  s.look().hear(3, {.leader = 3, .round = 0}).unreachable(3).hear(1, {.leader = 2});
  EXPECT_EQ(s.leader(), 0);
  EXPECT_EQ(s.wait(200).leader(), 2);
}

TEST(Decision, DoesNotWaitForVotersOfAnEarlierElection) {
  Server s(2, voters(3));
  s.look().hear(3, {.leader = 3}).unreachable(3).look().hear(1, {.leader = 2, .round = 2});
  EXPECT_EQ(s.leader(), 2);
}

TEST(Decision, ALinkThatBreaksEndsTheWait) {
  Server s(2, voters(3));
  s.look().hear(1, {.leader = 2}).unreachable(3);
  EXPECT_LE(s.election.next_time(), s.now);
  EXPECT_EQ(s.wait(0).leader(), 2);
}

TEST(Decision, ALinkThatWorksAgainIsWaitedFor) {
  Server s(2, voters(3));
  s.unreachable(3).election.set_reachable(ServerId{3}, true);
  EXPECT_EQ(s.look().hear(1, {.leader = 2}).leader(), 0);
}

TEST(Decision, DoesNotWaitForServersThatCannotLead) {
  Server with_recovering(2, voters(3));
  with_recovering.look().hear(3, {.leader = 3, .zxid = -1}).hear(1, {.leader = 2});
  EXPECT_EQ(with_recovering.leader(), 2);

  Membership m = voters(3);
  m.set_groups({{1, {ServerId{1}, ServerId{2}, ServerId{3}}}});
  m.set_weights({{ServerId{3}, 0}});
  Server with_weightless(2, m);
  EXPECT_EQ(with_weightless.look().hear(1, {.leader = 2}).leader(), 2);
}

TEST(Decision, AnEnsembleOfOneLeadsItself) {
  Server s(1, voters(1));
  EXPECT_EQ(s.look().leader(), 1);
  EXPECT_TRUE(s.sent().empty()) << "nothing is sent to oneself";
}

TEST(Decision, NeedsAQuorumOfGroups) {
  Membership m = voters(5);
  m.set_groups({{1, {ServerId{1}, ServerId{2}, ServerId{3}}}, {2, {ServerId{4}, ServerId{5}}}});
  Server s(5, m);
  s.look();
  for (const std::int64_t from : {1, 2, 3}) s.hear(from, {.leader = 5});
  EXPECT_EQ(s.wait(10'000).leader(), 0) << "four of five, but one group only";
  EXPECT_EQ(s.hear(4, {.leader = 5}).leader(), 5);
}

TEST(Decision, AVoteForTheSameLeaderWithADifferentHistoryIsADifferentVote) {
  Server s(1, voters(3));
  s.look().hear(2, {.leader = 2, .zxid = 5}).hear(2, {.leader = 2, .zxid = 4});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

// --- rounds ---

TEST(Rounds, EachElectionUsesTheNextRound) {
  Server s(1, voters(1));
  EXPECT_EQ(s.look().election.round(), 1);
  EXPECT_EQ(s.look().election.round(), 2);
}

TEST(Rounds, ALaterRoundDiscardsTheVotesOfTheEarlierOne) {
  Server s(1, voters(5));
  s.look({.zxid = 7}).hear(2, {.leader = 1, .zxid = 7}).hear(3, {.leader = 1, .zxid = 7}).sent();
  s.hear(4, {.leader = 4, .zxid = 3, .round = 6});
  EXPECT_EQ(s.election.round(), 6);
  EXPECT_EQ(s.election.proposal(), (Vote{ServerId{1}, Zxid{7}, 6, 1})) << "our own is better";
  ASSERT_EQ(s.sent().size(), 4u);
  EXPECT_EQ(s.wait(10'000).leader(), 0) << "the two votes were of round 1";
}

TEST(Rounds, ALaterRoundDiscardsTheCandidateOfTheEarlierOne) {
  Server s(1, voters(3));
  s.look().hear(3, {.leader = 3, .zxid = 9}).hear(2, {.leader = 2, .zxid = 1, .round = 2});
  EXPECT_EQ(s.election.proposal(), (Vote{ServerId{2}, Zxid{1}, 2, 1})) << "3 may be gone";
}

TEST(Rounds, AVoteOfAnEarlierRoundIsAnsweredAndNotCounted) {
  Server s(1, voters(3));
  s.look().look().sent();
  s.hear(2, {.leader = 2, .zxid = 99, .round = 1});
  const auto sent = s.sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, ServerId{2});
  EXPECT_EQ(vote_of(sent[0].notification), (Vote{ServerId{1}, Zxid{0}, 2, 1}));
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

TEST(Rounds, ImpossibleRoundsAreIgnored) {
  // There is no round after the last one: the votes of the last round would count forever.
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kFar = std::int64_t{1} << 33;
  for (const std::int64_t round : {kLast, kFar, std::int64_t{-1}, kNone}) {
    Server s(1, voters(3));
    s.look().hear(2, {.leader = 2, .round = round});
    EXPECT_EQ(s.wait(200).leader(), 0) << round;
    EXPECT_EQ(s.look().election.round(), 2);
  }
  Server s(1, voters(3));
  s.look().hear(2, {.leader = 2, .round = 1'000'000'000});
  EXPECT_EQ(s.wait(200).leader(), 2) << "it has looked for a leader for years";

  Server late(1, voters(3));
  late.look().hear(2, {.state = PeerState::kLeading, .leader = 2, .round = kFar, .epoch = 8});
  late.hear(3, {.state = PeerState::kFollowing, .leader = 2, .round = kFar, .epoch = 8});
  EXPECT_EQ(late.leader(), 2) << "a quorum agrees on it";
  late.look().hear(3, {.leader = 3, .round = 1}).wait(200);
  EXPECT_EQ(late.leader(), 3) << "nobody else is so far";
}

// --- membership ---

TEST(MembershipChange, ACandidateThatLeftIsNotElected) {
  Server s(1, voters(4));
  s.look().hear(2, {.leader = 4});
  s.election.set_memberships(voters(3));
  EXPECT_EQ(s.wait(200).wait(200).leader(), 0) << "two of three want 4, which is no voter any more";
  EXPECT_EQ(s.look().hear(2, {.leader = 2, .round = 2}).wait(200).leader(), 2);
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
//
// One server and settled servers: how it joins them, what it answers once it is settled itself, and servers
// that have no vote.
#include "zab/election.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

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
constexpr auto kLeading = PeerState::kLeading;

// --- a leader whose state contradicts ours ---

TEST(Refusing, ARefusedCandidateGetsNoVote) {
  Server s(1, voters(3));
  s.election.refuse(ServerId{3}, 1000);
  s.look({.zxid = 4}).hear(3, {.leader = 3, .zxid = 9});
  EXPECT_EQ(s.election.proposal().leader, ServerId{1});
  s.hear(2, {.leader = 2, .zxid = 5});
  EXPECT_EQ(s.election.proposal().leader, ServerId{2});
  s.hear(2, {.leader = 3, .zxid = 9});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

TEST(Refusing, ARefusedLeaderIsJoinedIfAQuorumOfTheOthersStillFollowsIt) {
  Server s(1, voters(3));
  s.election.refuse(ServerId{3}, 1000);
  s.look({.zxid = 4});
  const auto hear_both = [&] {
    s.hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8});
    s.hear(2, {.state = kFollowing, .leader = 3, .round = 5, .epoch = 8});
  };
  hear_both();
  EXPECT_EQ(s.leader(), 0);
  s.wait(1000);
  hear_both();
  EXPECT_EQ(s.leader(), 3);
}

TEST(Refusing, ARefusedLeaderDoesNotGetOurVoteForItsQuorum) {
  Server s(1, voters(3));
  s.election.refuse(ServerId{3}, 0);
  s.look({.epoch = 8}).hear(3, {.state = kLeading, .leader = 3, .epoch = 8});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

TEST(Refusing, ANewTermOfARefusedLeaderIsNotJoinedAtOnce) {
  // Its followers have not compared anything yet.
  Server s(1, voters(3));
  s.election.refuse(ServerId{3}, 1000);
  s.look({.zxid = 4});
  s.hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8});
  s.wait(1000);
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 6, .epoch = 9});
  s.hear(3, {.state = kLeading, .leader = 3, .round = 6, .epoch = 9});
  EXPECT_EQ(s.leader(), 0) << "another reign";
  s.wait(1000).hear(3, {.state = kLeading, .leader = 3, .round = 6, .epoch = 9});
  EXPECT_EQ(s.leader(), 3);
}

TEST(Refusing, AVoteForARefusedLeaderDoesNotCountAsAFollower) {
  Server s(1, voters(3));
  s.election.refuse(ServerId{3}, 0);
  s.look({.zxid = 4});
  for (int i = 0; i < 3; ++i) {
    s.hear(2, {.leader = 3, .zxid = 9}).hear(3, {.state = kLeading, .leader = 3, .zxid = 9});
    s.wait(1000);
  }
  EXPECT_EQ(s.leader(), 0);
}

TEST(Refusing, AServerThatMayNotLeadBringsOthersToItsRound) {
  Server s(3, voters(3));
  s.election.set_may_lead(false);
  s.look().look({.zxid = 4}).hear(1, {.leader = 1, .zxid = 4, .round = 1});
  EXPECT_EQ(vote_of(s.sent().back().notification), (Vote{ServerId{1}, Zxid{4}, 2, 1}));
}

TEST(Refusing, AServerThatMayNotLeadDoesNotVoteForAShorterHistory) {
  Server s(3, voters(3));
  s.election.set_may_lead(false);
  s.look({.zxid = 4}).hear(1, {.leader = 1, .zxid = 3}).hear(2, {.leader = 1, .zxid = 3});
  EXPECT_EQ(s.wait(1000).leader(), 0);
}

TEST(Refusing, AServerThatMayNotLeadVotesForOthers) {
  Server s(3, voters(3));
  s.election.set_may_lead(false);
  s.look({.zxid = 4});
  EXPECT_EQ(s.sent().front().notification.zxid, Zxid{-1}) << "nobody elects it";
  s.hear(1, {.leader = 1, .zxid = 4});
  EXPECT_EQ(s.wait(1000).leader(), 1);
  s.election.set_may_lead(true);
  s.look({.zxid = 4}).hear(1, {.leader = 1, .zxid = 4, .round = 2});
  EXPECT_EQ(s.election.proposal().leader, ServerId{3});
}

// --- joining an established leader ---

TEST(Joining, ALateServerFollowsTheLeaderThatAQuorumFollows) {
  // The ensemble was elected in round 5 and moved to epoch 8; the new server is in its first round.
  Server s(1, voters(3));
  s.look({.epoch = 7, .zxid = 3});
  s.hear(2, {.state = kFollowing, .leader = 3, .zxid = 4, .round = 5, .epoch = 8});
  EXPECT_EQ(s.leader(), 0) << "the leader has not said so itself";
  s.hear(3, {.state = kLeading, .leader = 3, .zxid = 6, .round = 5, .epoch = 8});
  EXPECT_EQ(s.leader(), 3) << "zxids may differ";
  EXPECT_EQ(s.election.vote(), (Vote{ServerId{3}, Zxid{6}, 5, 8}));
  EXPECT_EQ(s.election.round(), 5);
}

TEST(Joining, AServerWithABetterHistoryJoinsToo) {
  Server s(3, voters(3));
  s.look({.epoch = 9, .zxid = 999});
  s.hear(2, {.state = kLeading, .leader = 2, .round = 5, .epoch = 8});
  s.hear(1, {.state = kFollowing, .leader = 2, .round = 4, .epoch = 8});
  EXPECT_EQ(s.leader(), 2) << "rounds of settled servers may differ";
}

TEST(Joining, ALeaderThatDoesNotConfirmIsNotJoined) {
  Server s(1, voters(5));
  s.look();
  for (const std::int64_t from : {2, 3, 4}) {
    s.hear(from, {.state = kFollowing, .leader = 5, .round = 5, .epoch = 8});
  }
  EXPECT_EQ(s.wait(10'000).leader(), 0);
  s.hear(5, {.state = kFollowing, .leader = 5, .round = 5, .epoch = 8});
  EXPECT_EQ(s.leader(), 0) << "following oneself is not leading";
}

TEST(Joining, ALeaderWithoutAQuorumOfFollowersIsNotJoined) {
  Server s(1, voters(3));
  s.look().hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

TEST(Joining, SettledVotesOfDifferentEpochsAreDifferent) {
  Server s(1, voters(3));
  s.look();
  s.hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8});
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 4, .epoch = 7});
  EXPECT_EQ(s.leader(), 0);
  // Except when one of the two is too old to know the new epoch.
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 4, .epoch = 7, .version = 0});
  EXPECT_EQ(s.leader(), 3);
}

TEST(Joining, VotesOfTheSameRoundCountWhetherSettledOrNot) {
  // 2 decided first; 3 hears that it leads, and its own vote makes the quorum.
  Server s(3, voters(3));
  s.look({.zxid = 4}).hear(2, {.state = kFollowing, .leader = 3, .zxid = 4});
  EXPECT_EQ(s.leader(), 3);
  EXPECT_EQ(s.election.vote(), (Vote{ServerId{3}, Zxid{4}, 1, 1}));
}

TEST(Joining, InTheSameRoundNotAllNeedKnowTheNewEpochYet) {
  Server s(1, voters(3));
  s.look({.zxid = 1});
  s.hear(3, {.state = kLeading, .leader = 3, .zxid = 4, .epoch = 2});
  s.hear(2, {.state = kFollowing, .leader = 3, .zxid = 4, .epoch = 1});
  EXPECT_EQ(s.leader(), 3);
}

TEST(Joining, AVoteOfAnEarlierRoundDoesNotCount) {
  Server s(1, voters(5));
  s.look({.zxid = 1});
  for (const std::int64_t from : {2, 3}) s.hear(from, {.state = kFollowing, .leader = 5, .epoch = 1});
  s.hear(4, {.leader = 4, .round = 6});
  s.hear(5, {.state = kLeading, .leader = 5, .round = 6, .epoch = 2});
  EXPECT_EQ(s.leader(), 0);
}

TEST(Joining, VotesOfAnEarlierElectionAreForgotten) {
  Server s(1, voters(3));
  s.look().hear(2, {.state = kFollowing, .leader = 3, .round = 5}).look();
  s.hear(3, {.state = kLeading, .leader = 3, .round = 5});
  EXPECT_EQ(s.leader(), 0) << "2 may have left 3 since";
}

TEST(Joining, AFormerLeaderDoesNotLeadOnVotesOfAnotherRound) {
  Server s(3, voters(3));
  s.look().look({.zxid = 4});
  s.hear(1, {.state = kFollowing, .leader = 3, .zxid = 4, .round = 1});
  s.hear(2, {.state = kFollowing, .leader = 3, .zxid = 4, .round = 1});
  EXPECT_EQ(s.leader(), 0);
}

TEST(Joining, AServerLeadsWhenItWasElectedInARoundThatItHasLeft) {
  // Server 1 began the next round before server 3 had heard that it was elected in this one.
  Server s(3, voters(3));
  s.look().hear(1, {.leader = 1, .round = 2});
  EXPECT_EQ(s.leader(), 0);
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 1});
  EXPECT_EQ(s.leader(), 3);
}

TEST(Joining, ObserversDoNotCount) {
  Server s(1, voters(5));
  s.look().hear(3, {.state = kLeading, .leader = 3}).hear(2, {.state = PeerState::kObserving, .leader = 3});
  EXPECT_EQ(s.leader(), 0);
}

// --- servers that do not know their history ---

TEST(Recovering, ServersElectNoLeaderAmongThemselves) {
  Server s(1, voters(3));
  s.look({.zxid = -1});
  s.hear(2, {.leader = 2, .zxid = -1}).hear(3, {.leader = 3, .zxid = -1});
  s.hear(2, {.leader = 1, .zxid = -1}).hear(3, {.leader = 1, .zxid = -1});
  EXPECT_EQ(s.wait(100'000).leader(), 0);
}

TEST(Recovering, AServerTakesNoPartInTheElectionOfOthers) {
  Server recovering(1, voters(3));
  recovering.look({.zxid = -1}).sent();
  recovering.hear(2, {.leader = 2, .zxid = 9, .round = 4});
  EXPECT_EQ(recovering.election.round(), 1);
  EXPECT_EQ(recovering.wait(100'000).leader(), 0);
  EXPECT_EQ(recovering.election.proposal().zxid, Zxid{-1});

  Server knowing(2, voters(3));
  knowing.look({.zxid = 9}).hear(1, {.leader = 1, .zxid = -1}).hear(1, {.leader = 2, .zxid = -1, .round = 7});
  EXPECT_EQ(knowing.election.round(), 1);
  EXPECT_EQ(knowing.wait(100'000).leader(), 0);
}

// A vote in its name was forged, or it has lost its disk since.
TEST(Recovering, AServerThatSaysThatItKnowsNothingLosesOurVote) {
  Server server(1, voters(3));
  server.look({.zxid = 10}).hear(3, {.leader = 3, .zxid = 1000});
  ASSERT_EQ(raw(server.election.proposal().leader), 3);
  server.hear(3, {.leader = 3, .zxid = -1});
  EXPECT_EQ(raw(server.election.proposal().leader), 1);
  EXPECT_EQ(server.election.round(), 2) << "votes of the old round are not valid";
  server.hear(2, {.leader = 1, .zxid = 10, .round = 2}).wait(1000);
  EXPECT_EQ(server.leader(), 1);
}

TEST(Recovering, AServerFollowsAnEstablishedLeader) {
  Server s(1, voters(3));
  s.look({.zxid = -1});
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 5})
      .hear(3, {.state = kLeading, .leader = 3, .round = 5});
  EXPECT_EQ(s.leader(), 3);
}

std::string files_with(int count, const std::string& version = "0") {
  std::string text;
  for (int n = 1; n <= count; ++n) {
    const std::string id = std::to_string(n);
    text += "server." + id + "=zk" + id + ":2888:3888:participant\n";
  }
  return text + "version=" + version;
}

// Members are added by changing the files of one server after the other. Server 4 is in our file, but not in
// the leader's.
TEST(Joining, AQuorumOfTheLeadersOwnMembersIsEnough) {
  Server s(1, voters(4));
  s.look();
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 5, .epoch = 8});
  s.hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8, .config = files_with(3)});
  EXPECT_EQ(s.leader(), 3);
}

TEST(Joining, AQuorumOfTheLeadersOwnMembersIsNecessary) {
  Server s(1, voters(4));
  s.look();
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 5, .epoch = 8});
  s.hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8, .config = files_with(5)});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

TEST(Joining, OnlyTheLeaderNamesItsMembers) {
  Server s(1, voters(4));
  s.look();
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 5, .epoch = 8, .config = files_with(3)});
  s.hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8, .config = "no members"});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

// With versions there is reconfig, and it says whose quorum counts.
TEST(Joining, MembersWithAVersionComeFromNoFile) {
  Server s(1, voters(4));
  s.look();
  s.hear(2, {.state = kFollowing, .leader = 3, .round = 5, .epoch = 8});
  s.hear(3, {.state = kLeading, .leader = 3, .round = 5, .epoch = 8, .config = files_with(3, "100000000")});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

TEST(Recovering, AFormerLeaderDoesNotLeadEvenIfItsFollowersHaveNotNoticed) {
  // It led round 1, lost its disk, and came back before the others gave up on it.
  Server s(3, voters(3));
  s.look({.zxid = -1});
  s.hear(1, {.state = kFollowing, .leader = 3, .zxid = 9})
      .hear(2, {.state = kFollowing, .leader = 3, .zxid = 9});
  EXPECT_EQ(s.wait(10'000).leader(), 0);
}

// --- observers ---

TEST(Observers, ProposeNoCandidateAndFindTheLeader) {
  Server s(4, voters(3, 1), true);
  s.look({.epoch = 9, .zxid = 99});
  const auto sent = s.sent();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(vote_of(sent[0].notification), (Vote{ServerId{kNone}, Zxid{kNone}, 1, kNone}));
  s.hear(1, {.state = kFollowing, .leader = 3, .round = 5})
      .hear(3, {.state = kLeading, .leader = 3, .round = 5});
  EXPECT_EQ(s.leader(), 3);
  // It tells voters that look its role, and they do not count it.
  s.hear(2, {.leader = 2});
  EXPECT_EQ(s.sent().at(0).notification.state, PeerState::kObserving);
}

TEST(Observers, FollowAnElectionWithoutVoting) {
  Server s(4, voters(3, 1), true);
  s.look().hear(1, {.leader = 3}).wait(10'000);
  EXPECT_EQ(s.leader(), 0) << "one vote of three";
  s.hear(3, {.leader = 3}).wait(200);
  EXPECT_EQ(s.leader(), 3);
}

TEST(Observers, DoNotAnswerEarlierRounds) {
  Server s(4, voters(3, 1), true);
  s.look().look().sent();
  s.hear(1, {.leader = 1, .round = 1});
  EXPECT_TRUE(s.sent().empty());
}

// --- answers ---

Server settled_follower() {
  Server s(1, voters(3, 1));
  s.look().hear(2, {.leader = 2, .zxid = 6}).hear(3, {.leader = 2, .zxid = 6});
  EXPECT_EQ(s.leader(), 2);
  s.election.settle(kFollowing);
  s.election.set_established_epoch(2);
  s.sent();
  return s;
}

TEST(Answers, ALookingServerGetsTheWinningVoteWithItsRoundAndTheNewEpoch) {
  Server s = settled_follower();
  for (const std::int64_t asking : {3, 4, 99}) {  // a voter, an observer, a stranger
    s.hear(asking, {.leader = asking, .zxid = 99, .round = 8});
    const auto sent = s.sent();
    ASSERT_EQ(sent.size(), 1u) << asking;
    EXPECT_EQ(sent[0].to, ServerId{asking});
    EXPECT_EQ(sent[0].notification.state, kFollowing);
    EXPECT_EQ(vote_of(sent[0].notification), (Vote{ServerId{2}, Zxid{6}, 1, 2}));
    EXPECT_TRUE(sent[0].notification.config.ends_with("\nversion=0"));
  }
  EXPECT_EQ(s.leader(), 2);
}

TEST(Answers, AServerThatIsNotLookingGetsNoAnswer) {
  Server s = settled_follower();
  for (const std::int64_t from : {3, 4, 99}) s.hear(from, {.state = kFollowing, .leader = 3, .round = 8});
  EXPECT_TRUE(s.sent().empty());
}

TEST(Answers, ALookingServerTellsAnObserverItsCandidate) {
  Server s(1, voters(3, 1));
  s.look({.zxid = 5}).sent();
  s.hear(4, {.leader = kNone, .zxid = kNone, .epoch = kNone});
  const auto sent = s.sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, ServerId{4});
  EXPECT_EQ(sent[0].notification.state, kLooking);
  EXPECT_EQ(vote_of(sent[0].notification), (Vote{ServerId{1}, Zxid{5}, 1, 1}));
}

TEST(Answers, TwoServersUnknownToEachOtherDoNotAnswerForever) {
  Membership only_1 = voters(3), only_2 = voters(3);
  only_1.remove(ServerId{2});
  only_2.remove(ServerId{1});
  for (const std::int64_t rounds : {1, 2}) {
    Server a(1, only_1), b(2, only_2);
    for (std::int64_t i = 0; i < rounds; ++i) a.look();
    b.look();
    a.sent(), b.sent();
    a.hear(2, {.leader = 2});
    for (int exchanges = 0; exchanges < 3; ++exchanges) {
      for (const auto& send : a.sent())
        b.election.on_notification(ServerId{1}, send.notification, b.now, b.sends);
      for (const auto& send : b.sent())
        a.election.on_notification(ServerId{2}, send.notification, a.now, a.sends);
    }
    EXPECT_TRUE(a.sent().empty() && b.sent().empty()) << rounds;
  }
}

TEST(Answers, BeforeTheFirstElectionThereAreNone) {
  Server s(1, voters(3));
  s.hear(2, {.leader = 2}).hear(99, {.leader = 99}).wait(1000);
  EXPECT_TRUE(s.sent().empty());
  EXPECT_FALSE(s.election.next_time());
}

TEST(Answers, AServersOwnNotificationsAreIgnored) {
  Server s(1, voters(3));
  s.look().hear(1, {.leader = 3, .zxid = 99});
  EXPECT_EQ(s.election.proposal().leader, ServerId{1});
}

// --- repetition ---

TEST(Repetition, DoublesUpToItsLimit) {
  Server s(1, voters(3));
  s.look().sent();
  std::int64_t interval = 200;
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(s.election.next_time(), s.now + interval) << i;
    EXPECT_TRUE(s.wait(interval - 1).sent().empty());
    EXPECT_EQ(s.wait(1).sent().size(), 2u);
    interval = std::min<std::int64_t>(2 * interval, 60'000);
  }
  EXPECT_EQ(interval, 60'000);
}

TEST(Repetition, StaysFastForServersWithoutAVote) {
  // No server tells an observer, or a server that does not know its history, that there is a leader now.
  Server observer(4, voters(3, 1), true);
  Server recovering(1, voters(3));
  observer.look();
  recovering.look({.zxid = -1});
  for (Server* s : {&observer, &recovering}) {
    s->wait(100'000).sent();
    EXPECT_FALSE(s->wait(1000).sent().empty());
    EXPECT_FALSE(s->wait(1000).sent().empty());
  }
}

TEST(Repetition, IsFastAgainAfterNews) {
  Server s(1, voters(3));
  s.look().wait(200).wait(400).wait(800).sent();
  s.hear(3, {.leader = 3, .round = 2});
  s.hear(3, {.leader = 2, .round = 2});  // This takes the quorum away, so only repetition is left.
  EXPECT_EQ(s.election.next_time(), s.now + 200);
}

TEST(Repetition, EndsWithTheElection) {
  Server s = settled_follower();
  EXPECT_TRUE(s.wait(100'000).sent().empty());
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
//
// A candidate elected by votes that have changed since: the others have another leader, and do not come.
#include <gtest/gtest.h>

#include "zab/ensemble_testing.h"

namespace drover::zab {
namespace {

using testing::Disk;
using testing::Ensemble;
using testing::notification;
using testing::Says;
using testing::Server;
using testing::voters;
using testing::zx;

constexpr auto kLooking = wire::PeerState::kLooking;
constexpr auto kFollowing = wire::PeerState::kFollowing;
constexpr auto kLeading = wire::PeerState::kLeading;

// --- the election's part ---

Server elected(std::int64_t me, const Membership& membership) {
  Server s(me, membership);
  s.look();
  for (const ServerId voter : membership.voters()) {
    if (raw(voter) != me) s.hear(raw(voter), {.leader = me});
  }
  EXPECT_EQ(s.leader(), me);
  s.sent();
  return s;
}

TEST(Rival, IsAServerThatLeadsAndThatAQuorumOfTheOthersFollows) {
  Server s = elected(5, voters(5));
  for (const std::int64_t from : {1, 2}) {
    s.hear(from, {.state = kFollowing, .leader = 3, .round = 7, .epoch = 2});
    EXPECT_EQ(s.election.rival(), std::nullopt) << "too few";
  }
  s.hear(4, {.state = kFollowing, .leader = 3, .round = 7, .epoch = 2});
  EXPECT_EQ(s.election.rival(), std::nullopt) << "3 has not said so itself";
  s.hear(3, {.state = kLeading, .leader = 3, .round = 7, .epoch = 2});
  EXPECT_EQ(s.election.rival(), ServerId{3});
}

TEST(Rival, IsNotAServerThatLostAFollowerOfItsQuorum) {
  Server s = elected(3, voters(3));
  s.hear(1, {.state = kFollowing, .leader = 2});
  s.hear(1, {.state = kLooking, .leader = 1, .round = 2});
  s.hear(2, {.state = kLeading, .leader = 2});
  EXPECT_EQ(s.election.rival(), std::nullopt) << "1 has left 2";
}

TEST(Rival, IsNotAServerThatOnlyObserversAndStrangersFollow) {
  Server s = elected(3, voters(3, 1));
  s.hear(2, {.state = kLeading, .leader = 2});
  s.hear(4, {.state = kFollowing, .leader = 2});
  s.hear(99, {.state = kFollowing, .leader = 2});
  EXPECT_EQ(s.election.rival(), std::nullopt);
}

TEST(Rival, IsFoundByAskingTheVotersLikeALookingServer) {
  Server s = elected(3, voters(3, 1));
  s.election.ask_voters(s.sends);
  const auto sent = s.sent();
  ASSERT_EQ(sent.size(), 2U) << "the other voters";
  for (const NotificationSend& each : sent) {
    EXPECT_EQ(each.notification.state, kLooking);
    EXPECT_EQ(each.notification.leader, ServerId{3});
    EXPECT_EQ(each.notification.round, s.election.vote().round);
  }
  EXPECT_EQ(s.leader(), 3) << "it still leads";
}

// --- whole servers ---

// Servers 1 and 2 follow 2. Server 3 was elected by a vote that 2 gave and then took back.
Ensemble with_passed_over_leader() {
  Ensemble e(3);
  for (const std::int64_t id : {1, 2, 3}) {
    e.disk(id) = {.accepted = 4, .current = 4, .snapshot = zx(4, 0), .log = {zx(4, 1)}};
  }
  e.start({1, 2});
  e.pass(300);
  EXPECT_EQ(e.leader(), 2);
  e.isolate(3);
  e.start({3});
  e.run();
  Effects lost;
  const Says vote{.state = kLooking, .leader = 3, .zxid = raw(zx(4, 1)), .epoch = 4};
  e.peer(3).on_notification(ServerId{2}, notification(vote), Instant{1300}, lost);
  e.pass(210);
  EXPECT_EQ(e.peer(3).role(), Role::kLeading);
  e.heal(3);
  return e;
}

TEST(PassedOver, ACandidateSoonFollowsTheLeaderOfTheOthers) {
  Ensemble e = with_passed_over_leader();
  e.pass(300);
  EXPECT_EQ(e.peer(3).role(), Role::kFollowing) << "long before initLimit, which is 1000 ms";
  EXPECT_TRUE(e.peer(3).active());
  EXPECT_EQ(e.peer(3).why_looking(), "a quorum follows server 2 instead of this one");
  EXPECT_EQ(e.leader(), 2) << "who was not disturbed";
  EXPECT_EQ(e.peer(2).counts().looking, 1U);
}

TEST(PassedOver, ACandidateStaysWhileNoOtherServerLeads) {
  Ensemble e = with_passed_over_leader();
  e.isolate(2);
  e.pass(300);
  EXPECT_EQ(e.peer(3).role(), Role::kLeading) << "the word of 1 alone is not enough";
}

TEST(PassedOver, AnEstablishedLeaderAsksNoVoters) {
  Ensemble e = with_passed_over_leader();
  e.pass(300);
  e.forget();
  e.pass(5000);
  EXPECT_TRUE(e.story().empty()) << e.story().front();
}

}  // namespace
}  // namespace drover::zab

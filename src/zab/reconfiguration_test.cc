// SPDX-License-Identifier: Apache-2.0
//
// Whole reconfigurations, with the messages in between, and the crashes that can cut them short.
#include <gtest/gtest.h>

#include "zab/ensemble_testing.h"

namespace drover::zab::testing {
namespace {

// Servers 1 to `members` serve, led by the last one. Servers after them are synced, and no members.
class Reconfiguration : public Ensemble {
 public:
  explicit Reconfiguration(std::int64_t members = 3, std::int64_t joining = 0, std::int64_t observers = 0)
      : Ensemble(members, observers) {
    allow_reconfig(joining);
    std::vector<std::int64_t> all;
    for (std::int64_t id = 1; id <= members + observers + joining; ++id) all.push_back(id);
    start(all);
    pass(3000);
    forget();
  }
  bool serves(std::int64_t id) { return is_up(id) && peer(id).active(); }
  std::int64_t version(std::int64_t id) { return peer(id).membership().version(); }
  Zxid last(std::int64_t id) { return peer(id).history().last(); }
};

Membership of(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& observers = {}) {
  Membership made;
  for (const std::int64_t id : ids) made.add({.id = ServerId{id}});
  for (const std::int64_t id : observers) made.add({.id = ServerId{id}, .type = PeerType::kObserver});
  return addressed(made);
}

TEST(Reconfiguration, TheFirstLeaderNumbersTheMembersOfTheFiles) {
  Reconfiguration e;
  ASSERT_EQ(e.leader(), 3);
  for (const int id : {1, 2, 3}) {
    EXPECT_EQ(e.version(id), raw(zx(1, 0))) << id;
    EXPECT_EQ(e.disk(id).membership.version(), raw(zx(1, 0))) << id;
    EXPECT_FALSE(e.disk(id).proposed) << id;
  }
}

TEST(Reconfiguration, AServerJoinsWithoutAVoteAndThenCounts) {
  Reconfiguration e(3, 2);
  ASSERT_EQ(e.leader(), 3);
  ASSERT_TRUE(e.serves(4) && e.serves(5)) << "a future member is synced before it counts";
  EXPECT_EQ(e.peer(4).membership().voters().size(), 3U);
  e.reconfigure(3, 1, of({1, 2, 3, 4, 5}));
  e.run();
  EXPECT_EQ(e.leader(), 3) << "the leader stays";
  for (const int id : {1, 2, 3, 4, 5}) EXPECT_EQ(e.version(id), raw(zx(1, 1))) << id;
  // Three of five are now needed: two old ones are not enough.
  e.isolate(1);
  e.isolate(2);
  e.propose(3, 2);
  e.run();
  EXPECT_EQ(e.peer(3).history().committed(), zx(1, 2)) << "4 and 5 count";
  e.isolate(4);
  e.propose(3, 3);
  e.run();
  EXPECT_EQ(e.peer(3).history().committed(), zx(1, 2)) << "two of five are no quorum";
}

TEST(Reconfiguration, NeedsAQuorumOfTheOldMembersAndOneOfTheNew) {
  Reconfiguration e(3, 2);
  e.isolate(4);
  e.isolate(5);
  e.propose(3, 1);
  e.reconfigure(3, 2, of({3, 4, 5}));
  e.propose(3, 3);
  e.run();
  EXPECT_EQ(e.peer(3).history().committed(), zx(1, 1)) << "the old members have it, and the new ones do not";
  EXPECT_EQ(e.version(3), raw(zx(1, 0)));
  e.heal(4);
  e.heal(5);
  e.pass(2000);  // They come again.
  EXPECT_GE(e.version(4), raw(zx(1, 2)));
}

TEST(Reconfiguration, ALeaderThatLeavesNamesTheNextOne) {
  Reconfiguration e(3);
  e.reconfigure(3, 1, of({1, 2}));
  e.run();
  EXPECT_TRUE(e.leader() == 1 || e.leader() == 2) << "without an election, and without waiting";
  EXPECT_EQ(e.version(1), raw(zx(1, 1)));
  EXPECT_EQ(e.version(2), raw(zx(1, 1)));
  for (const std::string& line : e.story()) EXPECT_EQ(line.find("vote for"), std::string::npos) << line;
  e.pass(1000);
  EXPECT_EQ(e.peer(3).role(), Role::kFollowing) << "without a vote, as in Java";
  EXPECT_EQ(e.version(3), raw(zx(1, 1)));
  // It does not count.
  const std::int64_t leader = e.leader();
  e.crash(3 - leader);
  e.propose(leader, 1);
  e.run();
  EXPECT_LT(e.peer(leader).history().committed(), zx(2, 1));
}

TEST(Reconfiguration, AVoterBecomesAnObserverAndBack) {
  Reconfiguration e(4);
  ASSERT_EQ(e.leader(), 4);
  e.reconfigure(4, 1, of({2, 3, 4}, {1}));
  e.run();
  EXPECT_EQ(e.leader(), 4);
  EXPECT_EQ(e.peer(1).role(), Role::kObserving);
  e.pass(500);
  EXPECT_TRUE(e.serves(1));
  e.reconfigure(4, 2, of({1, 2, 3, 4}));
  e.run();
  EXPECT_EQ(e.peer(1).role(), Role::kFollowing);
  EXPECT_TRUE(e.serves(1));
  EXPECT_EQ(e.version(1), raw(zx(1, 2)));
}

TEST(Reconfiguration, AServerThatWasAwayLearnsTheMembers) {
  Reconfiguration e(3, 3);
  e.crash(1);
  e.reconfigure(3, 1, of({1, 2, 3, 4}));
  e.run();
  e.reconfigure(3, 2, of({1, 2, 3, 4, 5}));
  e.run();
  e.reconfigure(3, 3, of({1, 4, 5, 6}));
  e.run();
  e.crash(3);  // 2 was removed, and still knows.
  e.start({1});
  e.pass(3000);
  EXPECT_EQ(e.version(1), raw(zx(1, 3)));
  EXPECT_TRUE(e.serves(1));
  EXPECT_TRUE(e.leader() == 4 || e.leader() == 5 || e.leader() == 6);
}

TEST(Reconfiguration, RemovedServersDoNotFormAQuorum) {
  Reconfiguration e(3, 3);
  e.reconfigure(3, 1, of({4, 5, 6}));
  e.run();
  e.pass(500);
  for (const int id : {4, 5, 6}) e.crash(id);
  for (const int id : {1, 2, 3}) e.crash(id);
  e.start({1, 2, 3});
  e.pass(20'000);
  EXPECT_EQ(e.leader(), 0);
  e.start({4, 5});
  e.pass(5000);
  EXPECT_TRUE(e.leader() == 4 || e.leader() == 5);
}

TEST(Reconfiguration, AnUnfinishedOneIsCompletedByTheNextLeader) {
  Reconfiguration e(3, 2);
  // Only the disks of 2 and 4 have it when the leader is lost.
  for (const int id : {1, 3, 5}) e.hold_disk(id);
  e.reconfigure(3, 1, of({2, 4, 5}));
  e.run();
  ASSERT_EQ(e.disk(2).last(), zx(1, 1));
  ASSERT_TRUE(e.disk(2).proposed);
  for (const int id : {1, 2, 3, 4, 5}) e.crash(id);
  for (const int id : {1, 3, 5}) e.release_disk(id);
  e.start({1, 2, 4, 5});
  e.pass(5000);
  EXPECT_NE(e.leader(), 0);
  EXPECT_EQ(e.version(2), raw(zx(1, 1)));
  EXPECT_EQ(e.version(5), raw(zx(1, 1)));
  EXPECT_TRUE(e.peer(2).membership().is_voter(ServerId{4}));
}

// Only 5 can lead, and 1 has to vote for it without having logged that there is a server 5.
TEST(Reconfiguration, AVoterThatHasNotLoggedItVotesForANewMember) {
  Reconfiguration e(3, 2);
  for (const int id : {1, 2}) e.hold_disk(id);
  e.reconfigure(3, 1, of({3, 4, 5}));
  e.run();
  for (const int id : {3, 4}) e.hold_disk(id);
  e.propose(3, 2);
  e.run();
  ASSERT_EQ(e.disk(5).last(), zx(1, 2));
  for (const int id : {1, 2, 3, 4, 5}) e.crash(id);
  for (const int id : {1, 2, 3, 4}) e.release_disk(id);
  e.start({1, 3, 5});
  e.pass(5000);
  EXPECT_EQ(e.leader(), 5);
  EXPECT_EQ(e.version(1), raw(zx(1, 1)));
  EXPECT_FALSE(e.peer(1).memberships().heard());
}

TEST(Reconfiguration, AServerVotesInTheMembershipThatOthersHaveLogged) {
  Reconfiguration e(1, 2);
  for (const int id : {2, 3}) e.hold_disk(id);
  e.reconfigure(1, 1, of({1, 2, 3}));
  e.run();
  for (const int id : {1, 2, 3}) e.crash(id);
  for (const int id : {2, 3}) e.release_disk(id);
  e.start({1, 2, 3});
  e.pass(5000);
  EXPECT_EQ(e.leader(), 1);
  EXPECT_EQ(e.version(2), raw(zx(1, 1)));
}

TEST(Reconfiguration, AnObserverVotesInTheMembershipThatMakesItAVoter) {
  Reconfiguration e(1, 0, 2);
  e.isolate(2);
  e.isolate(3);
  e.reconfigure(1, 1, of({1, 2, 3}));
  e.run();
  for (const int id : {2, 3}) e.heal(id);
  e.pass(5000);
  EXPECT_EQ(e.leader(), 1);
  for (const int id : {2, 3}) {
    EXPECT_EQ(e.version(id), raw(zx(1, 1))) << id;
    EXPECT_EQ(e.peer(id).role(), Role::kFollowing) << id;
  }
}

TEST(Reconfiguration, AnObserverThatHasHeardOfOneInVainObservesAgain) {
  Reconfiguration e(3, 0, 1);
  ASSERT_EQ(e.peer(4).role(), Role::kObserving);
  for (const int id : {1, 2}) e.crash(id);
  e.reconfigure(3, 1, of({1, 2, 3, 4}));
  e.run();
  for (const int id : {3, 4}) e.crash(id);
  e.start({3, 4});
  e.pass(1000);
  ASSERT_TRUE(e.peer(4).memberships().heard());
  e.crash(3);
  e.start({1, 2});
  e.pass(5000);
  EXPECT_EQ(e.peer(4).role(), Role::kObserving);
  EXPECT_TRUE(e.serves(4));
  EXPECT_FALSE(e.peer(4).memberships().heard());
}

TEST(Reconfiguration, OneThatNobodyElseHasIsTruncated) {
  Reconfiguration e(3);
  e.isolate(3);
  e.reconfigure(3, 1, of({1, 3}));
  e.run();
  ASSERT_TRUE(e.disk(3).proposed);
  e.crash(3);
  e.pass(3000);
  ASSERT_NE(e.leader(), 0);
  e.propose(static_cast<int>(e.leader()), 1);
  e.heal(3);
  e.start({3});
  e.pass(3000);
  EXPECT_TRUE(e.serves(3));
  EXPECT_EQ(e.version(3), raw(zx(1, 0)));
  EXPECT_FALSE(e.peer(3).memberships().proposed());
  EXPECT_FALSE(e.disk(3).proposed);
}

TEST(Reconfiguration, AllMembersAreReplacedAtOnce) {
  Reconfiguration e(3, 3);
  e.reconfigure(3, 1, of({4, 5, 6}));
  e.run();
  const std::int64_t leader = e.leader();
  EXPECT_TRUE(leader == 4 || leader == 5 || leader == 6);
  for (const int id : {1, 2, 3}) e.crash(id);
  e.propose(leader, 1);
  e.run();
  EXPECT_EQ(e.peer(leader).history().committed(), zx(2, 1));
}

}  // namespace
}  // namespace drover::zab::testing

// SPDX-License-Identifier: Apache-2.0
//
// Proposals, acknowledgements, commits, syncs and liveness of an established leader.
#include <gtest/gtest.h>

#include "zab/leader_testing.h"

namespace drover::zab {
namespace {

using testing::batch;
using testing::kShort;
using testing::Leading;
using testing::Story;
using testing::voters;
using testing::zx;
using wire::PacketType;
using Phase = Leader::Phase;

// --- commits ---

TEST(LeaderBroadcast, CommitsTransactionsThatAreOnAQuorumOfDisks) {
  Leading l({.membership = voters(5)});
  l.with({2, 3}).propose(1);
  EXPECT_EQ(l.sent(2), Story{"PROPOSAL 5.1"});
  l.ack(2, zx(5, 1));
  EXPECT_EQ(l.h.committed(), zx(4, 3));
  l.forget().ack(3, zx(5, 1));
  EXPECT_EQ(l.h.committed(), zx(5, 1));
  EXPECT_EQ(l.sent(2), Story{"COMMIT 5.1"});
  EXPECT_EQ(l.sent(3), Story{"COMMIT 5.1"});
}

TEST(LeaderBroadcast, ItsOwnVoteCountsOnlyOnceTheTransactionIsOnItsDisk) {
  Leading l({.disk_answers_at_once = false});
  l.connect(2).greet(2).saved(EpochKind::kAccepted, 5).promise(2, zx(4, 3)).saved(EpochKind::kCurrent, 5);
  l.ack(2, zx(5, 0)).forget().propose(1).ack(2, zx(5, 1));
  EXPECT_EQ(l.h.committed(), zx(4, 3));
  l.durable(zx(5, 1));
  EXPECT_EQ(l.h.committed(), zx(5, 1));
}

TEST(LeaderBroadcast, AQuorumOfOthersCommitsBeforeItsOwnDiskIsDone) {
  Leading l({.disk_answers_at_once = false});
  for (const std::int64_t server : {2, 3}) l.connect(server).greet(server);
  l.saved(EpochKind::kAccepted, 5).promise(2, zx(4, 3)).promise(3, zx(4, 3)).saved(EpochKind::kCurrent, 5);
  l.ack(2, zx(5, 0)).ack(3, zx(5, 0)).propose(1).ack(2, zx(5, 1)).ack(3, zx(5, 1));
  EXPECT_EQ(l.h.committed(), zx(5, 1));
  EXPECT_EQ(l.h.durable(), zx(4, 3));
}

TEST(LeaderBroadcast, CommitsInOrderAndOneByOne) {
  Leading l;
  l.with({2}).propose(1).propose(2).propose(3).forget();
  // Learners log in order, so a later acknowledgement covers everything before it.
  l.ack(2, zx(5, 2));
  EXPECT_EQ(l.sent(2), (Story{"COMMIT 5.1", "COMMIT 5.2"}));
  l.forget().ack(2, zx(5, 1)).ack(2, zx(5, 2));  // late, and again
  EXPECT_EQ(l.sent(2), Story{});
  l.ack(2, zx(5, 3));
  EXPECT_EQ(l.sent(2), Story{"COMMIT 5.3"});
}

TEST(LeaderBroadcast, AnAckOfAnUnknownTransactionClosesTheLink) {
  Leading l;
  l.with({2}).propose(1).ack(2, zx(5, 2));
  EXPECT_TRUE(l.closed(2));
  EXPECT_EQ(l.h.committed(), zx(4, 3));
  EXPECT_FALSE(l.leader.over());  // A confused follower cannot stop a leader.
}

TEST(LeaderBroadcast, AnAckOfAZxidBetweenTwoEpochsClosesTheLink) {
  // 4.9 is after what is committed and before what is proposed; it does not exist.
  Leading after;
  after.with({2}).propose(1).ack(2, zx(4, 9));
  EXPECT_TRUE(after.closed(2));
  EXPECT_EQ(after.h.committed(), zx(4, 3));

  Leading before;  // its ACK of NEWLEADER
  before.with({2}).propose(1).bring(3).ack(3, zx(4, 9));
  EXPECT_TRUE(before.closed(3));
  EXPECT_FALSE(after.leader.over() || before.leader.over());
}

TEST(LeaderBroadcast, AnObserverGetsInformAndIsNeverCounted) {
  Leading l;
  l.with({2}).join_observer(4).forget().propose(1);
  EXPECT_EQ(l.sent(4), Story{});
  l.ack(4, zx(5, 1));
  EXPECT_TRUE(l.closed(4));
  EXPECT_EQ(l.h.committed(), zx(4, 3));
  l.join_observer(4).forget().ack(2, zx(5, 1));
  EXPECT_EQ(l.sent(4), Story{"INFORM 5.1"});
}

TEST(LeaderBroadcast, EarlyAcksCountOnceNewLeaderIsAcknowledged) {
  // ZOOKEEPER-4685: servers of 3.8 log on another thread, which may overtake the handshake.
  Leading l;
  l.with({2}).propose(1).bring(3);
  l.ack(3, zx(5, 1));
  EXPECT_EQ(l.h.committed(), zx(4, 3));
  l.forget().ack(3, zx(5, 0));
  EXPECT_EQ(l.h.committed(), zx(5, 1));
  EXPECT_EQ(l.sent(3), (Story{"UPTODATE", "COMMIT 5.1"}));
}

TEST(LeaderBroadcast, AcksOfABrokenLinkNoLongerCount) {
  Leading l({.membership = voters(5)});
  l.with({2, 3}).propose(1).ack(2, zx(5, 1));
  l.leader.on_link_down(Leading::link(2), l.now, l.effects);
  l.ack(3, zx(5, 1));
  EXPECT_EQ(l.h.committed(), zx(4, 3));
}

TEST(LeaderBroadcastDeath, ProposesOnlyWhenEstablishedAndInItsOwnEpoch) {
  Leading early;
  EXPECT_DEATH(early.propose(1), "only an established leader proposes");
  Leading l;
  l.with({2});
  EXPECT_DEATH(l.leader.propose(batch({zx(4, 4)}), l.now, l.effects), "a leader proposes in its own epoch");
}

TEST(LeaderBroadcast, CountsOutstandingProposals) {
  Leading l;
  l.with({2});
  EXPECT_EQ(l.leader.outstanding(), 0);
  l.propose(1).propose(2);
  EXPECT_EQ(l.leader.outstanding(), 2);
  l.ack(2, zx(5, 1));
  EXPECT_EQ(l.leader.outstanding(), 1);
}

// --- sync ---

TEST(LeaderBroadcast, ASyncIsAnsweredOnceAQuorumHasConfirmedThatWeStillLead) {
  Leading l;
  l.with({2, 3});
  const std::uint64_t ticket = l.leader.sync(Leading::link(2), l.now, l.effects);
  EXPECT_EQ(l.sent(2), Story{"PING 4.3"});
  EXPECT_EQ(l.leader.released_syncs(), ticket - 1);
  l.forget().answer_ping(3);
  EXPECT_EQ(l.leader.released_syncs(), ticket);
  EXPECT_EQ(l.sent(2), Story{"SYNC"});
}

TEST(LeaderBroadcast, AnAnswerToAnEarlierPingConfirmsNothing) {
  Leading l;
  l.with({2}).wait(kShort.ping_ms());  // a ping that has no answer yet
  const std::uint64_t ticket = l.leader.sync(std::nullopt, l.now, l.effects);
  l.answer_ping(2);
  EXPECT_LT(l.leader.released_syncs(), ticket);
  l.answer_ping(2);
  EXPECT_EQ(l.leader.released_syncs(), ticket);
}

TEST(LeaderBroadcast, AnObserversAnswerConfirmsNothing) {
  Leading l;
  l.with({2}).join_observer(4);
  const std::uint64_t ticket = l.leader.sync(std::nullopt, l.now, l.effects);
  l.answer_ping(4);
  EXPECT_LT(l.leader.released_syncs(), ticket);
}

TEST(LeaderBroadcast, ASyncIsOrderedBetweenEarlierAndLaterProposals) {
  Leading l;
  l.with({2}).propose(1);
  l.leader.sync(Leading::link(2), l.now, l.effects);
  l.propose(2).forget().answer_ping(2);
  EXPECT_EQ(l.sent(2), Story{});  // 5.1 is not committed
  l.ack(2, zx(5, 2));
  EXPECT_EQ(l.sent(2), (Story{"COMMIT 5.1", "SYNC", "COMMIT 5.2"}));
}

TEST(LeaderBroadcast, ProposalsAfterASyncWaitUntilItIsConfirmed) {
  Leading l;
  l.with({2});
  l.leader.sync(Leading::link(2), l.now, l.effects);
  l.propose(1).forget().ack(2, zx(5, 1));
  EXPECT_EQ(l.sent(2), Story{});
  l.answer_ping(2);
  EXPECT_EQ(l.sent(2), (Story{"SYNC", "COMMIT 5.1"}));
}

TEST(LeaderBroadcast, SyncsDuringARoundWaitForTheNextRound) {
  Leading l;
  l.with({2});
  const std::uint64_t first = l.leader.sync(std::nullopt, l.now, l.effects);
  const std::uint64_t second = l.leader.sync(std::nullopt, l.now, l.effects);
  l.answer_ping(2);
  EXPECT_EQ(l.leader.released_syncs(), first);
  l.answer_ping(2);
  EXPECT_EQ(l.leader.released_syncs(), second);
}

TEST(LeaderBroadcast, AFollowerThatJoinsDuringARoundCanConfirmItWithALaterPing) {
  Leading l;
  l.with({2});
  const std::uint64_t ticket = l.leader.sync(std::nullopt, l.now, l.effects);
  l.leader.on_link_down(Leading::link(2), l.now, l.effects);
  l.join(3).wait(kShort.ping_ms()).answer_ping(3);
  EXPECT_EQ(l.leader.released_syncs(), ticket);
}

// --- liveness ---

TEST(LeaderBroadcast, PingsTwiceATick) {
  Leading l;
  l.with({2}).wait(0);
  EXPECT_EQ(l.sent(2), Story{"PING 4.3"});
  l.forget().wait(kShort.ping_ms() - 1);
  EXPECT_EQ(l.sent(2), Story{});
  l.wait(1);
  EXPECT_EQ(l.sent(2), Story{"PING 4.3"});
}

TEST(LeaderBroadcast, AnAnswerToAPingThatWasNotSentClosesTheLink) {
  Leading l;
  l.with({2}).answer_ping(2);
  EXPECT_TRUE(l.closed(2));
}

// Time passes in ticks; the servers in `alive` answer every ping.
void pass(Leading& l, std::int64_t ms, const std::vector<std::int64_t>& alive) {
  for (std::int64_t passed = 0; passed < ms && !l.leader.over(); passed += kShort.ping_ms()) {
    l.wait(kShort.ping_ms());
    for (const std::int64_t server : alive) {
      if (!l.closed(server)) l.answer_ping(server);
    }
  }
}

TEST(LeaderBroadcast, ALearnerThatIsSilentForSyncLimitIsDropped) {
  Leading l;
  l.with({2, 3});
  pass(l, kShort.sync_ms() - kShort.tick_ms, {2});
  EXPECT_FALSE(l.closed(3));
  pass(l, 2 * kShort.tick_ms, {2});
  EXPECT_TRUE(l.closed(3));
  EXPECT_FALSE(l.leader.over());
}

TEST(LeaderBroadcast, StepsDownWhenAQuorumIsSilent) {
  Leading l;
  l.with({2, 3});
  pass(l, kShort.sync_ms() + kShort.tick_ms, {});
  EXPECT_EQ(l.leader.why_over(), "no packets from a quorum of followers within syncLimit");
}

TEST(LeaderBroadcast, AnyNumberOfObserversIsNoQuorum) {
  Leading l;
  l.with({2}).join_observer(4);
  pass(l, kShort.sync_ms() + kShort.tick_ms, {4});
  EXPECT_TRUE(l.leader.over());
}

TEST(LeaderBroadcast, AFollowerThatAnswersPingsButDoesNotAcknowledgeIsDropped) {
  Leading l;
  l.with({2, 3}).propose(1).ack(2, zx(5, 1));
  pass(l, kShort.sync_ms() + 2 * kShort.tick_ms, {2, 3});
  EXPECT_TRUE(l.closed(3));
  EXPECT_FALSE(l.closed(2));
  EXPECT_FALSE(l.leader.over());
}

TEST(LeaderBroadcast, AFollowerThatKeepsAcknowledgingUnderLoadIsNotDropped) {
  Leading l;
  l.with({2});
  for (std::uint32_t i = 1; i <= 40; ++i) {
    l.propose(i);  // never synced, but always moving
    if (i > 1) l.ack(2, zx(5, i - 1));
    pass(l, kShort.ping_ms(), {2});
  }
  EXPECT_FALSE(l.closed(2));
}

}  // namespace
}  // namespace drover::zab

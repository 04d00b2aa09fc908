// SPDX-License-Identifier: Apache-2.0
//
// Discovery and synchronisation as the leader sees them.
#include "zab/leader.h"

#include <gtest/gtest.h>

#include "zab/epoch_claim.h"
#include "zab/leader_testing.h"

namespace drover::zab {
namespace {

using testing::batch;
using testing::history;
using testing::kShort;
using testing::Leading;
using testing::LeadingOptions;
using testing::Story;
using testing::voters;
using testing::zx;
using wire::PacketType;
using Phase = Leader::Phase;
using Stage = LearnerLink::Stage;

// --- discovery ---

TEST(Leader, ChoosesAnEpochThatNoMemberOfAQuorumHasPromised) {
  Leading l;
  EXPECT_EQ(l.orders(), Story{});
  l.connect(2).greet(2, 7);
  EXPECT_EQ(l.leader.epoch(), 8u);
  EXPECT_EQ(l.sent(2), Story{"LEADERINFO 8.0"});
  l.connect(3).greet(3, 2);  // later, and behind: the same epoch
  EXPECT_EQ(l.sent(3), Story{"LEADERINFO 8.0"});
}

TEST(Leader, ProposesAnEpochOnlyOnceItsOwnPromiseIsDurable) {
  Leading l({.disk_answers_at_once = false});
  l.connect(2).greet(2);
  EXPECT_EQ(l.orders(), Story{"acceptedEpoch 5"});
  EXPECT_EQ(l.sent(2), Story{});
  l.saved(EpochKind::kAccepted, 5);
  EXPECT_EQ(l.sent(2), Story{"LEADERINFO 5.0"});
}

TEST(Leader, AnObserversEpochIsRespectedButMakesNoQuorum) {
  Leading l;
  l.connect(4).greet(4, 9, PacketType::kObserverInfo);
  EXPECT_EQ(l.orders(), Story{});
  l.connect(2).greet(2);
  EXPECT_EQ(l.leader.epoch(), 10u);
}

TEST(Leader, TheLastPossibleEpochIsRefused) {
  // Zxids of the next epoch would be negative. One confused server must not use up the ensemble's epochs.
  for (const std::uint32_t claimed : {0x7fff'ffffU, 0x8000'0000U, 0xffff'ffffU}) {
    Leading l;
    l.connect(2).greet(2, claimed).connect(4).greet(4, claimed, PacketType::kObserverInfo);
    EXPECT_TRUE(l.closed(2) && l.closed(4)) << claimed;
    l.with({3});
    EXPECT_EQ(l.leader.epoch(), 5u);
  }
}

// --- learners that have promised a later epoch than ours ---

TEST(Leader, StepsDownForAServerThatHasPromisedALaterEpoch) {
  // It promised to a candidate that never led. It may not follow us, and must not be left out forever.
  for (const auto type : {PacketType::kFollowerInfo, PacketType::kObserverInfo}) {
    Leading l;
    l.with({2}).connect(3).greet(3, 7, type);
    EXPECT_EQ(l.leader.why_over(), "server 3 has promised a later epoch than ours: 7");
    EXPECT_EQ(l.sent(3), Story{});
    EXPECT_EQ(l.orders(), Story{"acceptedEpoch 7"});  // The next leader hears of it.
  }
}

TEST(Leader, StepsDownForALaterPromiseEvenBeforeItIsEstablished) {
  Leading l({.membership = voters(5)});
  l.connect(2).greet(2).connect(3).greet(3);
  ASSERT_EQ(l.leader.epoch(), 5u);
  l.connect(4).greet(4, 6);
  EXPECT_TRUE(l.leader.over());
}

TEST(Leader, DoesNotStepDownForAPromiseOfItsOwnEpoch) {
  Leading l;
  l.with({2}).connect(3).greet(3, 5);
  EXPECT_FALSE(l.leader.over());
  EXPECT_EQ(l.sent(3), Story{"LEADERINFO 5.0"});
}

TEST(Leader, DoesNotStepDownForAStrangerOrAnUnbelievableEpoch) {
  Leading l;
  l.with({2}).connect(9).greet(9, 7).connect(3).greet(3, kEpochMax);
  EXPECT_FALSE(l.leader.over());
  EXPECT_TRUE(l.closed(9) && l.closed(3));
}

TEST(Leader, DoesNotLeadWhenTheEpochsAreExhausted) {
  Memberships alone = voters(1);
  zab::History log = testing::history(zx(4, 0), {});
  Effects effects;
  const Leader leader(LeaderConfig{ServerId{1}, testing::kShort}, alone, log, Leader::Epochs{kEpochMax, 4},
                      Instant{1000}, effects);
  EXPECT_TRUE(leader.over());
  EXPECT_TRUE(effects.disk.empty());
}

TEST(Leader, SyncsNoLearnerBeforeAQuorumHasPromised) {
  Leading l({.membership = voters(5)});
  l.connect(2).greet(2).connect(3).greet(3).promise(2, zx(4, 3));
  EXPECT_EQ(l.leader.phase(), Phase::kDiscovery);
  EXPECT_EQ(l.sent(2), Story{"LEADERINFO 5.0"});
  l.promise(3, zx(4, 2));
  EXPECT_EQ(l.leader.phase(), Phase::kSynchronisation);
  EXPECT_EQ(l.sent(2), (Story{"LEADERINFO 5.0", "DIFF 4.3", "NEWLEADER 5.0"}));
  EXPECT_EQ(l.sent(3), (Story{"LEADERINFO 5.0", "DIFF 4.3", "PROPOSAL 4.3", "COMMIT 4.3", "NEWLEADER 5.0"}));
}

TEST(Leader, AnEarlierPromiseDoesNotCountAgain) {
  // -1: it may have promised this epoch to another candidate, so two could be established in one epoch.
  Leading l;
  l.connect(2).greet(2).promise(2, zx(4, 3), -1);
  EXPECT_EQ(l.leader.phase(), Phase::kDiscovery);
  l.bring(3);
  EXPECT_EQ(l.leader.phase(), Phase::kSynchronisation);
  EXPECT_EQ(l.leader.find(Leading::link(2))->stage, Stage::kSyncing);  // It is synced all the same.
}

TEST(Leader, APromiseOfAServerWithoutAKnownHistoryDoesNotCount) {
  Leading l;
  l.bring(2, Zxid{-1});
  EXPECT_EQ(l.leader.phase(), Phase::kDiscovery);
  l.bring(3);
  EXPECT_EQ(l.leader.phase(), Phase::kSynchronisation);
}

TEST(Leader, AnObserversPromiseDoesNotCount) {
  Leading l;
  l.connect(2).greet(2).connect(4).greet(4, 4, PacketType::kObserverInfo).promise(4, zx(4, 3));
  EXPECT_EQ(l.leader.phase(), Phase::kDiscovery);
}

TEST(Leader, AVoterThatConnectsAsAnObserverIsNotCounted) {
  Leading l;
  l.connect(2).greet(2, 4, PacketType::kObserverInfo);
  EXPECT_EQ(l.orders(), Story{});
}

TEST(Leader, DropsALearnerThatHasALaterHistory) {
  for (const auto& [last, current] : {std::pair{zx(4, 4), 4}, std::pair{zx(4, 1), 5}}) {
    Leading l;
    l.connect(2).greet(2).promise(2, last, current);
    EXPECT_TRUE(l.closed(2)) << testing::text(last);
    EXPECT_EQ(l.leader.phase(), Phase::kDiscovery);
  }
}

TEST(Leader, ALongerHistoryIsTruncatedOnceAQuorumHasPromised) {
  Leading l;
  l.with({2}).bring(3, zx(4, 9));
  EXPECT_FALSE(l.closed(3));
  EXPECT_EQ(l.sent(3), (Story{"LEADERINFO 5.0", "TRUNC 4.3", "NEWLEADER 5.0"}));
}

TEST(Leader, APromiseCountsEvenIfItsLinkBreaks) {
  Leading l({.membership = voters(5)});
  l.connect(2).greet(2).connect(3).greet(3).promise(2, zx(4, 3));
  l.leader.on_link_down(Leading::link(2), l.now, l.effects);
  l.promise(3, zx(4, 3));
  EXPECT_EQ(l.leader.phase(), Phase::kSynchronisation);
}

// --- learners that may join ---

TEST(Leader, StrangersGetNothing) {
  Leading l;
  l.connect(9).greet(9);
  EXPECT_TRUE(l.closed(9));
  EXPECT_EQ(l.sent(9), Story{});
  l.connect(1).greet(1);  // another process claims to be us
  EXPECT_TRUE(l.closed(1));
}

TEST(Leader, InvalidGreetingsCloseTheLink) {
  Leading l;
  l.connect(2).say(2, PacketType::kAck, zx(5, 0));
  EXPECT_TRUE(l.closed(2));
  l.connect(3).say(3, PacketType::kFollowerInfo, zx(4, 0));
  EXPECT_TRUE(l.closed(3));
}

TEST(Leader, ALaterMembershipOrAnOlderProtocolIsRefused) {
  Leading l;
  const wire::LearnerInfo later{.server = ServerId{2}, .config_version = 7};
  l.connect(2).say(2, PacketType::kFollowerInfo, zx(4, 0), wire::encode(later));
  EXPECT_TRUE(l.closed(2));
  const wire::LearnerInfo older{.server = ServerId{3}, .protocol_version = 1};
  l.connect(3).say(3, PacketType::kFollowerInfo, zx(4, 0), wire::encode(older));
  EXPECT_TRUE(l.closed(3));
}

TEST(Leader, TheOldestConnectionWithoutAGreetingIsDroppedForANewOne) {
  Leading l;
  l.connect(2).greet(2);
  for (std::int64_t link = 100; link < 164; ++link) l.connect(link);
  EXPECT_TRUE(l.effects.close.empty());
  l.connect(200);
  EXPECT_TRUE(l.closed(100));
  EXPECT_FALSE(l.closed(101));
  EXPECT_FALSE(l.closed(2)) << "it has said who it is";
  const wire::LearnerInfo three{.server = ServerId{3}};
  l.say(200, PacketType::kFollowerInfo, zx(4, 0), wire::encode(three));
  EXPECT_EQ(l.sent(200), Story{"LEADERINFO 5.0"});
}

// Promises are durable, so one false claim could use up all epochs, for good.
TEST(Leader, RefusesAnEpochFarAboveEveryKnownEpoch) {
  for (const PacketType type : {PacketType::kFollowerInfo, PacketType::kObserverInfo}) {
    for (const std::uint32_t claimed : {4 + kEpochJumpMax + 1, kEpochMax - 1, kEpochMax, ~std::uint32_t{0}}) {
      Leading l;
      const std::int64_t server = type == PacketType::kObserverInfo ? 4 : 2;
      l.connect(server).greet(server, claimed, type);
      EXPECT_TRUE(l.closed(server)) << claimed;
      ASSERT_FALSE(l.effects.log.empty());
      EXPECT_NE(l.effects.log.back().find("too far above 4, the highest known here"), std::string::npos);
      l.connect(3).greet(3);
      EXPECT_EQ(l.leader.epoch(), 5u) << claimed;
    }
  }
}

TEST(Leader, LeadsWithAnEpochAboveEveryAcceptedClaim) {
  Leading l;
  l.connect(2).greet(2, 4 + kEpochJumpMax);
  EXPECT_EQ(l.leader.epoch(), 4 + kEpochJumpMax + 1);
}

TEST(Leader, AClaimedEpochDoesNotMakeALaterOneBelievable) {
  Leading l({.membership = voters(5)});
  l.connect(2).greet(2, 4 + kEpochJumpMax);
  l.connect(3).greet(3, 4 + 2 * kEpochJumpMax);
  EXPECT_TRUE(l.closed(3));
  EXPECT_FALSE(l.closed(2));
}

TEST(Leader, ASecondLinkOfAServerReplacesTheFirst) {
  Leading l;
  l.with({2});
  const wire::LearnerInfo info{.server = ServerId{2}};
  l.connect(20).say(20, PacketType::kFollowerInfo, zx(5, 0), wire::encode(info));
  EXPECT_TRUE(l.closed(2));
  EXPECT_FALSE(l.closed(20));
  EXPECT_EQ(l.leader.find(Leading::link(2)), nullptr);
}

TEST(Leader, APacketOutOfTurnClosesTheLink) {
  Leading l({.membership = voters(5)});
  l.connect(2).greet(2).ack(2, zx(5, 0));  // waits for an epoch
  EXPECT_TRUE(l.closed(2));
  l.connect(3).greet(3).connect(4).greet(4).promise(3, zx(4, 3)).ack(3, zx(5, 0));
  EXPECT_TRUE(l.closed(3));  // waits for a quorum of promises
}

// --- synchronisation ---

TEST(Leader, IsEstablishedByAQuorumThatHasItsHistoryOnDisk) {
  Leading l({.membership = voters(5)});
  l.connect(2).greet(2).connect(3).greet(3).promise(2, zx(4, 3)).promise(3, zx(4, 3)).ack(2, zx(5, 0));
  EXPECT_EQ(l.leader.phase(), Phase::kSynchronisation);
  l.forget().ack(3, zx(5, 0));
  EXPECT_EQ(l.leader.phase(), Phase::kBroadcast);
  EXPECT_EQ(l.sent(2), Story{"UPTODATE"});
  EXPECT_EQ(l.sent(3), Story{"UPTODATE"});
}

TEST(Leader, CountsItselfOnlyOnceItsEpochIsDurable) {
  Leading l({.disk_answers_at_once = false});
  l.connect(2).greet(2).saved(EpochKind::kAccepted, 5).promise(2, zx(4, 3));
  EXPECT_EQ(l.orders(), (Story{"acceptedEpoch 5", "currentEpoch 5"}));
  l.ack(2, zx(5, 0));
  EXPECT_EQ(l.leader.phase(), Phase::kSynchronisation);
  l.saved(EpochKind::kCurrent, 5);
  EXPECT_EQ(l.leader.phase(), Phase::kBroadcast);
}

TEST(Leader, ASyncedObserverDoesNotEstablishALeader) {
  Leading l;
  l.bring(2).join_observer(4);
  EXPECT_EQ(l.leader.phase(), Phase::kSynchronisation);
  l.ack(2, zx(5, 0));
  EXPECT_EQ(l.leader.phase(), Phase::kBroadcast);
}

TEST(Leader, AnEnsembleOfOneLeadsAsSoonAsTheEpochIsOnDisk) {
  Leading l({.membership = voters(1)});
  EXPECT_EQ(l.leader.phase(), Phase::kBroadcast);
  EXPECT_EQ(l.orders(), (Story{"acceptedEpoch 5", "currentEpoch 5"}));
  l.propose(1);
  EXPECT_EQ(l.h.committed(), zx(5, 1));
}

TEST(Leader, SendsTheSnapshotThenLaterCommitsThenNewLeader) {
  // ZOOKEEPER-3104: if NEWLEADER came before the last transaction of the state, the learner could serve
  // without it.
  Leading l({.log = history(zx(4, 2), {zx(4, 3)}, {.txns = 1})});
  l.with({2}).forget();
  l.bring(3, zx(4, 1));
  EXPECT_EQ(l.sent(3), (Story{"LEADERINFO 5.0", "SNAP 4.3", "the state"}));

  l.propose(1).ack(2, zx(5, 1)).propose(2).ack(2, zx(5, 2)).propose(3);
  l.h.set_applied(zx(5, 2));  // The window is small, but transactions that the state may lack are kept.
  EXPECT_EQ(l.sent(3), (Story{"LEADERINFO 5.0", "SNAP 4.3", "the state"}));

  l.forget().leader.on_state_sent(Leading::link(3), l.now, l.effects);
  EXPECT_EQ(l.sent(3), (Story{"PROPOSAL 5.1", "COMMIT 5.1", "PROPOSAL 5.2", "COMMIT 5.2", "NEWLEADER 5.0",
                              "PROPOSAL 5.3"}));
}

TEST(Leader, ALateLearnerGetsOutstandingProposalsAfterNewLeader) {
  Leading l;
  l.with({2}).propose(1).forget();
  l.bring(3);
  EXPECT_EQ(l.sent(3), (Story{"LEADERINFO 5.0", "DIFF 4.3", "NEWLEADER 5.0", "PROPOSAL 5.1"}));
  l.forget().ack(3, zx(5, 0));
  EXPECT_EQ(l.sent(3), Story{"UPTODATE"});
}

TEST(Leader, AnObserverGetsNoOutstandingProposals) {
  Leading l;
  l.with({2}).propose(1).forget().join_observer(4);
  EXPECT_EQ(l.sent(4), (Story{"LEADERINFO 5.0", "DIFF 4.3", "NEWLEADER 5.0", "UPTODATE"}));
  l.forget().ack(2, zx(5, 1));
  EXPECT_EQ(l.sent(4), Story{"INFORM 5.1"});
}

// --- time ---

TEST(Leader, GivesUpIfNoQuorumConnectsOrIsSyncedWithinInitLimit) {
  Leading alone;
  alone.wait(kShort.init_ms() - 1);
  EXPECT_FALSE(alone.leader.over());
  alone.wait(1);
  EXPECT_EQ(alone.leader.why_over(), "no quorum of followers connected within initLimit");

  Leading unsynced;
  unsynced.bring(2).wait(kShort.init_ms());
  EXPECT_EQ(unsynced.leader.why_over(), "no quorum was synced within initLimit");
}

// Servers that are further behind than the window get the state.
LeadingOptions without_a_window(std::size_t kept_bytes_max = LeaderConfig{}.kept_bytes_max) {
  return {.log = history(zx(4, 3), {}), .kept_bytes_max = kept_bytes_max};
}

TEST(Leader, ASlowButSteadySnapshotMayTakeLongerThanInitLimit) {
  Leading first(without_a_window());
  first.bring(2, zx(4, 1));
  for (int i = 0; i < 30; ++i) {
    first.leader.on_taken(Leading::link(2), first.now);
    first.wait(kShort.init_ms() - 1);
    ASSERT_FALSE(first.leader.over()) << "nobody else could make the quorum";
  }
  first.wait(1);
  EXPECT_EQ(first.leader.why_over(), "no quorum was synced within initLimit");
}

TEST(Leader, ASlowButSteadySnapshotKeepsALateLearnerToo) {
  Leading l(without_a_window());
  l.connect(2).greet(2).promise(2, zx(4, 3)).ack(2, zx(5, 0)).bring(3, zx(4, 1));
  const auto live_for = [&](std::int64_t ms, bool taking) {
    for (std::int64_t i = 0; i < ms / kShort.tick_ms; ++i) {
      if (taking) l.leader.on_taken(Leading::link(3), l.now);
      l.wait(kShort.ping_ms()).answer_ping(2).wait(kShort.ping_ms()).answer_ping(2);
    }
  };
  live_for(5 * kShort.init_ms(), true);
  EXPECT_FALSE(l.closed(3));
  live_for(2 * kShort.init_ms(), false);
  EXPECT_TRUE(l.closed(3));
  EXPECT_FALSE(l.closed(2));
}

TEST(Leader, ProgressOfItsSocketDoesNotKeepAServingFollowerAlive) {
  Leading l;
  l.with({2, 3});
  for (int i = 0; i < 20 && !l.closed(3); ++i) {
    l.leader.on_taken(Leading::link(3), l.now);
    l.wait(kShort.ping_ms()).answer_ping(2);
  }
  EXPECT_TRUE(l.closed(3));
}

TEST(Leader, PingsLearnersThatWaitForAQuorum) {
  Leading l({.membership = voters(5)});
  l.connect(2).greet(2).connect(3).greet(3).promise(2, zx(4, 3)).promise(3, zx(4, 3)).ack(2, zx(5, 0));
  l.forget().wait(kShort.ping_ms());
  EXPECT_EQ(l.sent(2), Story{"PING 4.3"});  // synchronised; a quorum is not
  EXPECT_EQ(l.sent(3), Story{"PING 4.3"});  // perhaps busy with its disk
  l.answer_ping(2);
  EXPECT_TRUE(l.closed(2)) << "it has nothing to answer";
}

TEST(Leader, DropsALearnerIfKeptTransactionsExceedTheMemoryLimit) {
  Leading l(without_a_window(1000));
  l.connect(2).greet(2).promise(2, zx(4, 3)).ack(2, zx(5, 0)).bring(3, zx(4, 1)).forget();
  for (std::uint32_t i = 1; l.h.window_bytes() <= 1000; ++i) {
    l.propose(i).ack(2, zx(5, i));
    l.h.set_applied(zx(5, i));
    EXPECT_FALSE(l.closed(3));
  }
  l.wait(kShort.tick_ms).answer_ping(2);
  EXPECT_TRUE(l.closed(3));
  EXPECT_FALSE(l.closed(2));
}

TEST(Leader, SendsNothingAfterItHasSteppedDown) {
  Leading l;
  l.bring(2);
  l.leader.step_down("for the test");
  l.forget().ack(2, zx(5, 0));
  EXPECT_EQ(l.sent(2), Story{});
}

}  // namespace
}  // namespace drover::zab

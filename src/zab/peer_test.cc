// SPDX-License-Identifier: Apache-2.0
//
// Whole servers: roles that begin and end, held links, and waiting for the disk.
#include "zab/peer.h"

#include <gtest/gtest.h>

#include "zab/ensemble_testing.h"

namespace drover::zab {
namespace {

using testing::batch;
using testing::Disk;
using testing::Ensemble;
using testing::history;
using testing::notification;
using testing::ordered;
using testing::sent_to;
using testing::Story;
using testing::voters;
using testing::zx;
using testing::zxids_in;
using wire::PacketType;
using wire::PeerState;

Disk with_log(std::uint32_t last) {
  Disk disk{.accepted = 4, .current = 4, .snapshot = zx(4, 0)};
  for (std::uint32_t i = 1; i <= last; ++i) disk.log.push_back(zx(4, i));
  return disk;
}

Ensemble three(std::uint32_t log1 = 3, std::uint32_t log2 = 3, std::uint32_t log3 = 3) {
  Ensemble e(3, 1);
  e.disk(1) = with_log(log1);
  e.disk(2) = with_log(log2);
  e.disk(3) = with_log(log3);
  e.disk(4) = with_log(0);
  return e;
}

// --- ensembles ---

TEST(Peer, ThreeServersElectTheLongestHistoryAndServe) {
  Ensemble e = three(2, 3, 1);
  e.start({1, 2, 3});
  e.pass(300);
  EXPECT_EQ(e.leader(), 2);
  for (const std::int64_t id : {1, 2, 3}) {
    EXPECT_TRUE(e.peer(id).active()) << id;
    EXPECT_EQ(e.peer(id).current_epoch(), 5u);
    EXPECT_EQ(e.disk(id).last(), zx(4, 3));
  }
}

TEST(Peer, AWriteIsCommittedEverywhere) {
  Ensemble e = three();
  e.start({1, 2, 3, 4});
  e.pass(300);
  ASSERT_EQ(e.leader(), 3);
  e.propose(3, 1);
  e.run();
  for (const std::int64_t id : {1, 2, 3, 4}) EXPECT_EQ(e.peer(id).history().committed(), zx(5, 1)) << id;
}

TEST(Peer, CountsElectionsAndSyncs) {
  Ensemble e = three();
  e.start({1, 2, 3, 4});
  e.pass(300);
  ASSERT_EQ(e.leader(), 3);
  e.propose(3, 1);
  e.run();
  const PeerCounts leader = e.peer(3).counts();
  EXPECT_EQ(leader.looking, 1U);
  EXPECT_EQ(leader.election_ms.count, 1U);
  EXPECT_EQ(leader.leader_unavailable_ms, leader.unavailable_ms);
  EXPECT_EQ(leader.led.proposals, 1U);
  EXPECT_EQ(leader.led.commits, 1U);
  EXPECT_EQ(leader.led.diffs + leader.led.snaps, 3U);
  const PeerCounts follower = e.peer(1).counts();
  EXPECT_EQ(follower.unavailable_ms.count, 1U);
  EXPECT_EQ(follower.leader_unavailable_ms.count, 0U);
  EXPECT_EQ(follower.led.proposals, 0U);
  EXPECT_EQ(follower.learned.proposals, 1U);
  EXPECT_EQ(follower.learned.commits, 1U);
  EXPECT_EQ(follower.follower_sync_ms.count, 1U);
  EXPECT_EQ(leader.follower_sync_ms.count, 0U);
  const PeerCounts observer = e.peer(4).counts();
  EXPECT_EQ(observer.learned.proposals, 0U);
  EXPECT_EQ(observer.learned.commits, 1U);
  EXPECT_EQ(observer.observer_sync_ms.count, 1U);
  EXPECT_EQ(leader.led.diffs_under_way.count + leader.led.snaps_under_way.count, 3U);

  // The counters of a former leader are kept.
  e.crash(1);
  e.crash(2);
  e.pass(60'000);
  EXPECT_EQ(e.leader(), 0);
  EXPECT_EQ(e.peer(3).counts().led.proposals, 1U);
  EXPECT_GE(e.peer(3).counts().looking, 2U);
}

TEST(Peer, AWipedServerAndAStaleOneDoNotElectALeader) {
  // M4: 2 was wiped after 2 and 3 had agreed on 4.2 and 4.3, which 1 never saw.
  Ensemble e = three(1, 3, 3);
  e.disk(2) = {.wiped = true};
  e.start({1, 2});
  e.pass(5000);
  EXPECT_EQ(e.leader(), 0);
  e.start({3});
  e.pass(5000);
  EXPECT_EQ(e.leader(), 3);
  for (const std::int64_t id : {1, 2, 3}) EXPECT_EQ(e.disk(id).last(), zx(4, 3)) << id;
}

TEST(Peer, NewServersWithoutAnyHistoryFormAnEnsemble) {
  Ensemble e(3);
  for (const std::int64_t id : {1, 2, 3}) e.disk(id) = {.wiped = true};
  e.start({1, 2, 3});
  e.pass(1000);
  EXPECT_EQ(e.leader(), 3);
  for (const std::int64_t id : {1, 2, 3}) EXPECT_FALSE(e.disk(id).wiped);  // An empty snapshot marks it.
}

TEST(Peer, AnUncommittedTailIsTruncatedBeforeItsServerServesAgain) {
  Ensemble e = three();
  e.start({1, 2, 3});
  e.pass(300);
  ASSERT_EQ(e.leader(), 3);
  e.isolate(3);
  e.propose(3, 1);
  e.pass(1000);
  ASSERT_EQ(e.leader(), 2);
  EXPECT_EQ(e.disk(3).last(), zx(5, 1));
  e.heal(3);
  e.pass(60'000);
  EXPECT_EQ(e.leader(), 2);
  EXPECT_TRUE(e.peer(3).active());
  EXPECT_EQ(e.disk(3).last(), zx(4, 3));
}

TEST(Peer, ALeaderThatLosesItsQuorumAndFollowersThatLoseTheirLeaderLookAgain) {
  Ensemble e = three();
  e.start({1, 2, 3});
  e.pass(300);
  e.isolate(3);
  e.pass(700);
  EXPECT_EQ(e.peer(3).role(), Role::kLooking);
  EXPECT_EQ(e.peer(3).why_looking(), "no packets from a quorum of followers within syncLimit");
  EXPECT_EQ(e.leader(), 2);
  EXPECT_EQ(e.peer(2).current_epoch(), 6u);
}

TEST(Peer, AFollowerThatReturnsGetsADiff) {
  Ensemble e = three();
  e.start({1, 2, 3});
  e.pass(300);
  e.crash(1);
  e.propose(3, 1);
  e.propose(3, 2);
  e.pass(100);
  e.start({1});
  e.pass(300);
  EXPECT_EQ(zxids_in(e.peer(1).history()), (Story{"4.1", "4.2", "4.3", "5.1", "5.2"}));
  EXPECT_TRUE(e.peer(1).active());
}

TEST(Peer, AServerThatHasPromisedALaterEpochIsNotLeftOut) {
  // It was a candidate twice. Each time it was heard by a quorum that was gone before it could promise.
  Ensemble e = three();
  e.start({2, 3});
  e.pass(300);
  ASSERT_EQ(e.leader(), 3);
  e.propose(3, 1);
  e.disk(1).accepted = 7;
  e.start({1});
  e.pass(1000);
  EXPECT_NE(e.leader(), 0);
  for (const std::int64_t id : {1, 2, 3}) {
    EXPECT_TRUE(e.peer(id).active()) << id;
    EXPECT_EQ(e.peer(id).current_epoch(), 8u) << id;
    EXPECT_EQ(e.disk(id).last(), zx(5, 1)) << id;
  }
}

// --- one server, by hand ---

struct Alone {
  explicit Alone(std::int64_t me = 1, zab::History log = history(zx(4, 0), {zx(4, 1), zx(4, 2)}))
      : peer(PeerConfig{.me = ServerId{me}, .timing = {.tick_ms = 100}}, voters(3), std::move(log),
             PeerStart{.accepted_epoch = 4, .current_epoch = 4}) {
    peer.start(now, effects);
  }
  // The others are already settled on `leader`.
  void join(std::int64_t leader) {
    for (const std::int64_t id : {1, 2, 3}) {
      if (ServerId{id} == peer.config().me) continue;
      const auto state = id == leader ? PeerState::kLeading : PeerState::kFollowing;
      peer.on_notification(ServerId{id}, notification({state, leader, raw(zx(4, 2)), 1, 4}), now, effects);
    }
  }
  void say(LinkId link, PacketType type, Zxid zxid, const wire::Nullable& data = {}) {
    peer.on_packet(link, {type, zxid, data}, now, effects);
    peer.on_packets_end(link, now, effects);
  }
  LinkId follow(std::int64_t leader = 3) {
    join(leader);
    const LinkId link = effects.dial->link;
    peer.on_link({link, LinkEvent::Kind::kUp}, now, effects);
    say(link, PacketType::kLeaderInfo, zx(5, 0), wire::encode_int(wire::kQuorumProtocolVersion));
    peer.on_disk(EpochSaved{EpochKind::kAccepted, 5}, now, effects);
    effects = {};
    return link;
  }
  bool closed(LinkId link) const {
    return std::find(effects.close.begin(), effects.close.end(), link) != effects.close.end();
  }

  Instant now{1000};
  Effects effects;
  Peer peer;
};

TEST(Peer, IfTheLeaderDoesNotStepDownItObservesAndVotesAgainLater) {
  // As with Java's leader: its epoch does not change, however often we come.
  Alone a;
  a.follow();
  a.peer.on_link({LinkId{kDialledLinks | 1}, LinkEvent::Kind::kDown}, a.now, a.effects);
  ASSERT_EQ(a.peer.accepted_epoch(), 5u);
  const auto come = [&] {
    a.effects = {};
    a.join(3);
    const LinkId link = a.effects.dial->link;
    a.peer.on_link({link, LinkEvent::Kind::kUp}, a.now, a.effects);
    const Role role = a.peer.role();
    a.say(link, PacketType::kLeaderInfo, zx(4, 0), wire::encode_int(wire::kQuorumProtocolVersion));
    return role;
  };
  EXPECT_EQ(come(), Role::kFollowing);
  EXPECT_EQ(come(), Role::kFollowing);
  EXPECT_EQ(come(), Role::kObserving);
  EXPECT_EQ(a.peer.role(), Role::kObserving);
  a.peer.on_link({a.peer.learner()->link(), LinkEvent::Kind::kDown}, a.now, a.effects);
  EXPECT_EQ(a.peer.role(), Role::kLooking);
  EXPECT_EQ(a.effects.notify.back().notification.leader, ServerId{1});  // It votes.
  EXPECT_EQ(come(), Role::kFollowing);
}

TEST(Peer, AnElectionWaitsForTheDisk) {
  Alone a;
  const LinkId link = a.follow();
  a.say(link, PacketType::kDiff, zx(4, 2));
  a.say(link, PacketType::kProposal, zx(4, 3), testing::entry(zx(4, 3)));
  a.effects = {};
  a.peer.on_link({link, LinkEvent::Kind::kDown}, a.now, a.effects);
  EXPECT_EQ(a.peer.role(), Role::kLooking);
  EXPECT_TRUE(a.effects.notify.empty());  // Its vote is not known before 4.3 is on disk.

  a.peer.on_disk(TxnsDurable{zx(4, 3)}, a.now, a.effects);
  ASSERT_FALSE(a.effects.notify.empty());
  EXPECT_EQ(a.effects.notify.front().notification.zxid, zx(4, 3));
}

TEST(Peer, NotificationsThatArriveWhileTheDiskIsBusyAreHandledLater) {
  Alone a;
  const LinkId link = a.follow();
  a.say(link, PacketType::kDiff, zx(4, 2));
  a.say(link, PacketType::kProposal, zx(4, 3), testing::entry(zx(4, 3)));
  a.peer.on_link({link, LinkEvent::Kind::kDown}, a.now, a.effects);
  const auto better = notification({PeerState::kLooking, 2, raw(zx(4, 9)), 2, 4});
  a.peer.on_notification(ServerId{2}, better, a.now, a.effects);
  a.effects = {};
  a.peer.on_disk(TxnsDurable{zx(4, 3)}, a.now, a.effects);
  EXPECT_EQ(a.effects.notify.back().notification.leader, ServerId{2});
}

TEST(Peer, ALateDiskAnswerForTruncatedTransactionsIsIgnored) {
  Alone a;
  LinkId link = a.follow();
  a.say(link, PacketType::kDiff, zx(4, 2));
  a.say(link, PacketType::kProposal, zx(4, 3), testing::entry(zx(4, 3)));  // order 1, under way
  a.peer.on_disk(TxnsDurable{zx(4, 3)}, a.now, a.effects);
  a.say(link, PacketType::kProposal, zx(4, 4), testing::entry(zx(4, 4)));  // order 2
  a.peer.on_link({link, LinkEvent::Kind::kDown}, a.now, a.effects);
  a.peer.on_disk(TxnsDurable{zx(4, 4)}, a.now, a.effects);
  a.now = a.now + 1;
  a.effects = {};
  a.join(3);
  ASSERT_TRUE(a.effects.dial);
  link = a.effects.dial->link;
  a.peer.on_link({link, LinkEvent::Kind::kUp}, a.now, a.effects);
  a.say(link, PacketType::kLeaderInfo, zx(6, 0), wire::encode_int(wire::kQuorumProtocolVersion));
  a.peer.on_disk(EpochSaved{EpochKind::kAccepted, 6}, a.now, a.effects);
  a.effects = {};
  a.say(link, PacketType::kTrunc, zx(4, 2));
  a.say(link, PacketType::kProposal, zx(4, 3), testing::entry(zx(4, 3), "another"));
  EXPECT_EQ(ordered(a.effects), (Story{"truncate to 4.2", "append 4.3"}));
  // The same zxid is on the disk, but this is the one that is cut off. Nothing is durable before the disk has
  // truncated and written again.
  EXPECT_EQ(a.peer.history().durable(), zx(4, 2));
  a.peer.on_disk(LogTruncated{}, a.now, a.effects);
  EXPECT_EQ(a.peer.history().durable(), zx(4, 2));
  a.peer.on_disk(TxnsDurable{zx(4, 3)}, a.now, a.effects);
  EXPECT_EQ(a.peer.history().durable(), zx(4, 3));
}

TEST(Peer, AnImpossibleTruncationSetsTheHistoryAside) {
  Alone a;
  const LinkId link = a.follow();
  a.say(link, PacketType::kTrunc, zx(4, 1));
  a.effects = {};
  a.peer.on_disk(LogTruncated{.done = false}, a.now, a.effects);
  EXPECT_TRUE(a.effects.discard_history);
  EXPECT_TRUE(a.effects.notify.empty());
  a.peer.on_disk(HistoryDiscarded{}, a.now, a.effects);
  EXPECT_FALSE(a.peer.knows_history());
  ASSERT_FALSE(a.effects.notify.empty());
  EXPECT_EQ(a.effects.notify.front().notification.zxid, Zxid{-1});  // It has no vote until it is synced.
}

TEST(Peer, AfterAnIncompleteSnapshotTheStateIsReloadedBeforeTheNextElection) {
  // ZOOKEEPER-3642
  Alone a;
  const LinkId link = a.follow();
  a.say(link, PacketType::kSnap, zx(4, 9));
  a.effects = {};
  a.peer.on_link({link, LinkEvent::Kind::kDown}, a.now, a.effects);
  EXPECT_EQ(testing::ordered(a.effects), Story{"read the state"});
  EXPECT_TRUE(a.effects.notify.empty());
  a.peer.on_disk(StateReloaded{}, a.now, a.effects);
  ASSERT_FALSE(a.effects.notify.empty());
  EXPECT_EQ(a.effects.notify.front().notification.zxid, zx(4, 2));
}

TEST(Peer, EarlyLearnersAreHeldUntilItLeads) {
  Alone a(3);
  const LinkId early{7};
  a.peer.on_link({early, LinkEvent::Kind::kAccepted}, a.now, a.effects);
  a.say(early, PacketType::kFollowerInfo, zx(4, 0), wire::encode(wire::LearnerInfo{.server = ServerId{1}}));
  EXPECT_FALSE(a.closed(early));
  for (const std::int64_t id : {1, 2}) {
    const auto vote = notification({PeerState::kLooking, 3, raw(zx(4, 2)), 1, 4});
    a.peer.on_notification(ServerId{id}, vote, a.now, a.effects);
  }
  ASSERT_EQ(a.peer.role(), Role::kLeading);
  EXPECT_EQ(a.peer.leader()->epoch(), 5u);  // Its greeting was not lost.
}

TEST(Peer, AHeldLinkMayOnlyGreetAndIsHeldNoLongerThanASecond) {
  Alone a;
  const LinkId hasty{7};
  const LinkId patient{8};
  for (const LinkId link : {hasty, patient}) {
    a.peer.on_link({link, LinkEvent::Kind::kAccepted}, a.now, a.effects);
    a.say(link, PacketType::kFollowerInfo, zx(4, 0), wire::encode(wire::LearnerInfo{.server = ServerId{2}}));
  }
  a.say(hasty, PacketType::kAckEpoch, zx(4, 0));
  EXPECT_TRUE(a.closed(hasty));
  EXPECT_FALSE(a.closed(patient));
  a.peer.on_time(a.now + 1000, a.effects);
  EXPECT_TRUE(a.closed(patient));
}

TEST(Peer, AHeldLearnerIsDroppedAfterASecondIfItIsNotElected) {
  // 3 and 4 elected 5 in a round that 5 has left because of 1. They wait for 5, which has heard only of 3.
  Effects effects;
  Peer peer(PeerConfig{.me = ServerId{5}, .timing = {.tick_ms = 1000, .init_limit_ticks = 10}}, voters(5),
            history(zx(4, 0), {}), PeerStart{.accepted_epoch = 4, .current_epoch = 4});
  peer.start(Instant{1000}, effects);
  peer.on_notification(ServerId{1}, notification({PeerState::kLooking, 5, raw(zx(4, 0)), 2, 4}),
                       Instant{1000}, effects);
  peer.on_notification(ServerId{3}, notification({PeerState::kFollowing, 5, raw(zx(4, 0)), 1, 4}),
                       Instant{1000}, effects);
  for (const std::uint64_t id : {3, 4})
    peer.on_link({LinkId{id}, LinkEvent::Kind::kAccepted}, Instant{1000}, effects);
  ASSERT_EQ(peer.role(), Role::kLooking);
  // However rarely it repeats its vote by then.
  Instant now{1000};
  for (effects = {}; now < Instant{2000}; now = *peer.next_time()) {
    peer.on_time(now, effects);
    EXPECT_TRUE(effects.close.empty());
  }
  peer.on_time(now, effects);
  EXPECT_EQ(now, Instant{2000});
  EXPECT_EQ(effects.close.size(), 2U) << "so that they look again, and hear of the later round";
}

TEST(Peer, HeldLinksAreLimitedAndClosedWhenItFollows) {
  Alone a;
  const LinkId greeted{1};
  a.peer.on_link({greeted, LinkEvent::Kind::kAccepted}, a.now, a.effects);
  a.say(greeted, PacketType::kFollowerInfo, zx(4, 0), wire::encode(wire::LearnerInfo{.server = ServerId{2}}));
  for (std::uint64_t n = 2; n <= 200; ++n)
    a.peer.on_link({LinkId{n}, LinkEvent::Kind::kAccepted}, a.now, a.effects);
  EXPECT_FALSE(a.closed(greeted)) << "it has said who it is";
  EXPECT_TRUE(a.closed(LinkId{2})) << "the oldest stranger makes room";
  EXPECT_TRUE(a.closed(LinkId{137}));
  EXPECT_FALSE(a.closed(LinkId{138})) << "64 are held";
  EXPECT_FALSE(a.closed(LinkId{200}));
  a.join(3);
  EXPECT_TRUE(a.closed(greeted));
  a.effects = {};
  a.peer.on_link({LinkId{201}, LinkEvent::Kind::kAccepted}, a.now, a.effects);
  EXPECT_TRUE(a.closed(LinkId{201}));
}

TEST(Peer, ALinkThatCameUpTooLateIsClosed) {
  Alone a;
  a.peer.on_link({LinkId{kDialledLinks | 9}, LinkEvent::Kind::kUp}, a.now, a.effects);
  EXPECT_TRUE(a.closed(LinkId{kDialledLinks | 9}));
}

TEST(Peer, ALeaderThatStepsDownClosesItsLinksAndLooks) {
  Ensemble e = three();
  e.start({1, 2, 3});
  e.pass(300);
  Effects effects;
  e.peer(3).step_down("this epoch has no zxid left", Instant{1400}, effects);
  EXPECT_EQ(e.peer(3).role(), Role::kLooking);
  EXPECT_EQ(effects.close.size(), 2u);
  EXPECT_FALSE(effects.notify.empty());
}

TEST(Peer, ALeaderWithoutAQuorumStepsDownForAServerWithMoreHistory) {
  // Server 1 lost its disk, so its vote for 2 does not count; only 3 can complete a quorum.
  Ensemble e = three(3, 3, 4);
  e.disk(1) = {.wiped = true};
  e.start({1, 2});
  e.pass(500);
  ASSERT_EQ(e.leader(), 0);
  e.start({3});
  e.pass(600);
  EXPECT_EQ(e.leader(), 3) << "long before initLimit, which is 1000 ms";
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
//
// A learner with a leader played by the test, and a disk that answers when the test says so.
#include "zab/learner.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/text.h"
#include "zab/ping_promise.h"
#include "zab/testing.h"

namespace drover::zab {
namespace {

using testing::batch;
using testing::entry;
using testing::history;
using testing::ordered;
using testing::Story;
using testing::voters;
using testing::zx;
using testing::zxids_in;
using wire::PacketType;
using Phase = Learner::Phase;

constexpr LinkId kLink{kDialledLinks | 1};
constexpr Timing kTiming{.tick_ms = 100, .init_limit_ticks = 10, .sync_limit_ticks = 5};

// It has promised and synchronised with epoch 4; its log ends with 4.1 4.2 4.3 unless told otherwise.
struct Options {
  bool observer = false;
  bool knows_history = true;
  bool fresh = false;
  bool history_exists = false;
  std::uint64_t history_id = 0;
  std::uint32_t accepted = 4;
  Timing timing = kTiming;
  bool looks_on = false;
  bool reconfig_enabled = false;
  zab::History log = history(zx(4, 0), {zx(4, 1), zx(4, 2), zx(4, 3)});
};

class Following {
 public:
  explicit Following(const Options& options = {})
      : h(options.log),
        learner(LearnerConfig{ServerId{1}, options.observer, options.timing, options.looks_on,
                              options.reconfig_enabled},
                membership_, h,
                Learner::Start{.accepted = options.accepted,
                               .current = 4,
                               .knows_history = options.knows_history,
                               .fresh = options.fresh,
                               .history_exists = options.history_exists,
                               .history_id = options.history_id,
                               .leader = ServerId{3},
                               .link = kLink},
                now, effects) {}

  // --- packets of the leader ---
  Following& hear(PacketType type, Zxid zxid, const wire::Nullable& data = {}) {
    learner.on_packet({type, zxid, data}, now, effects);
    return *this;
  }
  Following& hear_epoch(std::uint32_t epoch) {
    return hear(PacketType::kLeaderInfo, zx(epoch, 0), wire::encode_int(wire::kQuorumProtocolVersion));
  }
  Following& propose(Zxid zxid) { return hear(PacketType::kProposal, zxid, entry(zxid)); }
  Following& commit(Zxid zxid) { return hear(PacketType::kCommit, zxid); }
  Following& flush() {
    learner.flush(effects);
    return *this;
  }

  // --- answers of the disk ---
  Following& durable(Zxid zxid) {
    h.set_durable(zxid);
    learner.on_durable(effects);
    return *this;
  }
  Following& saved(EpochKind kind, std::uint32_t epoch) {
    learner.on_epoch_saved(kind, epoch, effects);
    return *this;
  }

  // --- shortcuts to a phase of epoch 5 ---
  Following& to_sync() {
    learner.on_link_up(now, effects);
    hear_epoch(5).saved(EpochKind::kAccepted, 5);
    return forget();
  }
  Following& to_synced() {
    to_sync().hear(PacketType::kDiff, h.last());
    hear(PacketType::kNewLeader, zx(5, 0)).flush().saved(EpochKind::kCurrent, 5);
    return forget();
  }
  Following& to_broadcast() {
    to_synced().hear(PacketType::kUpToDate, Zxid{-1});
    return forget();
  }

  Following& forget() {
    effects = {};
    return *this;
  }
  Story sent() const { return testing::sent_to(kLink, effects); }
  Story orders() const { return ordered(effects); }
  const Memberships& memberships() const { return membership_; }

 private:
  Memberships membership_ = voters(3, 1);

 public:
  zab::History h;
  Instant now{1000};
  Effects effects;
  Learner learner;
};

// --- discovery ---

TEST(Learner, GreetsWithItsPromisedEpoch) {
  Following f;
  ASSERT_TRUE(f.effects.dial);
  EXPECT_EQ(f.effects.dial->server, ServerId{3});
  f.learner.on_link_up(f.now, f.effects);
  EXPECT_EQ(f.sent(), Story{"FOLLOWERINFO 4.0"});

  Following observer({.observer = true});
  observer.learner.on_link_up(observer.now, observer.effects);
  EXPECT_EQ(observer.sent(), Story{"OBSERVERINFO 4.0"});
}

TEST(Learner, WithALaterPromiseItMayJoinAsAnObserverWithAnUnusedId) {
  // With Java's leader, which neither steps down nor counts a server that is no voter.
  Following f({.observer = true, .accepted = 7, .looks_on = true});
  f.learner.on_link_up(f.now, f.effects);
  ASSERT_EQ(f.sent(), Story{"OBSERVERINFO 7.0"});
  wire::QuorumPacket greeting;
  wire::decode_packet(f.effects.send.front().bytes, {}, greeting);
  EXPECT_EQ(wire::decode_learner_info(greeting.data)->server, ServerId{~std::int64_t{1}});

  f.forget().hear_epoch(5);
  EXPECT_EQ(f.orders(), Story{});  // Nothing new is promised, and the old promise stays.
  EXPECT_EQ(f.sent(), Story{"ACKEPOCH 4.3 of epoch -1"});
  f.forget().hear(PacketType::kDiff, zx(4, 3)).hear(PacketType::kNewLeader, zx(5, 0)).flush();
  EXPECT_EQ(f.orders(), Story{"currentEpoch 5"});
  f.saved(EpochKind::kCurrent, 5).hear(PacketType::kUpToDate, Zxid{-1}).forget();
  ASSERT_EQ(f.learner.phase(), Phase::kBroadcast);
  f.hear(PacketType::kInform, zx(5, 1), entry(zx(5, 1))).flush().durable(zx(5, 1));
  EXPECT_EQ(f.h.committed(), zx(5, 1));
  EXPECT_EQ(f.sent(), Story{});  // It may not send an acknowledgement.
}

TEST(Learner, LooksOnOnlyAtALeaderThatIsTooOldToFollowButNotOlderThanItsHistory) {
  for (const std::uint32_t epoch : {3U, 7U, 8U}) {
    Following f({.observer = true, .accepted = 7, .looks_on = true});
    f.learner.on_link_up(f.now, f.effects);
    f.forget().hear_epoch(epoch);
    EXPECT_TRUE(f.learner.over()) << epoch;
    EXPECT_EQ(f.sent(), Story{}) << epoch;
    EXPECT_FALSE(f.learner.is_leader_too_old()) << epoch;
  }
}

TEST(Learner, DoesNotLookOnAtALeaderThatMayNeedItsVote) {
  Following f({.observer = true, .accepted = 7, .looks_on = true});
  f.learner.on_link_up(f.now, f.effects);
  EXPECT_EQ(f.learner.next_time(), f.now + kTiming.tick_ms);
  f.now = f.learner.next_time();
  f.learner.on_time(f.now, f.effects);
  EXPECT_TRUE(f.learner.over());
}

TEST(Learner, PromisesAnEpochOnlyOnceThatIsDurable) {
  Following f;
  f.learner.on_link_up(f.now, f.effects);
  f.forget().hear_epoch(5);
  EXPECT_EQ(f.orders(), Story{"acceptedEpoch 5"});
  EXPECT_EQ(f.sent(), Story{});

  f.saved(EpochKind::kAccepted, 4);  // The answer to an older order says nothing about this one.
  EXPECT_EQ(f.sent(), Story{});
  f.saved(EpochKind::kAccepted, 5);
  EXPECT_EQ(f.sent(), Story{"ACKEPOCH 4.3 of epoch 4"});
}

TEST(Learner, ReportsThatItMadeThisPromiseBefore) {
  Following f({.accepted = 5});
  f.learner.on_link_up(f.now, f.effects);
  f.forget().hear_epoch(5);
  EXPECT_EQ(f.orders(), Story{});
  EXPECT_EQ(f.sent(), Story{"ACKEPOCH 4.3 of epoch -1"});
}

TEST(Learner, DoesNotFollowALeaderOfAnOlderEpoch) {
  Following f({.accepted = 6});
  f.learner.on_link_up(f.now, f.effects);
  f.forget().hear_epoch(5);
  EXPECT_EQ(f.learner.why_over(), "the leader's epoch is older than the one promised");
  EXPECT_EQ(f.sent(), Story{});
}

TEST(Learner, RefusesAnInvalidEpoch) {
  Following f;
  f.learner.on_link_up(f.now, f.effects);
  f.hear_epoch(kEpochMax + 1);
  EXPECT_TRUE(f.learner.over());
  EXPECT_EQ(f.orders(), Story{});
}

TEST(Learner, ClaimsNoHistoryIfItDoesNotKnowIt) {
  Following f({.knows_history = false});
  f.learner.on_link_up(f.now, f.effects);
  f.hear_epoch(5).forget().saved(EpochKind::kAccepted, 5);
  EXPECT_EQ(f.sent(), Story{"ACKEPOCH -1 of epoch 4"});
}

TEST(Learner, AcceptsOneEpochAndNothingElseFirst) {
  Following twice;
  twice.learner.on_link_up(twice.now, twice.effects);
  twice.hear_epoch(5).hear_epoch(6);
  EXPECT_EQ(twice.learner.why_over(), "the leader proposed an epoch twice");

  Following other;
  other.learner.on_link_up(other.now, other.effects);
  other.hear(PacketType::kDiff, zx(4, 3));
  EXPECT_TRUE(other.learner.over());
}

// --- synchronisation ---

TEST(Learner, AcknowledgesNewLeaderOnlyAfterItsHistoryAndThenTheEpochAreDurable) {
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 5));
  f.propose(zx(4, 4)).commit(zx(4, 4)).propose(zx(4, 5)).commit(zx(4, 5));
  f.hear(PacketType::kNewLeader, zx(5, 0)).flush();
  // The disk carries out orders one after the other, so this order is the promise (ZOOKEEPER-4643, 4646).
  EXPECT_EQ(f.orders(), (Story{"append 4.4-4.5", "currentEpoch 5"}));
  EXPECT_EQ(f.sent(), Story{});

  f.durable(zx(4, 5));
  EXPECT_EQ(f.sent(), Story{});
  f.saved(EpochKind::kCurrent, 5);
  EXPECT_EQ(f.sent(), Story{"ACK 5.0"});
}

TEST(Learner, AcknowledgesNoProposalBeforeNewLeader) {
  // ZOOKEEPER-4685: its leader takes the first ACK for the ACK of NEWLEADER.
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 3)).hear(PacketType::kNewLeader, zx(5, 0));
  f.propose(zx(5, 1)).flush().durable(zx(5, 1));
  EXPECT_EQ(f.sent(), Story{});
  f.saved(EpochKind::kCurrent, 5);
  EXPECT_EQ(f.sent(), (Story{"ACK 5.0", "ACK 5.1"}));
}

TEST(Learner, ADiffAdvancesItOnlyAsFarAsTransactionsArrived) {
  // ZOOKEEPER-2355: the packet names the leader's last zxid, but that transaction is not here yet.
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 9)).propose(zx(4, 4)).commit(zx(4, 4)).flush();
  EXPECT_EQ(f.h.last(), zx(4, 4));
  EXPECT_EQ(f.h.committed(), zx(4, 4));
}

TEST(Learner, ADiffMeansThatItsHistoryIsCommitted) {
  zab::History log = history(zx(4, 0), {zx(4, 1)});
  log.append(batch({zx(4, 2)}));
  log.set_durable(zx(4, 2));
  Following f({.log = log});
  f.to_sync().hear(PacketType::kDiff, zx(4, 2));
  EXPECT_EQ(f.h.committed(), zx(4, 2));
}

TEST(Learner, RefusesADiffWithAHole) {
  // ZOOKEEPER-4925
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 9)).propose(zx(4, 5));
  EXPECT_EQ(f.learner.why_over(), "the leader skipped a transaction");
  EXPECT_EQ(f.flush().orders(), Story{});
}

TEST(Learner, RefusesADiffWithoutAKnownHistory) {
  Following f({.knows_history = false});
  f.to_sync().hear(PacketType::kDiff, zx(4, 9));
  EXPECT_TRUE(f.learner.over());
}

TEST(Learner, RefusesANegativeZxid) {
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 9)).propose(Zxid{-1});
  EXPECT_TRUE(f.learner.over());
  EXPECT_EQ(f.flush().h.last(), zx(4, 3));
}

TEST(Learner, RefusesTransactionsOfALaterEpochThanItsLeaders) {
  // Others would vote for it with a zxid that is later than the epoch that it then leads.
  Following proposed;
  proposed.to_broadcast().propose(zx(6, 1));
  EXPECT_TRUE(proposed.learner.over());
  for (const Zxid zxid : {zx(6, 1), Zxid{-1}}) {
    Following sent;
    sent.to_sync().hear(PacketType::kSnap, zxid);
    EXPECT_TRUE(sent.learner.over());
    EXPECT_FALSE(sent.effects.receive_snapshot);
  }
}

TEST(Learner, RefusesAProposalWithADifferentTransaction) {
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 9)).hear(PacketType::kProposal, zx(4, 4), entry(zx(4, 5)));
  EXPECT_EQ(f.learner.why_over(), "a proposal does not carry the transaction it names");
  Following empty;
  empty.to_sync().hear(PacketType::kDiff, zx(4, 9)).hear(PacketType::kProposal, zx(4, 4));
  EXPECT_TRUE(empty.learner.over());
}

TEST(Learner, TruncatesTransactionsThatTheLeaderDoesNotHave) {
  Following f;
  f.to_sync().hear(PacketType::kTrunc, zx(4, 1));
  // 4.2 and 4.3 have been in the tree since the start.
  EXPECT_EQ(f.orders(), (Story{"truncate to 4.1", "read the state"}));
  EXPECT_EQ(zxids_in(f.h), Story{"4.1"});
}

TEST(Learner, ReloadsTheStateBeforeItLogsUncommittedProposals) {
  Following f;
  f.to_sync().hear(PacketType::kTrunc, zx(4, 1)).propose(zx(5, 1)).flush();
  EXPECT_EQ(f.orders(), (Story{"truncate to 4.1", "read the state", "append 5.1"}));
  EXPECT_EQ(f.h.committed(), zx(4, 1));
}

TEST(Learner, KeepsItsStateWhenOnlyUncommittedTransactionsAreTruncated) {
  zab::History log = history(zx(4, 0), {zx(4, 1)});
  log.append(batch({zx(4, 2)}));
  log.set_durable(zx(4, 2));
  Following f({.log = log});
  f.to_sync().hear(PacketType::kTrunc, zx(4, 1));
  EXPECT_EQ(f.orders(), Story{"truncate to 4.1"});
}

TEST(Learner, DiscardsItsHistoryWhenTruncatedToAZxidItNeverLogged) {
  for (const Zxid point : {zx(4, 9), zx(5, 0)}) {
    Following f;
    f.to_sync().hear(PacketType::kTrunc, point);
    EXPECT_TRUE(f.effects.discard_history) << testing::text(point);
    EXPECT_TRUE(f.learner.over());
    EXPECT_EQ(f.orders(), Story{});
    EXPECT_EQ(zxids_in(f.h), (Story{"4.1", "4.2", "4.3"}));  // until the host has discarded it
  }
}

TEST(Learner, LetsTheDiskTruncateBeforeTheWindowInMemory) {
  Following f;
  f.to_sync().hear(PacketType::kTrunc, zx(3, 1));
  EXPECT_EQ(f.orders(), (Story{"truncate to 3.1", "read the state"}));
  EXPECT_EQ(f.h.last(), zx(3, 1));
  f.propose(zx(3, 2)).commit(zx(3, 2)).flush();
  EXPECT_EQ(f.orders(), (Story{"truncate to 3.1", "read the state", "append 3.2"}));
}

TEST(Learner, SavesTheLeadersSnapshotAndLaterTransactionsBeforeItAcknowledges) {
  Following f({.knows_history = false});
  f.to_sync().hear(PacketType::kSnap, zx(4, 8));
  EXPECT_EQ(f.effects.receive_snapshot, kLink);
  EXPECT_TRUE(f.learner.is_receiving_snapshot());
  EXPECT_EQ(f.orders(), Story{});

  f.learner.on_snapshot_received("", f.effects);
  f.propose(zx(4, 9)).commit(zx(4, 9)).hear(PacketType::kNewLeader, zx(5, 0)).flush();
  EXPECT_EQ(f.orders(), (Story{"snapshot 4.8", "append 4.9", "currentEpoch 5"}));
  EXPECT_EQ(f.h.window_begin(), zx(4, 8));
  EXPECT_EQ(f.sent(), Story{});
  f.saved(EpochKind::kCurrent, 5);
  EXPECT_EQ(f.sent(), Story{"ACK 5.0"});
}

TEST(Learner, SkipsTransactionsThatTheSnapshotContains) {
  // Java's leader under writes: it forwards from 5.1 on, and its state ends with 5.3.
  Following f;
  f.to_sync().hear(PacketType::kSnap, zx(5, 3));
  f.learner.on_snapshot_received("", f.effects);
  f.propose(zx(5, 1)).commit(zx(5, 1)).propose(zx(5, 2)).propose(zx(5, 3)).commit(zx(5, 2)).commit(zx(5, 3));
  f.propose(zx(5, 4)).propose(zx(5, 5)).commit(zx(5, 4)).hear(PacketType::kNewLeader, zx(5, 0)).flush();
  EXPECT_EQ(f.learner.why_over(), "");
  EXPECT_EQ(f.orders(), (Story{"snapshot 5.3", "append 5.4-5.5", "currentEpoch 5"}));
  EXPECT_EQ(f.h.committed(), zx(5, 4));
  f.saved(EpochKind::kCurrent, 5).commit(zx(5, 5)).hear(PacketType::kUpToDate, Zxid{-1}).flush();
  EXPECT_EQ(f.learner.phase(), Phase::kBroadcast);
  EXPECT_EQ(f.h.committed(), zx(5, 5));
}

TEST(Learner, KnowsTheMembershipInAStateEvenIfNewLeaderNeverComes) {
  // Otherwise it could lead with this state, and commit the reconfiguration with a quorum of the old members.
  const auto text = [](Zxid version) {
    return "server.1=h1:2888:3888:participant\nserver.9=h9:2888:3888:participant\nversion=" +
           hex_text(version).substr(2);
  };
  Following f({.reconfig_enabled = true});
  f.to_sync().hear(PacketType::kSnap, zx(5, 3));
  f.learner.on_snapshot_received(text(zx(5, 2)), f.effects);
  EXPECT_EQ(f.orders(), (Story{"proposed membership 5.2", "snapshot 5.3"}));
  f.learner.on_link_down();
  ASSERT_TRUE(f.memberships().proposed());
  EXPECT_TRUE(f.memberships().is_voter(ServerId{9}));

  Following later({.reconfig_enabled = true});
  later.to_sync().hear(PacketType::kSnap, zx(5, 3));
  later.learner.on_snapshot_received(text(zx(5, 4)), later.effects);
  EXPECT_EQ(later.orders(), Story{"snapshot 5.3"}) << "the state cannot hold a later transaction";
}

TEST(Learner, SkipsNothingAfterTheSnapshot) {
  Following hole;
  hole.to_sync().hear(PacketType::kSnap, zx(5, 3));
  hole.learner.on_snapshot_received("", hole.effects);
  hole.propose(zx(5, 5));
  EXPECT_EQ(hole.learner.why_over(), "the leader skipped a transaction");
  Following twice;
  twice.to_sync().hear(PacketType::kSnap, zx(5, 3));
  twice.learner.on_snapshot_received("", twice.effects);
  twice.propose(zx(5, 4)).propose(zx(5, 4));
  EXPECT_TRUE(twice.learner.over());
}

TEST(Learner, RefusesANewLeaderOfAnotherEpochAndASecondOne) {
  Following other;
  other.to_sync().hear(PacketType::kDiff, zx(4, 3)).hear(PacketType::kNewLeader, zx(6, 0));
  EXPECT_EQ(other.learner.why_over(), "NEWLEADER names another epoch than LEADERINFO");
  EXPECT_EQ(other.orders(), Story{});

  Following twice;
  twice.to_synced().hear(PacketType::kNewLeader, zx(5, 0));
  EXPECT_EQ(twice.learner.why_over(), "the leader sent NEWLEADER twice");
}

// The learner's own membership: 1, 2 and 3 with the observer 4, from a file.
const std::string kSame =
    "server.1=a:1:2:participant\nserver.2=b:1:2:participant\nserver.3=c:1:2:participant\nserver.4=d:1:2:"
    "observer\n";
const std::string kReconfigured = "server.2=b:1:2:participant\nserver.3=c:1:2:participant\nversion=500000001";

std::string reconfig(Zxid zxid, const std::string& text) {
  return wire::testing::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{.zxid = zxid, .type = wire::OpCode::kReconfig});
    wire::encode(w, wire::SetDataTxn{"/zookeeper/config", text, -1});
  });
}

TEST(Learner, StopsWhenItsLeaderHasDifferentMembers) {
  Following joining;
  joining.to_sync().hear(PacketType::kDiff, zx(4, 3)).hear(PacketType::kNewLeader, zx(5, 0), kReconfigured);
  EXPECT_TRUE(joining.learner.over());
  ASSERT_TRUE(joining.effects.halt);
  EXPECT_EQ(joining.orders(), Story{}) << "the epoch is not acknowledged";
}

TEST(Learner, StopsWhenTheMembersAreChangedAndDoesNotAcknowledgeIt) {
  Following serving;
  serving.to_broadcast().hear(PacketType::kProposal, zx(5, 1), reconfig(zx(5, 1), kReconfigured)).flush();
  EXPECT_TRUE(serving.effects.halt);
  EXPECT_EQ(serving.orders(), Story{});
  Following observer({.observer = true});
  const std::string next_leader(8, '\0');
  observer.to_broadcast()
      .hear(PacketType::kInformAndActivate, zx(5, 1), next_leader + reconfig(zx(5, 1), kReconfigured))
      .flush();
  EXPECT_TRUE(observer.effects.halt);
  EXPECT_EQ(observer.orders(), Story{});
}

TEST(Learner, ContinuesWhenOnlyTheTextDiffers) {
  Following f;
  f.to_sync()
      .hear(PacketType::kDiff, zx(4, 3))
      .hear(PacketType::kNewLeader, zx(5, 0), kSame + "version=400000001");
  f.flush().saved(EpochKind::kCurrent, 5).hear(PacketType::kUpToDate, Zxid{-1});
  f.hear(PacketType::kProposal, zx(5, 1), reconfig(zx(5, 1), kSame + "version=500000001"))
      .commit(zx(5, 1))
      .flush();
  EXPECT_FALSE(f.effects.halt);
  EXPECT_EQ(f.h.committed(), zx(5, 1));
}

TEST(Learner, ContinuesWhenFilesAreChangedOneByOne) {
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 3));
  f.hear(PacketType::kNewLeader, zx(5, 0), kSame + "server.5=e:1:2:participant\nversion=0").flush();
  EXPECT_FALSE(f.learner.over());
  EXPECT_FALSE(f.effects.halt);
}

TEST(Learner, IgnoresAnOldReconfiguration) {
  Following f;
  f.to_sync()
      .hear(PacketType::kDiff, zx(4, 5))
      .hear(PacketType::kProposal, zx(4, 4), reconfig(zx(4, 4), kReconfigured));
  f.commit(zx(4, 4)).hear(PacketType::kNewLeader, zx(5, 0), kSame + "version=400000005").flush();
  EXPECT_FALSE(f.learner.over());
  EXPECT_EQ(f.h.last(), zx(4, 4));
}

TEST(Learner, DoesNotServeBeforeItAcknowledgedNewLeader) {
  Following f;
  f.to_sync().hear(PacketType::kDiff, zx(4, 3)).hear(PacketType::kNewLeader, zx(5, 0));
  f.hear(PacketType::kUpToDate, Zxid{-1});
  EXPECT_TRUE(f.learner.over());
}

TEST(Learner, IsSyncedUpToTheCommitsBeforeUpToDate) {
  // ZOOKEEPER-4394: a proposal and its commit may come between NEWLEADER and UPTODATE.
  Following f;
  f.to_synced().propose(zx(5, 1)).commit(zx(5, 1)).propose(zx(5, 2)).hear(PacketType::kUpToDate, Zxid{-1});
  f.flush();
  EXPECT_EQ(f.learner.phase(), Phase::kBroadcast);
  EXPECT_EQ(f.learner.level_at(), zx(5, 1));
  EXPECT_EQ(f.h.committed(), zx(5, 1));
  EXPECT_EQ(f.h.last(), zx(5, 2));
}

// --- broadcast ---

TEST(Learner, LogsABatchAndAcknowledgesEachTransactionOnceDurable) {
  Following f;
  f.to_broadcast().propose(zx(5, 1)).propose(zx(5, 2)).propose(zx(5, 3)).flush();
  EXPECT_EQ(f.orders(), Story{"append 5.1-5.3"});
  EXPECT_EQ(f.sent(), Story{});
  f.durable(zx(5, 2));
  EXPECT_EQ(f.sent(), (Story{"ACK 5.1", "ACK 5.2"}));
  f.forget().durable(zx(5, 3));
  EXPECT_EQ(f.sent(), Story{"ACK 5.3"});
}

TEST(Learner, CommitsOnlyProposedTransactionsInOrder) {
  Following early;
  early.to_broadcast().propose(zx(5, 1)).commit(zx(5, 2));
  EXPECT_EQ(early.learner.why_over(), "the leader commits out of order");

  Following skipping;
  skipping.to_broadcast().propose(zx(5, 1)).propose(zx(5, 2)).propose(zx(5, 3));
  skipping.commit(zx(5, 1)).commit(zx(5, 3));
  EXPECT_EQ(skipping.learner.why_over(), "the leader commits out of order");

  Following invented;
  invented.to_broadcast().propose(zx(6, 1)).commit(zx(5, 7)).flush();
  EXPECT_TRUE(invented.learner.over());
  EXPECT_EQ(invented.h.committed(), zx(4, 3));
}

TEST(Learner, AnObserverGetsCommittedTransactionsAndAcknowledgesNothing) {
  Following f({.observer = true});
  f.to_broadcast().hear(PacketType::kInform, zx(5, 1), entry(zx(5, 1))).flush();
  EXPECT_EQ(f.h.committed(), zx(5, 1));
  EXPECT_EQ(f.orders(), Story{"append 5.1"});
  f.durable(zx(5, 1));
  EXPECT_EQ(f.sent(), Story{});
}

TEST(Learner, CommitsTakeEffectBeforeALaterPingOrSyncIsHandled) {
  for (const PacketType type : {PacketType::kPing, PacketType::kSync}) {
    Following f;
    f.to_broadcast().propose(zx(5, 1)).commit(zx(5, 1)).hear(type, Zxid{0});
    ASSERT_EQ(f.effects.messages.size(), 1u);
    EXPECT_EQ(f.h.committed(), zx(5, 1));
  }
}

TEST(Learner, SendsNoRequestsBeforeItServes) {
  Following f;
  f.to_synced();
  f.learner.send(PacketType::kRevalidate, Zxid{-1}, "question", f.effects);
  f.learner.send_request("request", {}, f.effects);
  EXPECT_EQ(f.sent(), Story{});
}

TEST(Learner, LeavesALeaderThatSendsAnUnexpectedPacket) {
  Following f;
  f.to_broadcast().hear(PacketType::kFollowerInfo, zx(5, 0));
  EXPECT_EQ(f.learner.why_over(), "the leader sends FOLLOWERINFO after UPTODATE");
  f.propose(zx(5, 1)).flush();
  EXPECT_EQ(f.orders(), Story{});
}

// --- time ---

TEST(Learner, GivesUpOnALeaderThatCannotBeReached) {
  Following f;
  for (int i = 0; i < 100 && !f.learner.over(); ++i) {
    f.learner.on_dial_failed(f.now);
    f.forget().now = f.learner.next_time();
    f.learner.on_time(f.now, f.effects);
    EXPECT_NE(f.effects.dial.has_value(), f.learner.over());
  }
  EXPECT_EQ(f.learner.why_over(), "the elected leader cannot be reached");
  EXPECT_LE(f.now - Instant{1000}, 1000) << "who refuses is not waited for";
}

TEST(Learner, WaitsForAConnectionAsLongAsConfigured) {
  Following by_default;
  EXPECT_EQ(by_default.effects.dial->timeout_ms, kTiming.init_ms());
  Timing timing = kTiming;
  timing.connect_limit_ticks = 3;
  Following f({.timing = timing});
  EXPECT_EQ(f.effects.dial->timeout_ms, 300);
  f.learner.on_time(f.now + 299, f.effects);
  EXPECT_FALSE(f.learner.over());
  f.learner.on_time(f.now + 300, f.effects);
  EXPECT_EQ(f.learner.why_over(), "the elected leader was not reached in time");
}

TEST(Learner, WaitsInitLimitForTheSyncAndSyncLimitAfterwards) {
  Following joining;
  joining.to_sync();
  joining.learner.on_time(joining.now + (kTiming.init_ms() - 1), joining.effects);
  EXPECT_FALSE(joining.learner.over());
  joining.learner.on_time(joining.now + kTiming.init_ms(), joining.effects);
  EXPECT_TRUE(joining.learner.over());

  Following serving;
  serving.to_broadcast();
  serving.learner.on_time(serving.now + (kTiming.sync_ms() - 1), serving.effects);
  EXPECT_FALSE(serving.learner.over());
  serving.learner.on_time(serving.now + kTiming.sync_ms(), serving.effects);
  EXPECT_EQ(serving.learner.why_over(), "no packet from the leader within syncLimit");
}

// syncLimit is 500 ms.
constexpr Timing kImpatient{
    .tick_ms = 100, .init_limit_ticks = 10, .sync_limit_ticks = 5, .silence_limit_ms = 100};

TEST(Learner, LeavesALeaderThatMissesItsPromisedPing) {
  Following f({.timing = kImpatient});
  f.to_broadcast().hear(PacketType::kPing, Zxid{0}, encode_ping_promise(25));
  f.learner.on_time(f.now + 99, f.effects);
  EXPECT_EQ(f.learner.next_time(), f.now + 100);
  f.learner.on_time(f.now + 100, f.effects);
  EXPECT_FALSE(f.learner.over()) << "it may be this server that stood still";
  EXPECT_EQ(f.learner.next_time(), f.now + 125);
  f.learner.on_time(f.now + 125, f.effects);
  EXPECT_EQ(f.learner.why_over(), "the leader has not pinged for 125 ms");
}

TEST(Learner, StaysWithALeaderWhosePingArrivesInTime) {
  Following f({.timing = kImpatient});
  f.to_broadcast().hear(PacketType::kPing, Zxid{0}, encode_ping_promise(25));
  f.learner.on_time(f.now + 100, f.effects);
  f.now = f.now + 110;
  f.hear(PacketType::kPing, Zxid{0}, encode_ping_promise(25));
  f.learner.on_time(f.now + 25, f.effects);
  EXPECT_FALSE(f.learner.over());
  EXPECT_EQ(f.learner.next_time(), f.now + 100);
}

TEST(Learner, ToleratesSeveralMissedPingsOfALeaderThatPingsRarely) {
  Following f({.timing = kImpatient});
  f.to_broadcast().hear(PacketType::kPing, Zxid{0}, encode_ping_promise(50));
  EXPECT_EQ(f.learner.next_time(), f.now + 200);
}

TEST(Learner, WaitsSyncLimitForALeaderThatPromisesNoPings) {
  // Java's leaders send no data, and this learner may have been configured to be patient.
  Following java({.timing = kImpatient});
  java.to_broadcast().hear(PacketType::kPing, Zxid{0});
  EXPECT_EQ(java.learner.next_time(), java.now + 500);
  Following strange({.timing = kImpatient});
  strange.to_broadcast().hear(PacketType::kPing, Zxid{0}, "12345678");
  EXPECT_EQ(strange.learner.next_time(), strange.now + 500);
  Following patient;
  patient.to_broadcast().hear(PacketType::kPing, Zxid{0}, encode_ping_promise(25));
  EXPECT_EQ(patient.learner.next_time(), patient.now + 500);
}

TEST(Timing, SeveralPingsFitInTheSilenceLimit) {
  EXPECT_EQ(kTiming.ping_ms(), 50);
  EXPECT_EQ(kImpatient.ping_ms(), 25);
  EXPECT_EQ((Timing{.tick_ms = 100, .silence_limit_ms = 10'000}.ping_ms()), 50);
  EXPECT_EQ((Timing{.tick_ms = 1, .silence_limit_ms = 1}.ping_ms()), 1);
}

TEST(Learner, ASnapshotThatKeepsArrivingIsNotSilence) {
  Following f;
  f.to_sync().hear(PacketType::kSnap, zx(4, 8));
  f.learner.on_heard(f.now + 900);
  f.learner.on_time(f.now + 1100, f.effects);
  EXPECT_FALSE(f.learner.over());
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
//
// A DIFF that begins in the log files, and how many learners are synced at a time.
#include <gtest/gtest.h>

#include "zab/leader.h"
#include "zab/leader_testing.h"

namespace drover::zab {
namespace {

using testing::history;
using testing::kShort;
using testing::Leading;
using testing::LeadingOptions;
using testing::Story;
using testing::voters;
using testing::zx;
using wire::PacketType;

// 4.1 to 4.3 are in the log, and only 4.3 is in memory.
LeadingOptions with_a_log(SyncSettings sync = {}) {
  sync.use_log = true;
  return {.log = history(zx(4, 0), {zx(4, 1), zx(4, 2), zx(4, 3)}, {.txns = 1}), .sync = sync};
}

const Story kAsksForLog{"LEADERINFO 5.0", "the log after 4.1 until 4.2"};

TEST(LeaderWithLog, SendsTheLogThenLaterCommitsThenNewLeader) {
  Leading l(with_a_log());
  l.with({2}).bring(3, zx(4, 1));
  EXPECT_EQ(l.sent(3), kAsksForLog);

  l.forget().propose(1).ack(2, zx(5, 1)).leader.on_log_ready(Leading::link(3), l.now, l.effects);
  EXPECT_EQ(l.sent(3), Story{"DIFF 5.1"});
  l.propose(2).ack(2, zx(5, 2)).propose(3);
  l.h.set_applied(zx(5, 2));  // The window is small, but what comes after the log is kept.
  EXPECT_EQ(l.sent(3), Story{"DIFF 5.1"});

  l.forget().leader.on_state_sent(Leading::link(3), l.now, l.effects);
  EXPECT_EQ(l.sent(3), (Story{"PROPOSAL 4.3", "COMMIT 4.3", "PROPOSAL 5.1", "COMMIT 5.1", "PROPOSAL 5.2",
                              "COMMIT 5.2", "NEWLEADER 5.0", "PROPOSAL 5.3"}));
  l.forget().ack(3, zx(5, 0));
  EXPECT_EQ(l.sent(3), Story{"UPTODATE"});
  EXPECT_EQ(l.leader.counts().diffs, 2u);
  EXPECT_EQ(l.leader.counts().snaps, 0u);
}

TEST(LeaderWithLog, SendsTheStateIfTheLogIsOfNoUse) {
  Leading l(with_a_log());
  l.with({2}).bring(3, zx(4, 1)).forget();
  l.leader.on_no_log(Leading::link(3), l.now, l.effects);
  EXPECT_EQ(l.sent(3), (Story{"SNAP 4.3", "the state"}));
  l.leader.on_state_sent(Leading::link(3), l.now, l.effects);
  EXPECT_EQ(l.sent(3), (Story{"SNAP 4.3", "the state", "NEWLEADER 5.0"}));
  EXPECT_EQ(l.leader.counts().diffs, 1u);
  EXPECT_EQ(l.leader.counts().snaps, 1u);
}

TEST(LeaderWithLog, ALearnerThatDidNotGetAllOfTheLogGetsTheState) {
  Leading l(with_a_log());
  l.with({2}).bring(3, zx(4, 1));
  l.leader.on_log_ready(Leading::link(3), l.now, l.effects);
  l.leader.on_no_log(Leading::link(3), l.now, l.effects);
  EXPECT_TRUE(l.closed(3));
  EXPECT_FALSE(l.leader.over());

  l.forget().bring(3, zx(4, 1));
  EXPECT_EQ(l.sent(3), (Story{"LEADERINFO 5.0", "SNAP 4.3", "the state"}));
  // It has not failed again: the next time it may get the log.
  l.leader.on_state_sent(Leading::link(3), l.now, l.effects);
  l.leader.on_link_down(Leading::link(3), l.now, l.effects);
  l.forget().bring(3, zx(4, 1));
  EXPECT_EQ(l.sent(3), kAsksForLog);
}

TEST(LeaderWithLog, ALinkThatBreaksDuringTheLogCountsAsAFailure) {
  Leading l(with_a_log());
  l.with({2}).bring(3, zx(4, 1));
  l.leader.on_link_down(Leading::link(3), l.now, l.effects);
  l.forget().bring(3, zx(4, 1));
  EXPECT_EQ(l.sent(3), (Story{"LEADERINFO 5.0", "SNAP 4.3", "the state"}));
}

TEST(LeaderWithLog, AnswersAboutALogThatNobodyWaitsForAreIgnored) {
  Leading l(with_a_log());
  l.with({2}).bring(3, zx(4, 1));
  l.leader.on_link_down(Leading::link(3), l.now, l.effects);
  l.forget();
  l.leader.on_log_ready(Leading::link(3), l.now, l.effects);
  l.leader.on_no_log(Leading::link(3), l.now, l.effects);
  l.leader.on_no_log(Leading::link(2), l.now, l.effects);
  EXPECT_EQ(l.sent(3), Story{});
  EXPECT_EQ(l.sent(2), Story{});
  EXPECT_FALSE(l.closed(2));
}

TEST(LeaderWithLog, ALearnerThatTakesNothingOfTheLogIsGivenUp) {
  Leading l(with_a_log());
  l.with({2}).bring(3, zx(4, 1));
  for (std::int64_t ms = 0; ms < 2 * kShort.init_ms(); ms += 2 * kShort.ping_ms())
    l.wait(kShort.ping_ms()).answer_ping(2).wait(kShort.ping_ms()).answer_ping(2);
  EXPECT_TRUE(l.closed(3));
  EXPECT_FALSE(l.closed(2));
}

// --- how many at a time ---

// Servers 1 to 3 vote, 4 to 6 observe.
LeadingOptions with_observers(LeadingOptions options) {
  options.membership = voters(3, 3);
  return options;
}

Leading& bring_observer(Leading& l, std::int64_t server, Zxid last) {
  return l.connect(server).greet(server, 4, PacketType::kObserverInfo).promise(server, last);
}

TEST(LeaderSyncLimits, OneMoreObserverThanTheLimitOfSnapsIsRefused) {
  Leading l(with_observers({.log = history(zx(4, 3), {}), .sync = {.snaps_max = 1}}));
  l.with({2});
  bring_observer(l, 4, zx(4, 1));
  EXPECT_FALSE(l.closed(4));
  bring_observer(l, 5, zx(4, 1));
  EXPECT_TRUE(l.closed(5));
  EXPECT_EQ(l.leader.counts().syncs_refused, 1u);
  bring_observer(l, 6, zx(4, 3));  // A DIFF is another matter.
  EXPECT_FALSE(l.closed(6));

  // The ACK of NEWLEADER makes room.
  l.forget().leader.on_state_sent(Leading::link(4), l.now, l.effects);
  bring_observer(l, 5, zx(4, 1));
  EXPECT_TRUE(l.closed(5));
  l.forget().ack(4, zx(5, 0));
  bring_observer(l, 5, zx(4, 1));
  EXPECT_FALSE(l.closed(5));
}

TEST(LeaderSyncLimits, OneMoreObserverThanTheLimitOfDiffsIsRefused) {
  Leading l(with_observers({.sync = {.diffs_max = 1}}));
  l.with({2});
  bring_observer(l, 4, zx(4, 3));
  EXPECT_FALSE(l.closed(4));
  bring_observer(l, 5, zx(4, 4));  // A TRUNC is a DIFF, too.
  EXPECT_TRUE(l.closed(5));
  l.forget().leader.on_link_down(Leading::link(4), l.now, l.effects);
  bring_observer(l, 5, zx(4, 3));
  EXPECT_FALSE(l.closed(5));
}

TEST(LeaderSyncLimits, FollowersCountAndAreNotRefused) {
  Leading l(with_observers({.log = history(zx(4, 3), {}), .sync = {.snaps_max = 1}}));
  l.with({2}).bring(3, zx(4, 1));
  bring_observer(l, 4, zx(4, 1));
  EXPECT_TRUE(l.closed(4));
  EXPECT_FALSE(l.closed(3));

  Leading full(with_observers({.log = history(zx(4, 3), {}), .sync = {.snaps_max = 1}}));
  full.with({2});
  bring_observer(full, 4, zx(4, 1)).bring(3, zx(4, 1));
  EXPECT_FALSE(full.closed(3));
  EXPECT_EQ(full.leader.counts().snaps, 2u);
}

// Several learners are synced in the same call, and a refused one is gone in the middle of it.
TEST(LeaderSyncLimits, CountForLearnersThatWaitedForAQuorumOfPromises) {
  Leading l(with_observers({.log = history(zx(4, 3), {}), .sync = {.snaps_max = 1}}));
  l.connect(2).greet(2);
  for (const std::int64_t observer : {4, 5, 6}) bring_observer(l, observer, zx(4, 1));
  l.forget().promise(2, zx(4, 3));
  EXPECT_EQ(l.sent(4), (Story{"SNAP 4.3", "the state"}));
  EXPECT_TRUE(l.closed(5) && l.closed(6));
  EXPECT_EQ(l.sent(2), (Story{"DIFF 4.3", "NEWLEADER 5.0"}));
  EXPECT_EQ(l.leader.counts().syncs_refused, 2u);
}

TEST(LeaderSyncLimits, ALogCountsAsADiffUntilItTurnsOutToBeASnap) {
  Leading l(with_observers(with_a_log({.snaps_max = 1, .diffs_max = 1})));
  l.with({2});
  bring_observer(l, 4, zx(4, 1));
  bring_observer(l, 5, zx(4, 3));
  EXPECT_TRUE(l.closed(5));
  l.leader.on_no_log(Leading::link(4), l.now, l.effects);
  l.forget();
  bring_observer(l, 5, zx(4, 3));
  EXPECT_FALSE(l.closed(5));
  l.ack(5, zx(5, 0)).forget();
  bring_observer(l, 6, zx(4, 1));  // A DIFF again, and the log is of no use for it either.
  l.leader.on_no_log(Leading::link(6), l.now, l.effects);
  EXPECT_TRUE(l.closed(6));
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
//
// Runs the scripts and compares the results with the pages in this directory. Each page shows one part of the
// protocol on real Peers. After an intended change, DROVER_UPDATE_TRACES=1 rewrites them for review.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "zab/ensemble_testing.h"

namespace drover::zab {
namespace {

using testing::Disk;
using testing::Ensemble;
using testing::zx;

// A snapshot at 4.0, and 4.1 .. 4.last after it.
Disk with_log(std::uint32_t last) {
  Disk disk{.accepted = 4, .current = 4, .snapshot = zx(4, 0)};
  for (std::uint32_t i = 1; i <= last; ++i) disk.log.push_back(zx(4, i));
  return disk;
}

// Three servers that have committed 4.1 .. 4.3.
Ensemble three() {
  Ensemble e(3);
  for (const std::int64_t id : {1, 2, 3}) e.disk(id) = with_log(3);
  return e;
}

// The same with server 3 leading epoch 5; the trace is still empty.
Ensemble three_led_by_3() {
  Ensemble e = three();
  e.start({1, 2, 3});
  e.pass(300);
  e.forget();
  return e;
}

std::string page_of(const std::string& head, const Ensemble& e) {
  std::string page = head + "\n";
  for (const std::string& line : e.story()) {
    if (line.starts_with("=")) page += "\n";
    page += line + "\n";
  }
  return page;
}

void compare(const std::string& name, const std::string& head, const Ensemble& e) {
  const std::string path = std::string(DROVER_TRACES_DIR) + "/" + name + ".txt";
  const std::string page = page_of(head, e);
  if (std::getenv("DROVER_UPDATE_TRACES") != nullptr) std::ofstream(path) << page;
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(page, expected.str()) << path << "; DROVER_UPDATE_TRACES=1 rewrites it";
}

TEST(Traces, ElectionOfThree) {
  Ensemble e = three();
  e.disk(3) = with_log(2);
  e.tell("= 1 and 2 have 4.1 4.2 4.3, 3 has only 4.1 4.2; all start");
  e.start({1, 2, 3});
  e.run();
  compare("election_of_three",
          "Three servers elect the one with the longest history; among equals the largest id wins. Then the\n"
          "leader gets a new epoch promised by a quorum, syncs that quorum with its history, and only then "
          "serves.",
          e);
}

TEST(Traces, HandshakeWithDiff) {
  Ensemble e = three();
  e.start({2, 3});
  e.pass(300);
  e.propose(3, 1);
  e.propose(3, 2);
  e.run();
  e.forget();
  e.tell("= 1 was away while 5.1 and 5.2 were committed; it starts, with a disk that answers on demand");
  e.hold_disk(1);
  e.start({1});
  e.run();
  e.tell("= its disk makes acceptedEpoch durable: only now it promises the epoch");
  e.work_disk(1, 1);
  e.run();
  e.tell("= meanwhile a client writes");
  e.propose(3, 3);
  e.run();
  e.tell("= history, then epoch, then ACK of NEWLEADER; and no ACK of a proposal before that");
  e.release_disk(1);
  e.run();
  compare("handshake_with_diff",
          "A server that was away is synced with a DIFF: the transactions it lacks, each as PROPOSAL and\n"
          "COMMIT, then NEWLEADER. It acknowledges only what is on its disk.",
          e);
}

TEST(Traces, HandshakeWithTrunc) {
  Ensemble e = three_led_by_3();
  e.propose(3, 1);
  e.run();
  e.forget();
  e.tell("= 3 is partitioned; a client writes 5.2 there, which reaches no other server");
  e.isolate(3);
  e.propose(3, 2);
  e.run();
  e.tell("= 3 crashes; 1 and 2 elect a leader and continue");
  e.crash(3);
  e.heal(3);
  e.pass(1000);
  e.propose(2, 1);
  e.run();
  e.tell("= 3 returns with 5.2, which was never committed");
  e.start({3});
  e.run();
  compare("handshake_with_trunc",
          "A server returns with a transaction that was never committed. The leader knows where the two\n"
          "histories diverge. It truncates the tail, in the log and in the state, before it sends the rest.",
          e);
}

TEST(Traces, HandshakeWithSnap) {
  Ensemble e(3);
  for (const std::int64_t id : {2, 3}) e.disk(id) = {.accepted = 4, .current = 4, .snapshot = zx(4, 7)};
  e.disk(1) = with_log(3);
  e.start({2, 3});
  e.pass(300);
  e.forget();
  e.tell("= 2 and 3 hold everything up to 4.7 in snapshots; 1 ends at 4.3 and starts");
  e.start({1});
  e.run();
  compare("handshake_with_snap",
          "A server that is too far behind gets a snapshot of the leader. The snapshot and the transactions\n"
          "committed while it was sent are on disk before NEWLEADER is acknowledged.",
          e);
}

TEST(Traces, ALostLeader) {
  Ensemble e = three_led_by_3();
  e.tell("= 3 proposes 5.1; 2 logs it, then 3 crashes before it could commit");
  e.hold_disk(3);
  e.hold_disk(1);
  e.propose(3, 1);
  e.run();
  e.crash(3);
  e.run();
  e.tell("= 1's disk finishes, so that it can vote");
  e.release_disk(1);
  e.run();
  e.pass(300);
  compare(
      "a_lost_leader",
      "A leader crashes with an outstanding proposal. Both others have it in their logs, so the next leader\n"
      "keeps it: a write that may have been acknowledged to a client is never lost. A vote waits for the "
      "disk.",
      e);
}

TEST(Traces, APromiseToNobody) {
  Ensemble e = three();
  e.start({2, 3});
  e.pass(300);
  e.forget();
  e.tell("= 3 leads epoch 5; 1, which was away, has promised epoch 7 to a candidate that never led");
  e.disk(1).accepted = 7;
  e.start({1});
  e.run();
  compare(
      "a_promise_to_nobody",
      "A leader meets a server that has promised a later epoch than its own. That server may not follow it,\n"
      "and could be left out forever. So the leader steps down and stores the promise as its own: the\n"
      "next leader learns of it and chooses a later epoch.",
      e);
}

TEST(Traces, ALaggingFollower) {
  Ensemble e = three_led_by_3();
  e.tell("= 1's disk hangs while two transactions are written");
  e.hold_disk(1);
  e.propose(3, 1);
  e.run();
  e.propose(3, 2);
  e.run();
  e.tell("= it answers pings, but acknowledges nothing for syncLimit: it is dropped, the others continue");
  e.pass(700);
  e.propose(3, 3);
  e.run();
  e.tell("= its disk works again; it rejoins and gets what it missed");
  e.release_disk(1);
  e.pass(500);
  compare(
      "a_lagging_follower",
      "A follower with a slow disk does not delay the others: a quorum commits without it. A follower that\n"
      "acknowledges nothing for syncLimit is dropped, and rejoins when its disk works.",
      e);
}

TEST(Traces, AWipedServerDoesNotVote) {
  Ensemble e(3);
  e.disk(1) = with_log(1);
  e.disk(2) = {.wiped = true};
  e.disk(3) = with_log(3);
  e.tell("= 2 and 3 committed 4.2 and 4.3; 2's disk was wiped since; 1 is stale; 1 and 2 start");
  e.start({1, 2});
  e.pass(1250);
  e.tell("= this continues: no leader, and nothing is lost; 3 starts");
  e.start({3});
  e.pass(1000);
  compare("a_wiped_server_does_not_vote",
          "A wiped server and a stale one are two of three, but must not elect a leader: together they know\n"
          "less than was acknowledged. The wiped one hears that 1 has a history, and has no vote (zxid -1) "
          "until it has one.",
          e);
}

}  // namespace
}  // namespace drover::zab

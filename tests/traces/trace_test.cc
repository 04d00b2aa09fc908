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
  EXPECT_EQ(page, expected.str()) << path << "; DROVER_UPDATE_TRACES=1 writes it anew";
}

TEST(Traces, ElectionOfThree) {
  Ensemble e = three();
  e.disk(3) = with_log(2);
  e.tell("= 1 and 2 have 4.1 4.2 4.3, 3 has only 4.1 4.2; all start");
  e.start({1, 2, 3});
  e.run();
  compare(
      "election_of_three",
      "Three servers elect the one with the longest history; among equals the largest id wins. Then the\n"
      "leader makes sure: a quorum promises a new epoch, is brought to its history, and only then serves.",
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
  e.tell("= 1 was away while 5.1 and 5.2 were agreed on; it starts, with a disk that answers on demand");
  e.hold_disk(1);
  e.start({1});
  e.run();
  e.tell("= its disk makes acceptedEpoch durable: only now the promise is given");
  e.work_disk(1, 1);
  e.run();
  e.tell("= meanwhile a client writes");
  e.propose(3, 3);
  e.run();
  e.tell("= history, then epoch, then ACK of NEWLEADER; and no ACK of a proposal before that");
  e.release_disk(1);
  e.run();
  compare("handshake_with_diff",
          "A server that was away gets the difference: the transactions it lacks, each as PROPOSAL and\n"
          "COMMIT, then NEWLEADER. What it says is always behind what its disk has.",
          e);
}

TEST(Traces, HandshakeWithTrunc) {
  Ensemble e = three_led_by_3();
  e.propose(3, 1);
  e.run();
  e.forget();
  e.tell("= 3 is cut off; a client writes 5.2 there, which reaches nobody");
  e.isolate(3);
  e.propose(3, 2);
  e.run();
  e.tell("= 3 crashes; 1 and 2 elect and go on");
  e.crash(3);
  e.heal(3);
  e.pass(1000);
  e.propose(2, 1);
  e.run();
  e.tell("= 3 returns with 5.2, on which nobody agreed");
  e.start({3});
  e.run();
  compare("handshake_with_trunc",
          "A server comes back with a transaction that was never agreed on. The leader knows where the\n"
          "histories part, so it has the tail cut off, in the log and in the state, before the rest follows.",
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
          "A server that is too far behind gets the leader's whole state. It is on disk, and what was\n"
          "committed while it travelled is sent behind it, before NEWLEADER is acknowledged.",
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
  compare("a_lost_leader",
          "A leader dies with a proposal under way. Both others have it in their logs, so the next leader\n"
          "keeps it: what may have been acknowledged to a client is never lost. A vote waits for the disk.",
          e);
}

TEST(Traces, APromiseToNobody) {
  Ensemble e = three();
  e.start({2, 3});
  e.pass(300);
  e.forget();
  e.tell(
      "= 3 leads epoch 5; 1, which was away, has promised epoch 7 to a candidate that nobody has seen since");
  e.disk(1).accepted = 7;
  e.start({1});
  e.run();
  compare(
      "a_promise_to_nobody",
      "A leader meets a server that has promised a later epoch than its own. That server may not follow it,\n"
      "and could be left outside for ever. So the leader makes way, and writes the promise down as its own:\n"
      "whoever leads next hears of it, and takes a later one.",
      e);
}

TEST(Traces, ALaggingFollower) {
  Ensemble e = three_led_by_3();
  e.tell("= 1's disk stands still while two transactions are written");
  e.hold_disk(1);
  e.propose(3, 1);
  e.run();
  e.propose(3, 2);
  e.run();
  e.tell("= it answers pings, but acknowledges nothing for syncLimit: it is dropped, the others go on");
  e.pass(700);
  e.propose(3, 3);
  e.run();
  e.tell("= its disk works again; it comes back for what it missed");
  e.release_disk(1);
  e.pass(500);
  compare("a_lagging_follower",
          "A follower whose disk is slow delays nobody: a quorum commits without it. One that does not\n"
          "acknowledge for syncLimit is let go, and joins again when its disk works.",
          e);
}

TEST(Traces, AWipedServerDoesNotVote) {
  Ensemble e(3);
  e.disk(1) = with_log(1);
  e.disk(2) = {.wiped = true};
  e.disk(3) = with_log(3);
  e.tell("= 4.2 and 4.3 were agreed on by 2 and 3; 2's disk was wiped since; 1 is stale; 1 and 2 start");
  e.start({1, 2});
  e.pass(1250);
  e.tell("= it goes on like this: no leader, and nothing is lost; 3 starts");
  e.start({3});
  e.pass(1000);
  compare("a_wiped_server_does_not_vote",
          "A wiped server and a stale one are a majority in number, but must not decide: together they know\n"
          "less than was acknowledged. The wiped one hears that 1 has a history, and has no vote (zxid -1) "
          "until it has one.",
          e);
}

}  // namespace
}  // namespace drover::zab

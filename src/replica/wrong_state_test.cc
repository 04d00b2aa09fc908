// SPDX-License-Identifier: Apache-2.0
//
// Two servers have different states after the same transactions. The majority decides which one is wrong; no
// server gives up its state before.
#include <gtest/gtest.h>

#include <string>

#include "replica/member_testing.h"

namespace drover::replica {
namespace {

using namespace testing;

constexpr std::int64_t kSyncLimitMs = 5 * Cluster::kTickMs;

class WrongState : public ::testing::Test {
 protected:
  WrongState() : c(3) {}
  void start_all() {
    c.start({1, 2, 3});
    c.settle_down();
    ASSERT_EQ(c.leader(), 3);
    write(3, "/a");
  }
  void write(std::int64_t at, std::string_view path) {
    Client client = connected(c.node(at));
    EXPECT_EQ(client.create(path), ErrorCode::kOk) << path;
    client.vanish();
  }
  // A new session is a write. Its answer gets lost with the leader.
  void try_to_connect(std::int64_t at) {
    Client client(c.node(at));
    EXPECT_FALSE(client.connect());
  }
  void spoil(std::int64_t id) {
    state::Tree& tree = c.machine(id).tree;
    const state::NodeRef ref = tree.find("/a");
    wire::StatPersisted stat = state::persisted_stat(tree.at(ref));
    ++stat.version;
    tree.set_data(ref, "/a", "spoiled", stat);
  }
  bool is_spoiled(std::int64_t id) { return c.machine(id).tree.get("/a")->data() == "spoiled"; }
  // The digest that the last leader wrote does not match this state.
  void contradict(std::int64_t id) { c.node(id).disk.log.back().second.back() ^= 1; }
  void expect_equal_states() {
    for (const std::int64_t id : {1, 2, 3}) {
      EXPECT_NE(c.replica(id).service(), Service::kNone) << id;
      EXPECT_EQ(c.machine(id).tree.digest(), c.machine(3).tree.digest()) << id;
    }
  }
  Cluster c;
};

TEST_F(WrongState, AnOutvotedFollowerTakesTheLeadersState) {
  start_all();
  spoil(1);
  write(2, "/b");
  EXPECT_EQ(c.member(1).divergences(), 1u);
  EXPECT_EQ(c.replica(1).service(), Service::kNone);
  c.pass(kSyncLimitMs / 2);
  EXPECT_TRUE(is_spoiled(1)) << "the other follower may still find that it differs, too";
  c.pass(2 * kSyncLimitMs);
  EXPECT_EQ(c.leader(), 3);
  EXPECT_FALSE(is_spoiled(1));
  expect_equal_states();
}

TEST_F(WrongState, ALeaderContradictedByAMajorityStepsDownAndTakesTheirState) {
  start_all();
  spoil(3);
  try_to_connect(1);
  c.pass(kSyncLimitMs);
  EXPECT_EQ(c.leader(), 2);
  EXPECT_FALSE(is_spoiled(1));
  EXPECT_FALSE(is_spoiled(2));
  write(2, "/c");
  c.pass(3 * kSyncLimitMs);
  EXPECT_EQ(c.leader(), 2);
  EXPECT_FALSE(is_spoiled(3));
  expect_equal_states();
}

TEST_F(WrongState, IfTwoServersDifferBothKeepTheirState) {
  start_all();
  c.crash(1);
  spoil(3);
  try_to_connect(2);
  c.pass(20 * kSyncLimitMs);
  EXPECT_EQ(c.leader(), 0) << "nobody knows which one is right";
  EXPECT_TRUE(is_spoiled(3));
  EXPECT_FALSE(is_spoiled(2));
  c.start({1});
  // Clients come back as soon as there is a leader, and a new session is a transaction to compare.
  for (int i = 0; i < 60; ++i) {
    c.pass(Cluster::kTickMs);
    if (c.leader() == 0) continue;
    Client visitor(c.node(c.leader()));
    (void)visitor.connect();
  }
  c.settle_down();
  EXPECT_FALSE(is_spoiled(3)) << "two against one";
  expect_equal_states();
}

TEST_F(WrongState, AServerWhoseFilesContradictEachOtherVotesButDoesNotLead) {
  start_all();
  for (const std::int64_t id : {1, 2, 3}) c.crash(id);
  contradict(3);
  c.start({1, 3});
  c.settle_down();
  EXPECT_EQ(c.leader(), 1) << "3 has the larger id, and its vote makes the quorum";
  EXPECT_EQ(c.replica(3).service(), Service::kNone) << "nothing was compared yet";
  write(1, "/b");
  c.settle_down();
  EXPECT_EQ(c.replica(3).service(), Service::kLearning);
  EXPECT_EQ(c.member(3).divergences(), 0u) << "its state was right, and the digest was not";
}

TEST_F(WrongState, IfAllFilesContradictEachOtherTheServersCompareAmongThemselves) {
  start_all();
  for (const std::int64_t id : {1, 2, 3}) {
    c.crash(id);
    contradict(id);
  }
  c.start({1, 2, 3});
  c.pass(5 * Cluster::kTickMs);
  EXPECT_EQ(c.leader(), 0);
  c.pass(20 * Cluster::kTickMs);
  EXPECT_EQ(c.leader(), 3) << "after initLimit";
  write(3, "/b");
  c.settle_down();
  expect_equal_states();
}

TEST_F(WrongState, AServerWhoseFilesContradictEachOtherIsOutvotedLikeAnyOther) {
  start_all();
  for (const std::int64_t id : {1, 2, 3}) c.crash(id);
  contradict(3);
  c.start({1, 2, 3});
  c.settle_down();
  EXPECT_EQ(c.leader(), 2);
  spoil(3);
  write(1, "/b");
  c.pass(3 * kSyncLimitMs);
  EXPECT_FALSE(is_spoiled(3));
  expect_equal_states();
}

TEST_F(WrongState, AServerThatSoonDiffersAgainStopsAndKeepsItsFiles) {
  start_all();
  spoil(1);
  write(2, "/b");
  c.pass(4 * kSyncLimitMs);
  expect_equal_states();

  c.pass(11 * 60'000);
  spoil(1);
  write(2, "/c");
  c.pass(4 * kSyncLimitMs);
  EXPECT_FALSE(c.node(1).halted) << "the last time is long ago";
  expect_equal_states();

  spoil(1);
  write(2, "/d");
  ASSERT_TRUE(c.node(1).halted);
  EXPECT_EQ(c.replica(1).service(), Service::kNone);
  EXPECT_FALSE(c.node(1).disk.log.empty());
}

}  // namespace
}  // namespace drover::replica

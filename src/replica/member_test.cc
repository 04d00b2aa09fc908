// SPDX-License-Identifier: Apache-2.0
//
// Agreement and state together: when a server serves, what it shows, and what it may save.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replica/member_testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_watch_body;

class Members : public ::testing::Test {
 protected:
  Members() : c(3) {}
  void start_all() {
    c.start({1, 2, 3});
    c.settle_down();
    ASSERT_EQ(c.leader(), 3);
  }
  // The write is sent and answered.
  void write(std::int64_t at, std::string_view path) {
    Client client = connected(c.node(at));
    EXPECT_EQ(client.create(path), ErrorCode::kOk) << path;
    client.vanish();
  }
  Cluster c;
};

TEST_F(Members, AWriteOnAFollowerIsOnEveryServerWhenItIsAnswered) {
  start_all();
  write(1, "/a");
  for (const std::int64_t id : {1, 2, 3}) EXPECT_TRUE(c.has(id, "/a"));
}

TEST_F(Members, AFollowerShowsNothingThatIsNotOnItsOwnDisk) {
  start_all();
  c.hold_disk(1, true);
  write(2, "/a");
  EXPECT_TRUE(c.has(2, "/a"));
  EXPECT_FALSE(c.has(1, "/a")) << "committed by the two others";
  c.hold_disk(1, false);
  c.run();
  EXPECT_TRUE(c.has(1, "/a"));
}

TEST_F(Members, RejoinedServerServesOnlyWhenItsDiskHasAllCommittedTransactions) {
  start_all();
  c.crash(1);
  write(2, "/a");
  c.hold_disk(1, true);
  c.start({1});
  c.run();
  while (c.node(1).orders.size() > 1) c.work_disk(1);
  // The others commit it after NEWLEADER, so it comes with UPTODATE.
  write(2, "/b");
  c.work_disk(1);
  ASSERT_TRUE(c.member(1).peer().active());
  EXPECT_FALSE(c.has(1, "/b"));
  EXPECT_EQ(c.replica(1).service(), Service::kNone);
  c.hold_disk(1, false);
  c.run();
  EXPECT_TRUE(c.has(1, "/b"));
  EXPECT_EQ(c.replica(1).service(), Service::kLearning);
}

TEST_F(Members, IncompleteStateIsNeitherServedNorSnapshotted) {
  c.force_snapshot = true;
  start_all();
  for (int i = 0; i < 20; ++i) write(2, "/n" + std::to_string(i));
  c.crash(1);
  write(2, "/new");
  c.hold_states(true);
  c.start({1});
  c.pass(200);
  ASSERT_TRUE(c.member(1).is_receiving_state());
  EXPECT_FALSE(c.member(1).is_state_exact());
  EXPECT_FALSE(c.member(1).has_tree_work());
  EXPECT_EQ(c.replica(1).service(), Service::kNone);
  Client client(c.node(1));
  EXPECT_FALSE(client.connect());
  // The link breaks, and there is no other server: half a state must not stay in memory.
  c.crash(2);
  c.crash(3);
  c.pass(300);
  EXPECT_FALSE(c.member(1).is_receiving_state());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(c.has(1, "/n" + std::to_string(i))) << "from the disk";
  EXPECT_FALSE(c.has(1, "/new"));
  c.hold_states(false);
  c.start({2, 3});
  c.settle_down();
  EXPECT_TRUE(c.has(1, "/new"));
}

TEST_F(Members, StateAheadOfItsNameIsNoSnapshotUntilItIsSynced) {
  start_all();
  write(1, "/a");
  c.crash(1);
  c.node(1).disk.exact = false;
  c.start({1});
  EXPECT_FALSE(c.member(1).is_state_exact());
  c.settle_down();
  EXPECT_TRUE(c.member(1).is_state_exact());
}

TEST_F(Members, UncommittedTailIsRemovedFromTheStateByTruncation) {
  start_all();
  write(1, "/kept");
  // The leader logs a write that no other server gets.
  Client client = connected(c.node(3));
  c.isolate(3);
  client.send(OpCode::kCreate, create_body("/lost", {}));
  c.run();
  ASSERT_FALSE(c.node(3).disk.log.empty());
  c.crash(3);
  c.heal(3);
  c.pass(1000);
  ASSERT_EQ(c.leader(), 2);
  write(1, "/later");
  c.hold_disk(3, true);
  c.start({3});
  c.run();
  const auto& orders = c.node(3).orders;
  while (!orders.empty() && !std::holds_alternative<zab::TruncateLog>(orders.front())) c.work_disk(3);
  ASSERT_FALSE(orders.empty());
  EXPECT_TRUE(c.has(3, "/lost"));
  EXPECT_FALSE(c.member(3).is_state_exact()) << "a snapshot now would bring it back";
  c.hold_disk(3, false);
  c.settle_down();
  EXPECT_FALSE(c.has(3, "/lost"));
  EXPECT_TRUE(c.has(3, "/kept"));
  EXPECT_TRUE(c.has(3, "/later"));
  EXPECT_EQ(c.machine(3).tree.digest(), c.machine(2).tree.digest());
}

TEST_F(Members, ExhaustedEpochEndsWithoutLosingAcknowledgedWrites) {
  c.replica_config.last_counter = 20;
  start_all();
  const std::uint32_t first = c.member(3).peer().current_epoch();
  std::vector<std::string> acknowledged;
  for (int i = 0; i < 60; ++i) {
    const std::string path = "/n" + std::to_string(i);
    // Several at once: the epoch ends in the middle of requests on their way.
    Client client(c.node(1 + i % 3));
    client.connect();
    client.queue(OpCode::kCreate, create_body(path, {}));
    client.queue(OpCode::kCreate, create_body(path + "b", {}));
    client.queue(OpCode::kCreate, create_body(path + "c", {}));
    client.send_bytes("");
    const auto replies = client.closed() ? std::vector<Reply>{} : client.take();
    for (const Reply& reply : replies) {
      if (reply.header.error == ErrorCode::kOk)
        acknowledged.push_back(path + std::string(reply.header.xid == 1   ? ""
                                                  : reply.header.xid == 2 ? "b"
                                                                          : "c"));
    }
    client.vanish();
    c.settle_down();
  }
  EXPECT_GT(acknowledged.size(), 60u);
  std::uint32_t last = 0;
  for (const std::int64_t id : {1, 2, 3}) {
    for (const std::string& path : acknowledged) EXPECT_TRUE(c.has(id, path)) << id << path;
    EXPECT_EQ(c.machine(id).tree.digest(), c.machine(1).tree.digest());
    last = std::max(last, c.member(id).peer().current_epoch());
  }
  EXPECT_GT(last, first + 3) << "it has wrapped several times";
}

TEST_F(Members, ExhaustedEpochEndsOnlyWhenAllProposalsAreCommitted) {
  c.replica_config.last_counter = 4;
  start_all();
  Client client = connected(c.node(3), {});  // takes counter 1
  c.hold_disk(1, true);
  c.hold_disk(2, true);
  for (const char* path : {"/a", "/b", "/c", "/too-late"})
    client.queue(OpCode::kCreate, create_body(path, {}));
  client.send_bytes("");
  EXPECT_EQ(c.leader(), 3) << "three writes are on their way";
  EXPECT_TRUE(client.take().empty());
  c.hold_disk(1, false);
  c.run();
  EXPECT_EQ(c.leader(), 0) << "now the epoch is over";
  c.hold_disk(2, false);
  c.settle_down();
  for (const std::int64_t id : {1, 2, 3}) {
    EXPECT_TRUE(c.has(id, "/c"));
    EXPECT_FALSE(c.has(id, "/too-late"));
  }
}

TEST_F(Members, LeaderWithLeaderServesNoHasNoClients) {
  c.replica_config.leader_serves = false;
  start_all();
  Client refused(c.node(3));
  EXPECT_FALSE(refused.connect());
  EXPECT_TRUE(refused.closed());
  write(1, "/a");
  EXPECT_TRUE(c.has(3, "/a"));
}

// --- without a leader ---

TEST_F(Members, WithoutALeaderReadOnlyClientsGetTheLastStateAfterAWhile) {
  c.read_only_after_ms = 2000;
  start_all();
  write(1, "/a");
  c.crash(2);
  c.crash(3);
  c.pass(1900);
  EXPECT_EQ(c.replica(1).service(), Service::kNone) << "a leader may be found any moment";
  c.pass(1000);
  ASSERT_EQ(c.replica(1).service(), Service::kReadOnly);
  Client reader = connected(c.node(1), {.read_only = true});
  EXPECT_EQ(reader.error(OpCode::kGetData, path_watch_body("/a")), ErrorCode::kOk);
  c.start({2, 3});
  c.settle_down();
  EXPECT_TRUE(reader.closed());
  EXPECT_EQ(c.replica(1).service(), Service::kLearning);
}

TEST_F(Members, WithoutALeaderNothingIsServedByDefault) {
  start_all();
  c.crash(2);
  c.crash(3);
  c.pass(10'000);
  EXPECT_EQ(c.replica(1).service(), Service::kNone);
}

TEST_F(Members, WithoutALeaderAStateAheadOfItsNameIsNotServed) {
  c.read_only_after_ms = 2000;
  start_all();
  c.crash(1);
  c.crash(2);
  c.crash(3);
  c.node(1).disk.exact = false;
  c.start({1});
  c.pass(5000);
  EXPECT_EQ(c.replica(1).service(), Service::kNone);
}

}  // namespace
}  // namespace drover::replica

// SPDX-License-Identifier: Apache-2.0
//
// The state is copied in steps while it changes: the copy is complete, and replay makes it exact.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replica/snapshot_cursor.h"
#include "replica/state_builder.h"
#include "state/testing.h"

namespace drover::replica {
namespace {

using namespace state::testing;
using Progress = SnapshotCursor::Progress;

void write_one(Leader& leader, Random& random) {
  leader.now.ms += 1;
  const RandomWrite write = random_write(random);
  leader.run(write.op, write.body, write.who);
}

std::vector<std::string> paths_of(const SnapshotNodes& nodes) {
  std::vector<std::string> paths;
  nodes.for_each([&](std::string_view path, const auto&...) { paths.emplace_back(path); });
  return paths;
}

// A server that is filled while the leader continues, as with SNAP and the transactions after it.
class Learner {
 public:
  explicit Learner(Leader& leader)
      : machine(leader.machine.options), cursor_(leader.machine), builder_(machine) {
    const SnapshotBeginning beginning = cursor_.begin();
    zxid_ = beginning.zxid;
    builder_.reset();
    for (const auto& [id, timeout_ms] : beginning.sessions) EXPECT_TRUE(builder_.session(id, timeout_ms));
    for (const auto& [key, list] : beginning.acls) EXPECT_TRUE(builder_.acl(key, list->bytes));
  }

  // False once it has the whole snapshot.
  bool step(const SnapshotStepLimits& limits) {
    SnapshotNodes nodes;
    const Progress progress = cursor_.step(nodes, limits);
    EXPECT_NE(progress, Progress::kCutOff);
    nodes.for_each([&](const auto&... node) { EXPECT_TRUE(builder_.node(node...)); });
    if (progress == Progress::kEnd) builder_.loaded(zxid_);
    return progress == Progress::kMore;
  }

  void replay(const std::vector<std::string>& log) {
    for (const std::string& entry : log) {
      const Zxid zxid = wire::zxid_of_entry(entry);
      if (zxid > zxid_) {
        EXPECT_TRUE(builder_.txn(zxid, entry));
      }
    }
    builder_.finish();
    EXPECT_TRUE(builder_.findings().empty());
  }

  state::Machine machine;

 private:
  SnapshotCursor cursor_;
  StateBuilder builder_;
  Zxid zxid_{};
};

TEST(SnapshotCursor, SyncsSeveralLearnersWhileTheLeaderKeepsWriting) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Leader leader(with_extended_types());
    for (std::uint64_t n = random.below(80); n > 0; --n) write_one(leader, random);
    std::vector<std::unique_ptr<Learner>> learners;
    std::vector<Learner*> walking;
    for (std::uint64_t to_come = 1 + seed % 4; to_come > 0 || !walking.empty();) {
      if (to_come > 0 && random.below(4) == 0) {
        learners.push_back(std::make_unique<Learner>(leader));
        walking.push_back(learners.back().get());
        --to_come;
      }
      std::erase_if(walking, [&](Learner* learner) {
        return random.below(2) == 0 && !learner->step({.nodes = 1 + random.below(4)});
      });
      for (std::uint64_t n = random.below(4); n > 0; --n) write_one(leader, random);
    }
    for (const auto& learner : learners) {
      learner->replay(leader.applied);
      ASSERT_EQ(difference(picture_of(learner->machine.tree), picture_of(leader.machine.tree)), "");
      ASSERT_EQ(learner->machine.tree.digest(), leader.machine.tree.digest());
      ASSERT_EQ(learner->machine.sessions, leader.machine.sessions);
      ASSERT_EQ(learner->machine.last_zxid, leader.machine.last_zxid);
      ASSERT_EQ(broken_invariant(learner->machine.tree), "");
    }
  }
}

struct Cursor : ::testing::Test {
  Cursor() {
    leader.run(OpCode::kCreateSession, wire::testing::written([](wire::Writer& w) { w.i32(4000); }),
               {.session = SessionId{9}});
    leader.create("/b", {.data = "bb", .acl = private_acl});
    leader.create("/a", {.data = "a"});
  }
  std::string private_acl = wire::testing::acl_bytes({{31, {"ip", "1.1.1.1"}}});
  Leader leader;
  SnapshotCursor cursor{leader.machine};
  SnapshotNodes nodes;
};

TEST_F(Cursor, StartsWithTheLastZxidTheSessionsAndTheAclTable) {
  const SnapshotBeginning beginning = cursor.begin();
  EXPECT_EQ(beginning.zxid, leader.machine.last_zxid);
  ASSERT_EQ(beginning.sessions.size(), 1u);
  EXPECT_EQ(beginning.sessions[0], std::pair(SessionId{9}, 4000));
  ASSERT_EQ(beginning.acls.size(), 2u) << "that of /zookeeper/config too";
  EXPECT_EQ(beginning.acls[1].second->bytes, private_acl);
}

TEST_F(Cursor, CopiesNodesInSnapshotForm) {
  cursor.begin();
  ASSERT_EQ(cursor.step(nodes), Progress::kEnd);
  EXPECT_EQ(paths_of(nodes), (std::vector<std::string>{"", "/a", "/b", "/zookeeper", "/zookeeper/config",
                                                       "/zookeeper/quota"}));
  nodes.for_each([&](std::string_view path, const wire::Nullable& data, std::int64_t acl,
                     const wire::StatPersisted& stat) {
    const state::Node& node = *leader.get(path);
    EXPECT_EQ(data, node.data()) << path;
    EXPECT_EQ(acl, static_cast<std::int32_t>(node.acl)) << path;
    EXPECT_EQ(stat, persisted_stat(node)) << path;
  });
}

TEST_F(Cursor, StopsAtTheLimitOfNodesOrBytes) {
  cursor.begin();
  EXPECT_EQ(cursor.step(nodes, {.nodes = 2}), Progress::kMore);
  EXPECT_EQ(paths_of(nodes), (std::vector<std::string>{"", "/a"}));
  EXPECT_EQ(cursor.step(nodes, {.bytes = 5}), Progress::kMore);
  EXPECT_EQ(paths_of(nodes), (std::vector<std::string>{"/b", "/zookeeper"}));
  EXPECT_EQ(cursor.step(nodes), Progress::kEnd);
  EXPECT_EQ(nodes.size(), 2u);
}

TEST_F(Cursor, StaysAtItsEnd) {
  cursor.begin();
  while (cursor.step(nodes) == Progress::kMore) {
  }
  leader.create("/late");
  EXPECT_EQ(cursor.step(nodes), Progress::kEnd);
  EXPECT_EQ(nodes.size(), 0u);
}

TEST_F(Cursor, ReportsAnInterruptionWhenTheTreeIsCleared) {
  cursor.begin();
  cursor.step(nodes, {.nodes = 1});
  StateBuilder(leader.machine).reset();
  EXPECT_EQ(cursor.step(nodes), Progress::kCutOff);
  EXPECT_EQ(nodes.size(), 0u);
  EXPECT_EQ(cursor.step(nodes), Progress::kCutOff);
}

TEST_F(Cursor, CanBeRestartedAndAbandoned) {
  cursor.begin();
  cursor.step(nodes, {.nodes = 2});
  cursor.begin();
  cursor.step(nodes, {.nodes = 1});
  EXPECT_EQ(paths_of(nodes), std::vector<std::string>{""});
  cursor.end();
  cursor.end();
}

}  // namespace
}  // namespace drover::replica

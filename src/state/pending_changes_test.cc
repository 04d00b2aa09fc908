// SPDX-License-Identifier: Apache-2.0
#include "state/pending_changes.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_version_body;
using wire::testing::set_data_body;

TEST(PendingChanges, TheSecondOfTwoPipelinedCreatesOfAPathFails) {
  Leader leader;
  EXPECT_EQ(leader.prepare(OpCode::kCreate, create_body("/a")), ErrorCode::kOk);
  EXPECT_EQ(leader.prepare(OpCode::kCreate, create_body("/a")), ErrorCode::kNodeExists);
  EXPECT_EQ(leader.prepare(OpCode::kCreate, create_body("/a/b")), ErrorCode::kOk)
      << "the parent will be there";
  EXPECT_EQ(leader.prepare(OpCode::kDelete, path_version_body("/a")), ErrorCode::kNotEmpty);
  EXPECT_EQ(leader.prepare(OpCode::kDelete, path_version_body("/a/b")), ErrorCode::kOk);
  EXPECT_EQ(leader.prepare(OpCode::kSetData, set_data_body("/a/b", "x")), ErrorCode::kNoNode);
  EXPECT_EQ(leader.prepare(OpCode::kDelete, path_version_body("/a", 0)), ErrorCode::kOk);
  leader.apply_all();
  EXPECT_EQ(leader.get("/a"), nullptr);
}

TEST(PendingChanges, VersionsAreCheckedAgainstPendingWrites) {
  Leader leader;
  leader.create("/a");
  EXPECT_EQ(leader.prepare(OpCode::kSetData, set_data_body("/a", "1", 0)), ErrorCode::kOk);
  EXPECT_EQ(leader.prepare(OpCode::kSetData, set_data_body("/a", "2", 0)), ErrorCode::kBadVersion);
  EXPECT_EQ(leader.prepare(OpCode::kSetData, set_data_body("/a", "2", 1)), ErrorCode::kOk);
  leader.apply_all();
  EXPECT_EQ(leader.get("/a")->data(), "2");
}

TEST(PendingChanges, PendingAclsAreChecked) {
  Leader leader;
  leader.create("/a");
  const std::string locked = wire::testing::acl_bytes({{wire::kRead, {"world", "anyone"}}});
  leader.prepare(OpCode::kSetAcl, wire::testing::set_acl_body("/a", locked));
  EXPECT_EQ(leader.prepare(OpCode::kSetData, set_data_body("/a", "x")), ErrorCode::kNoAuth);
  EXPECT_EQ(leader.prepare(OpCode::kCreate, create_body("/a/b")), ErrorCode::kNoAuth);
}

TEST(PendingChanges, RecordsLeaveWhenTheirTransactionIsApplied) {
  Leader leader;
  leader.prepare(OpCode::kCreate, create_body("/a"));
  leader.prepare(OpCode::kSetData, set_data_body("/a", "x"));
  EXPECT_EQ(leader.pending.size(), 3u);  // the root's counter, and /a twice
  EXPECT_EQ(leader.pending.find("/a")->stat.version, 1);
  leader.apply_next();
  EXPECT_EQ(leader.pending.size(), 1u);
  EXPECT_EQ(leader.pending.find("/a")->stat.version, 1) << "the later change is still pending";
  leader.apply_next();
  EXPECT_EQ(leader.pending.size(), 0u);
  int left = 0;
  leader.pending.for_each([&](const auto&, const auto&) { ++left; });
  EXPECT_EQ(left, 0);
  EXPECT_EQ(leader.pending.counts().queued, 3u);
  EXPECT_EQ(leader.pending.counts().removed, 3u);
}

TEST(PendingChanges, BothNamesOfTheRootShareOneRecord) {
  Leader leader;
  leader.prepare(OpCode::kCreate, create_body("/a"));
  EXPECT_EQ(leader.pending.find("/")->stat.cversion, 1);
  EXPECT_EQ(leader.pending.find("")->stat.cversion, 1);
  EXPECT_EQ(leader.prepare(OpCode::kSetData, set_data_body("/", "root")), ErrorCode::kOk);
  leader.apply_all();
  EXPECT_EQ(leader.get("/")->cversion, 1);
  EXPECT_EQ(leader.get("/")->data(), "root");
}

TEST(PendingChanges, ARollbackRestoresRecordsAndDigest) {
  Leader leader;
  leader.create("/a", {.data = "committed"});
  leader.prepare(OpCode::kSetData, set_data_body("/a", "pending"));
  const std::uint64_t digest = leader.pending.digest();
  const std::size_t size = leader.pending.size();

  leader.pending.mark();
  NodeFacts changed = *leader.pending.find("/a");
  changed.stat.version = 77;
  leader.pending.put("/a", Zxid{99}, changed, changed.digest);
  NodeFacts gone;
  gone.exists = false;
  leader.pending.put("/zookeeper", Zxid{99}, gone, leader.pending.find("/zookeeper")->digest);
  EXPECT_EQ(leader.pending.find("/zookeeper"), std::nullopt);
  EXPECT_NE(leader.pending.digest(), digest);
  leader.pending.rollback();

  EXPECT_EQ(leader.pending.find("/a")->stat.version, 1);
  EXPECT_TRUE(leader.pending.find("/zookeeper").has_value());
  EXPECT_EQ(leader.pending.digest(), digest);
  EXPECT_EQ(leader.pending.size(), size);
  leader.apply_all();
}

TEST(PendingChanges, OneRecordDeletesAllNodesOfASession) {
  Leader leader;
  const Who owner{.session = SessionId{7}};
  leader.create("/p");
  for (int i = 0; i < 100; ++i) leader.create("/p/e" + std::to_string(i), {.flags = wire::kEphemeral}, owner);
  const ChangeCounts before = leader.pending.counts();
  leader.prepare(OpCode::kCloseSession, "", owner);
  EXPECT_EQ(leader.pending.size(), 2u);  // the parent, and all of its children
  EXPECT_EQ(leader.pending.counts().queued, before.queued + 101);
  EXPECT_EQ(leader.pending.find("/p/e0"), std::nullopt);
  EXPECT_EQ(leader.pending.find("/p")->child_count, 0);
  // The next request finds the name free, and the second end of the session finds nothing to delete.
  EXPECT_EQ(leader.prepare(OpCode::kCreate, create_body("/p/e0")), ErrorCode::kOk);
  EXPECT_TRUE(leader.pending.find("/p/e0").has_value());
  leader.prepare(OpCode::kCloseSession, "", owner);
  EXPECT_TRUE(leader.pending.find("/p/e0").has_value());
  leader.apply_all();  // also checks the digests
  EXPECT_EQ(leader.get("/p")->child_count, 1u);
  EXPECT_EQ(leader.pending.size(), 0u);
  EXPECT_EQ(leader.pending.counts().removed, leader.pending.counts().queued);
}

// Any mix of requests, any number of them in flight: the predicted digest must be right (Leader checks it at
// every step), and the accepted requests must give the same result as a sequential run.
TEST(PendingChanges, PredictTheDigestAfterEveryPendingTransaction) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Leader pipelined(with_extended_types());
    Leader sequential(with_extended_types());
    const std::size_t in_flight_max = 1 + random.below(30);
    for (int i = 0; i < 200; ++i) {
      const RandomWrite write = random_write(random);
      EXPECT_EQ(pipelined.prepare(write.op, write.body, write.who),
                sequential.run(write.op, write.body, write.who));
      while (pipelined.proposed.size() > random.below(in_flight_max)) pipelined.apply_next();
    }
    pipelined.apply_all();
    ASSERT_EQ(picture_of(pipelined.machine.tree), picture_of(sequential.machine.tree));
    ASSERT_EQ(broken_invariant(pipelined.machine.tree), "");
    ASSERT_EQ(pipelined.pending.size(), 0u);
  }
}

}  // namespace
}  // namespace drover::state

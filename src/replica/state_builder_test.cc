// SPDX-License-Identifier: Apache-2.0
//
// Records and transactions become a state: which are accepted, refused and reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "replica/state_builder.h"
#include "state/testing.h"

namespace drover::replica {
namespace {

using namespace state::testing;

struct Builder : ::testing::Test {
  Builder() { builder.reset(); }

  void replay_after(Zxid after) {
    for (const std::string& entry : leader.applied) {
      const Zxid zxid = wire::zxid_of_entry(entry);
      if (zxid > after) {
        EXPECT_TRUE(builder.txn(zxid, entry));
      }
    }
  }

  void load(const state::Machine& from, const std::optional<StateBuilder::Digest>& digest = std::nullopt) {
    load_records(from);
    builder.loaded(from.last_zxid, digest);
  }
  void load_records(const state::Machine& from) {
    for (const auto& [id, timeout_ms] : from.sessions) EXPECT_TRUE(builder.session(id, timeout_ms));
    for (const auto& [key, list] : from.tree.acls().all()) EXPECT_TRUE(builder.acl(key, list->bytes));
    from.tree.for_subtree_refs(from.tree.root(), [&](state::NodeRef ref) {
      const state::Node& node = from.tree.at(ref);
      EXPECT_TRUE(builder.node(ref == from.tree.root() ? "" : from.tree.path_of(ref), node.data(),
                               static_cast<std::int32_t>(node.acl), persisted_stat(node)));
    });
  }

  void expect_equal(const state::Machine& other) {
    EXPECT_EQ(difference(picture_of(machine.tree), picture_of(other.tree)), "");
    EXPECT_EQ(machine.tree.digest(), other.tree.digest());
    EXPECT_EQ(machine.sessions, other.sessions);
    EXPECT_EQ(machine.last_zxid, other.last_zxid);
  }

  state::Machine machine{with_extended_types()};
  std::vector<std::pair<Zxid, std::string>> heard;
  StateBuilder builder{machine,
                       [this](Zxid zxid, std::string_view entry) { heard.emplace_back(zxid, entry); }};
  Leader leader{with_extended_types()};
};

TEST_F(Builder, BuildsTheStateOfASnapshotAndLaterTransactions) {
  leader.create("/a", {.acl = wire::testing::acl_bytes({{31, {"ip", "1.1.1.1"}}})});
  leader.run(OpCode::kCreateSession, wire::testing::written([](wire::Writer& w) { w.i32(4000); }));
  load(leader.machine);
  const Zxid snapshot = leader.machine.last_zxid;
  leader.create("/a/b", {.data = "x", .flags = wire::kEphemeral});
  leader.create("/c");
  replay_after(snapshot);
  builder.finish();
  expect_equal(leader.machine);
  EXPECT_TRUE(builder.findings().empty());
}

TEST_F(Builder, StartsWithTheInitialTreeWithoutASnapshot) {
  // Quotas live below /zookeeper/quota, which no transaction creates.
  leader.create("/zookeeper/quota/a");
  leader.create("/zookeeper/quota/a/zookeeper_limits", {.data = "count=5,bytes=5"});
  leader.create("/zookeeper/quota/a/zookeeper_stats");
  leader.create("/a");
  replay_after(Zxid{0});
  builder.finish();
  expect_equal(leader.machine);
  EXPECT_FALSE(machine.quotas.empty());
  EXPECT_TRUE(builder.findings().empty());
}

TEST_F(Builder, ReportsEveryTransactionInOrder) {
  leader.create("/a");
  load(leader.machine);
  const Zxid snapshot = leader.machine.last_zxid;
  leader.create("/b");
  leader.create("/b");  // A refused request is a transaction too.
  replay_after(snapshot);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0], std::pair(Zxid{2}, leader.applied[1]));
  EXPECT_EQ(heard[1], std::pair(Zxid{3}, leader.applied[2]));
}

TEST_F(Builder, DiscardsEverythingOnReset) {
  leader.create("/zookeeper/quota/a");
  leader.create("/zookeeper/quota/a/zookeeper_limits", {.data = "count=5,bytes=5"});
  leader.run(OpCode::kCreateSession, wire::testing::written([](wire::Writer& w) { w.i32(4000); }));
  load(leader.machine, StateBuilder::Digest{leader.machine.last_zxid, wire::kDigestVersion, 1});
  machine.digest_log.emplace_back(Zxid{128}, 5);

  builder.reset();
  EXPECT_TRUE(builder.findings().empty());
  EXPECT_TRUE(machine.digest_log.empty());
  EXPECT_TRUE(machine.quotas.empty());
  builder.finish();
  const state::Machine empty(with_extended_types());
  expect_equal(empty);
}

TEST_F(Builder, RefusesInvalidNodes) {
  EXPECT_TRUE(builder.node("/a", "", -1, {}));
  EXPECT_FALSE(builder.node("/a", "", -1, {})) << "twice";
  EXPECT_FALSE(builder.node("/x/y", "", -1, {})) << "before its parent";
  EXPECT_FALSE(builder.node("a", "", -1, {}));
  EXPECT_FALSE(builder.node("//b", "", -1, {})) << "it would be found under another path";
  EXPECT_FALSE(builder.node("/b/", "", -1, {}));
  EXPECT_FALSE(builder.node("/b", "", -2, {}));
  EXPECT_FALSE(builder.node("/b", "", std::numeric_limits<std::int64_t>::max(), {}));
}

TEST_F(Builder, RefusesAclKeysThatLeaveNoRoomForNewOnes) {
  const std::string list = wire::testing::acl_bytes({{31, {"ip", "1.1.1.1"}}});
  EXPECT_TRUE(builder.acl(1, list));
  EXPECT_FALSE(builder.acl(1, list)) << "twice";
  for (const std::int64_t key : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{0x7FFFFFFF}}) {
    EXPECT_FALSE(builder.acl(key, list)) << key;
  }
  EXPECT_FALSE(builder.node("/a", "", 0x7FFFFFFF, {}));
}

// closeSessionTxn.enabled=false with digests once made a log that no start could read.
TEST_F(Builder, ReplaysSessionsThatWereClosedWithoutTheirPaths) {
  state::Options options = with_extended_types();
  options.close_session_paths = false;
  Leader other(options);
  const Who mine{.session = SessionId{5}};
  other.create("/mine", {.flags = wire::kEphemeral}, mine);
  other.run(OpCode::kCloseSession, "", mine);
  other.create("/after", {});
  for (const std::string& entry : other.applied) EXPECT_TRUE(builder.txn(wire::zxid_of_entry(entry), entry));
  builder.finish();
  EXPECT_TRUE(builder.findings().empty());
  expect_equal(other.machine);
  EXPECT_EQ(machine.tree.find("/mine"), state::kNoNode);
}

TEST_F(Builder, RefusesAnInvalidTransaction) {
  EXPECT_FALSE(builder.txn(Zxid{1}, "too short"));
  EXPECT_TRUE(heard.empty());
}

TEST_F(Builder, DetectsATreeThatContradictsTheSnapshotsDigest) {
  leader.create("/a");
  const Zxid zxid = leader.machine.last_zxid;
  load(leader.machine, StateBuilder::Digest{zxid, wire::kDigestVersion, 0xabc});
  EXPECT_FALSE(builder.is_exact());
  builder.finish();
  ASSERT_EQ(builder.findings().size(), 1u);
  EXPECT_TRUE(builder.findings()[0].starts_with("the tree's digest at zxid 0x1 is 0x"))
      << builder.findings()[0];
  EXPECT_NE(builder.findings()[0].find("the files say 0xabc:"), std::string::npos);
}

TEST_F(Builder, IsContradictedOnlyByTheLastDigest) {
  leader.create("/a");
  leader.create("/b");
  leader.create("/c");
  std::vector<std::string> log = leader.applied;
  log[1].back() ^= 1;  // a bit of the digest: a leader with a wrong state wrote this
  const auto replay = [&](std::size_t count) {
    builder.reset();
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(builder.txn(wire::zxid_of_entry(log[i]), log[i]));
    builder.finish();
    return builder.is_contradicted();
  };
  EXPECT_FALSE(replay(1));
  EXPECT_TRUE(replay(2));
  EXPECT_FALSE(replay(3)) << "the leader after it had the same state";
  EXPECT_EQ(builder.findings().size(), 1u);
}

TEST_F(Builder, ComparesAFuzzySnapshotOnlyAtItsDigestsZxid) {
  leader.create("/a");
  const Zxid named = leader.machine.last_zxid;
  leader.create("/b");
  leader.create("/c");
  // The walk met /c too, so after replay of /b the tree is ahead of the log's digest.
  load_records(leader.machine);
  builder.loaded(named, StateBuilder::Digest{leader.machine.last_zxid, wire::kDigestVersion,
                                             leader.machine.tree.digest()});
  replay_after(named);
  EXPECT_TRUE(builder.findings().empty());
  expect_equal(leader.machine);
}

TEST_F(Builder, ASentStateIsNotTheInitialState) {
  // The leader had no data when it began to send, and some when it ended.
  leader.create("/a");
  leader.create("/b");
  load_records(leader.machine);
  builder.loaded(Zxid{0});
  replay_after(Zxid{0});
  EXPECT_FALSE(builder.is_exact());
  builder.finish();
  EXPECT_TRUE(builder.findings().empty());
  expect_equal(leader.machine);
}

TEST_F(Builder, AnEmptyStateIsTheInitialState) {
  load(state::Machine(with_extended_types()));
  EXPECT_TRUE(builder.is_exact());
}

// As Java writes it under load: the digest belongs to the transaction before the last one that the walk has
// met.
TEST_F(Builder, ASnapshotMayBeOneTransactionAheadOfItsDigest) {
  leader.create("/a");
  const Zxid named = leader.machine.last_zxid;
  const StateBuilder::Digest digest{named, wire::kDigestVersion, leader.machine.tree.digest()};
  leader.create("/b");
  load_records(leader.machine);
  builder.loaded(named, digest);
  EXPECT_FALSE(builder.is_exact());
  replay_after(named);
  EXPECT_TRUE(builder.is_exact());
  builder.finish();
  EXPECT_TRUE(builder.findings().empty());
  expect_equal(leader.machine);
}

// Each parent has one ephemeral node, and the list of the session's end has room for few of them. The walk
// has met the parents before that end and the rest after it, and the snapshot is finished before the sweeps.
TEST_F(Builder, ASnapshotMayEndBeforeTheSweepsOfALargeSession) {
  constexpr SessionId kOwner{7};
  state::Options options = with_extended_types();
  options.txn_bytes_max = 300;
  Leader small(options);
  for (int i = 0; i < 100; ++i) {
    const std::string parent = "/p" + std::to_string(i);
    small.create(parent);
    small.create(parent + "/e", {.flags = wire::kEphemeral}, {.session = kOwner});
  }
  const Zxid named = small.machine.last_zxid;
  state::Machine before(options);
  {
    StateBuilder copy(before);
    copy.reset();
    for (const std::string& entry : small.applied) EXPECT_TRUE(copy.txn(wire::zxid_of_entry(entry), entry));
    copy.finish();
  }
  ASSERT_GE(small.end_session(kOwner), 2) << "sweeps";

  for (const auto& [key, list] : before.tree.acls().all()) EXPECT_TRUE(builder.acl(key, list->bytes));
  before.tree.for_subtree_refs(before.tree.root(), [&](state::NodeRef ref) {
    const state::Node& node = before.tree.at(ref);
    const std::string path = before.tree.path_of(ref);
    if (small.machine.tree.find(path) == state::kNoNode) return;
    EXPECT_TRUE(builder.node(ref == before.tree.root() ? "" : path, node.data(),
                             static_cast<std::int32_t>(node.acl), persisted_stat(node)));
  });
  const auto end = std::ranges::find_if(
      small.applied, [&](const std::string& entry) { return wire::zxid_of_entry(entry) > named; });
  const std::optional<wire::TxnDigest> digest = wire::decode_entry(*end)->digest;
  builder.loaded(named,
                 StateBuilder::Digest{wire::zxid_of_entry(*end), digest->version, digest->tree_digest});
  small.create("/later");
  for (const std::string& entry : small.applied) {
    if (wire::zxid_of_entry(entry) > named) {
      EXPECT_TRUE(builder.txn(wire::zxid_of_entry(entry), entry));
    }
  }
  builder.finish();
  EXPECT_EQ(builder.findings(), std::vector<std::string>());
  EXPECT_FALSE(builder.is_contradicted());
  expect_equal(small.machine);
}

TEST_F(Builder, AMismatchThatRemainsAfterTheNextTransactionDatesFromTheSnapshot) {
  leader.create("/a");
  const Zxid named = leader.machine.last_zxid;
  load(leader.machine, StateBuilder::Digest{named, wire::kDigestVersion, leader.machine.tree.digest() + 1});
  machine.tree.insert(machine.tree.root(), {"/stray", "", state::kOpenAcl, {}});
  leader.create("/b");
  leader.create("/c");
  replay_after(named);
  builder.finish();
  ASSERT_EQ(builder.findings().size(), 1u);
  EXPECT_NE(builder.findings()[0].find("zxid 0x1 "), std::string::npos);
}

TEST_F(Builder, ReportsOnlyTheFirstTransactionThatDiffers) {
  leader.create("/a");
  load(leader.machine,
       StateBuilder::Digest{leader.machine.last_zxid, wire::kDigestVersion, leader.machine.tree.digest()});
  const Zxid snapshot = leader.machine.last_zxid;
  leader.create("/b");
  leader.create("/c");
  machine.tree.insert(machine.tree.root(), {"/stray", "", state::kOpenAcl, {}});
  replay_after(snapshot);
  ASSERT_EQ(builder.findings().size(), 1u);
  EXPECT_NE(builder.findings()[0].find("zxid 0x2 "), std::string::npos);
}

}  // namespace
}  // namespace drover::replica

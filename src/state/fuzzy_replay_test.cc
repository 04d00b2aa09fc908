// SPDX-License-Identifier: Apache-2.0
//
// Recovery from a fuzzy snapshot: nodes are copied while transactions continue. Replaying the log from the
// snapshot's zxid must give exactly the state that the server had (docs/storage-format.md).
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/random.h"
#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;

struct Snapshot {
  std::optional<Tree::Walk> walk;
  Zxid zxid{};
  SessionTable sessions;
  std::vector<std::pair<std::int64_t, AclListPtr>> acls;
  struct Item {
    std::string path;  // "" for the root
    std::optional<std::string> data;
    AclId acl;
    wire::StatPersisted stat;
  };
  std::vector<Item> nodes;
};

void begin(Machine& machine, Snapshot& snapshot) {
  snapshot.zxid = machine.last_zxid;
  snapshot.sessions = machine.sessions;
  snapshot.acls = machine.tree.acls().all();
  snapshot.walk.emplace(machine.tree);
}

// Copies one node; false if there are none left.
bool copy_next(Machine& machine, Snapshot& snapshot) {
  const Tree& tree = machine.tree;
  const NodeRef ref = snapshot.walk->position();
  if (ref == kNoNode) return false;
  const Node& node = tree.at(ref);
  const auto data = node.data();
  snapshot.nodes.push_back({ref == tree.root() ? "" : tree.path_of(ref),
                            data ? std::optional<std::string>(*data) : std::nullopt, node.acl,
                            persisted_stat(node)});
  snapshot.walk->advance();
  return true;
}

std::unique_ptr<Machine> recovered(const Options& options, const Snapshot& snapshot,
                                   const std::vector<std::string>& log) {
  auto machine = std::make_unique<Machine>(options);
  Tree& tree = machine->tree;
  tree.clear();
  machine->sessions = snapshot.sessions;
  for (const auto& [key, list] : snapshot.acls) EXPECT_TRUE(tree.acls().load(key, list->bytes));
  for (const Snapshot::Item& item : snapshot.nodes) {
    tree.acls().count_loaded_use(item.acl);
    const Tree::NewNode fresh{item.path, item.data, item.acl, item.stat};
    if (item.path.empty()) {
      tree.restore_root(fresh);
    } else {
      tree.insert(tree.find(parent_path(item.path)), fresh);
    }
  }
  machine->last_zxid = snapshot.zxid;
  tree.ensure_special_nodes();
  machine->quotas.rebuild(tree);
  TreeEvents events;
  for (const std::string& entry : log) {
    if (wire::zxid_of_entry(entry) > snapshot.zxid) apply(*machine, *wire::decode_entry(entry), events);
  }
  tree.acls().drop_unused();
  return machine;
}

void expect_equal(const Machine& left, const Machine& right) {
  EXPECT_EQ(difference(picture_of(left.tree), picture_of(right.tree)), "");
  EXPECT_EQ(left.tree.digest(), right.tree.digest());
  EXPECT_EQ(left.sessions, right.sessions);
  EXPECT_EQ(left.last_zxid, right.last_zxid);
  EXPECT_EQ(broken_invariant(left.tree), "");
}

void set_quota_on_a(Leader& leader) {
  leader.create("/zookeeper/quota/a");
  leader.create("/zookeeper/quota/a/zookeeper_limits", {.data = "count=5,bytes=5"});
  leader.create("/zookeeper/quota/a/zookeeper_stats");
}

void write_one(Leader& leader, Random& random) {
  leader.now.ms += 1;
  const RandomWrite write = random_write(random);
  leader.run(write.op, write.body, write.who);
}

// A history with a walk during it; on average `writes_per_copy` writes between two nodes.
void check_recovery(std::uint64_t seed, const Options& options) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  Leader leader(options);
  set_quota_on_a(leader);
  for (std::uint64_t n = random.below(80); n > 0; --n) write_one(leader, random);

  Snapshot snapshot;
  begin(leader.machine, snapshot);
  const std::uint64_t writes_per_copy = random.below(6);
  while (copy_next(leader.machine, snapshot)) {
    for (std::uint64_t n = random.below(2 * writes_per_copy + 1); n > 0; --n) write_one(leader, random);
  }
  snapshot.walk.reset();
  for (std::uint64_t n = random.below(20); n > 0; --n) write_one(leader, random);

  expect_equal(*recovered(options, snapshot, leader.applied), leader.machine);
}

TEST(FuzzyReplay, ReproducesTheServersState) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    check_recovery(seed, with_extended_types());
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FuzzyReplay, ReproducesTheStateWhenCloseSessionListsNoPaths) {
  Options options = with_extended_types();
  options.close_session_paths = false;
  options.digest_enabled = false;  // otherwise its bytes would read as the missing list
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    check_recovery(seed, options);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FuzzyReplay, ReplayingEverythingTwiceChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Leader leader(with_extended_types());
    for (int i = 0; i < 150; ++i) write_one(leader, random);
    const TreePicture once = picture_of(leader.machine.tree);
    TreeEvents events;
    for (const std::string& entry : leader.applied) apply(leader.machine, *wire::decode_entry(entry), events);
    ASSERT_EQ(difference(picture_of(leader.machine.tree), once), "") << "seed " << seed;
    ASSERT_EQ(broken_invariant(leader.machine.tree), "") << "seed " << seed;
  }
}

// The history of the session's own node must not show in the later node of the same path.
void check_successor_of_an_ephemeral(const Options& options) {
  Leader leader(options);
  const Who owner{.session = SessionId{5}};
  Snapshot snapshot;
  begin(leader.machine, snapshot);
  leader.create("/e", {.data = "ephemeral", .flags = wire::kEphemeral}, owner);
  leader.run(OpCode::kSetData, wire::testing::set_data_body("/e", "changed"));
  leader.run(OpCode::kSetAcl, wire::testing::set_acl_body("/e", wire::open_acl_bytes()));
  leader.run(OpCode::kCloseSession, "", owner);
  leader.create("/e", {.data = "successor"});
  leader.create("/e/child");
  while (copy_next(leader.machine, snapshot)) {
  }
  const auto machine = recovered(options, snapshot, leader.applied);
  expect_equal(*machine, leader.machine);
  EXPECT_EQ(machine->tree.get("/e")->data(), "successor");
}

TEST(FuzzyReplay, ANodeThatReplacesAnEphemeralSurvivesTheEphemeralsReplay) {
  check_successor_of_an_ephemeral({});
  Options before_three_six;
  before_three_six.close_session_paths = false;
  before_three_six.digest_enabled = false;
  check_successor_of_an_ephemeral(before_three_six);
}

TEST(FuzzyReplay, AnAclAddedDuringTheWalkStaysWithItsNode) {
  // The node's list is not in the snapshot's table. Before replay adds it again, another list is added, which
  // must not get the id that the node still has.
  using wire::testing::acl_bytes;
  const std::string late = acl_bytes({{31, {"ip", "1.1.1.1"}}});
  const std::string other = acl_bytes({{31, {"ip", "2.2.2.2"}}});
  Leader leader;
  Snapshot snapshot;
  begin(leader.machine, snapshot);
  leader.create("/other", {.acl = other});
  leader.create("/late", {.acl = late});
  leader.run(OpCode::kDelete, wire::testing::path_version_body("/other"));
  while (copy_next(leader.machine, snapshot)) {
  }
  leader.create("/other2", {.acl = other});
  const auto machine = recovered({}, snapshot, leader.applied);
  expect_equal(*machine, leader.machine);
  EXPECT_EQ(machine->tree.acl(*machine->tree.get("/late"))->bytes, late);
  EXPECT_EQ(machine->tree.acl(*machine->tree.get("/other2"))->bytes, other);
}

}  // namespace
}  // namespace drover::state

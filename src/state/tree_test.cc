// SPDX-License-Identifier: Apache-2.0
#include "state/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/path.h"
#include "base/random.h"
#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;

// Creates a node below an existing parent as apply does, but does not change the parent's attributes.
NodeRef add(Tree& tree, std::string_view path, const wire::Nullable& data = "", std::int64_t owner = 0) {
  wire::StatPersisted stat;
  stat.ephemeral_owner = owner;
  return tree.insert(tree.find(parent_path(path)), {path, data, kOpenAcl, stat});
}

// docs/storage-format.md, "Snapshot" and "Digest".
TEST(Tree, ANewTreeHasTheSpecialNodesAndJavasDigest) {
  Tree tree({});
  EXPECT_EQ(tree.node_count(), 5u);
  EXPECT_EQ(tree.digest(), 0x51c6d660u);
  for (const auto path : {kRootPath, kZooKeeperPath, kQuotaPath, kConfigPath}) {
    ASSERT_NE(tree.get(path), nullptr) << path;
    EXPECT_EQ(tree.get(path)->data(), "");
  }
  EXPECT_EQ(tree.stat(*tree.get("/zookeeper")).cversion, -2) << "2 * 0 creates - 2 children";
  EXPECT_EQ(tree.get("/zookeeper/config")->aversion, -1);
  EXPECT_EQ(tree.acl(*tree.get("/zookeeper/config"))->bytes,
            wire::testing::acl_bytes({{wire::kRead, {"world", "anyone"}}}));
}

TEST(Tree, TheRootHasTwoNames) {
  Tree tree({});
  EXPECT_EQ(tree.find(""), tree.root());
  EXPECT_EQ(tree.find("/"), tree.root());
  EXPECT_EQ(tree.path_of(tree.root()), "/");
}

TEST(Tree, OnlyExactPathsAreFound) {
  Tree tree({});
  add(tree, "/a");
  add(tree, "/a/bc");
  for (const char* path :
       {"a", "/a/", "//", "/b", "/a/b", "/a/bcd", "/a/bc/", "/abc", "/a//bc", "bc", "/bc"}) {
    EXPECT_EQ(tree.find(path), kNoNode) << path;
  }
  EXPECT_EQ(tree.path_of(tree.find("/a/bc")), "/a/bc");
}

TEST(Tree, StatCountsDeletesInCversionAndShowsOnlySessionsAsOwners) {
  Tree tree(with_extended_types());
  const NodeRef parent = add(tree, "/p");
  add(tree, "/p/a");
  add(tree, "/p/b");
  tree.set_child_version(parent, "/p", 5, Zxid{9});
  EXPECT_EQ(tree.stat(tree.at(parent)).cversion, 8);  // 5 creates, 3 of them deleted
  EXPECT_EQ(tree.stat(tree.at(parent)).num_children, 2);
  EXPECT_EQ(tree.stat(tree.at(parent)).pzxid, Zxid{9});

  EXPECT_EQ(tree.stat(tree.at(add(tree, "/e", "", 77))).ephemeral_owner, 77);
  EXPECT_EQ(tree.stat(tree.at(add(tree, "/c", "", kContainerOwner))).ephemeral_owner, 0);
  EXPECT_EQ(tree.stat(tree.at(add(tree, "/t", "", owner_of_ttl(5)))).ephemeral_owner, 0);
  EXPECT_EQ(tree.stat(tree.at(add(tree, "/n", std::nullopt))).data_length, 0);
  EXPECT_EQ(tree.get("/n")->data(), std::nullopt);
}

TEST(Tree, ACversionThatWrapsIsComputedAsJavaDoes) {
  Tree tree({});
  const NodeRef parent = add(tree, "/p");
  add(tree, "/p/a");
  tree.set_child_version(parent, "/p", 2147483647, Zxid{1});
  EXPECT_EQ(tree.stat(tree.at(parent)).cversion, -3);  // 2 * INT_MAX - 1 in 32 bits
}

TEST(Tree, ListsEphemeralsContainersAndTtlNodes) {
  Tree tree(with_extended_types());
  const NodeRef e = add(tree, "/e", "", 77);
  const NodeRef c = add(tree, "/c", "", kContainerOwner);
  const NodeRef t = add(tree, "/t", "", owner_of_ttl(5));
  EXPECT_TRUE(tree.ephemerals_of(SessionId{77})->contains(e));
  EXPECT_TRUE(tree.containers().contains(c));
  EXPECT_TRUE(tree.ttl_nodes().contains(t));
  tree.remove(e, "/e");
  tree.remove(c, "/c");
  tree.remove(t, "/t");
  EXPECT_EQ(tree.ephemerals_of(SessionId{77}), nullptr);
  EXPECT_TRUE(tree.containers().empty());
  EXPECT_TRUE(tree.ttl_nodes().empty());
  EXPECT_EQ(broken_invariant(tree), "");
}

TEST(Tree, NodesBelowZookeeperDoNotCountInTheDigest) {
  Tree tree({});
  const std::uint64_t before = tree.digest();
  const NodeRef quota = add(tree, "/zookeeper/quota/x", "data");
  EXPECT_EQ(tree.digest(), before);
  tree.rewrite_data(quota, "/zookeeper/quota/x", "other data");
  EXPECT_EQ(tree.digest(), before);
  add(tree, "/zookeeperish");
  EXPECT_NE(tree.digest(), before);
}

TEST(Tree, AfterClearOnlyAnEmptyRootIsLeft) {
  Tree tree({});
  add(tree, "/a", std::string(5000, 'x'));  // a block from malloc: the leak checker checks it
  add(tree, "/a/b", "small", 5);
  tree.clear();
  EXPECT_EQ(tree.node_count(), 2u);
  EXPECT_EQ(tree.find("/a"), kNoNode);
  EXPECT_EQ(tree.ephemerals_of(SessionId{5}), nullptr);
  EXPECT_EQ(broken_invariant(tree), "");
  tree.ensure_special_nodes();
  EXPECT_EQ(tree.digest(), 0x51c6d660u);
}

TEST(Tree, RestoringTheRootReplacesItsDataAndStat) {
  Tree tree({});
  tree.clear();
  wire::StatPersisted stat;
  stat.cversion = 9;
  stat.mzxid = Zxid{4};
  tree.restore_root({"", "root data", kOpenAcl, stat});
  EXPECT_EQ(tree.get("/")->data(), "root data");
  EXPECT_EQ(tree.get("/")->cversion, 9);
  EXPECT_EQ(broken_invariant(tree), "");
  tree.set_data(tree.root(), "/", "", stat);
  EXPECT_EQ(broken_invariant(tree), "") << "the memory of the root's data is released";
}

// ---- a random history against a map ----

struct Model {
  wire::StatPersisted stat;
  std::optional<std::string> data;
  std::string acl = wire::open_acl_bytes();
};

class RandomHistory {
 public:
  explicit RandomHistory(std::uint64_t seed) : random_(seed), tree_(with_extended_types()) {
    for (const auto path : {"", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"}) {
      model_[path] = {persisted_stat(*tree_.get(path)), "", tree_.acl(*tree_.get(path))->bytes};
    }
  }

  void step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
      case 3: return create();
      case 4: return remove();
      case 5: return set_data();
      case 6: return set_acl();
      default: return set_child_version();
    }
  }

  void check() const {
    ASSERT_EQ(broken_invariant(tree_), "");
    ASSERT_EQ(tree_.node_count(), model_.size() + 1);
    for (const auto& [path, expected] : model_) {
      const Node* node = tree_.get(path);
      ASSERT_NE(node, nullptr) << path;
      EXPECT_EQ(persisted_stat(*node), expected.stat) << path;
      EXPECT_EQ(node->data(), wire::Nullable(expected.data)) << path;
      EXPECT_EQ(tree_.acl(*node)->bytes, expected.acl) << path;
      const auto below = std::count_if(model_.begin(), model_.end(), [&, p = path](const auto& other) {
        return !other.first.empty() && parent_path(other.first) == p;
      });
      EXPECT_EQ(node->child_count, static_cast<std::uint32_t>(below)) << path;
    }
  }

 private:
  const std::string& any() {
    return std::next(model_.begin(), static_cast<std::ptrdiff_t>(random_.below(model_.size())))->first;
  }
  std::optional<std::string> any_data() {
    const std::uint64_t kind = random_.below(10);
    if (kind == 0) return std::nullopt;
    return std::string(kind == 1 ? 1000 + random_.below(2000) : random_.below(40),
                       static_cast<char>('a' + kind));
  }
  wire::StatPersisted any_stat() {
    const std::int64_t owners[] = {0, 0, 1, 2, kContainerOwner, owner_of_ttl(7)};
    return {Zxid{static_cast<std::int64_t>(random_.below(99))}, Zxid{5}, 6, 7, 8, 9, 10,
            owners[random_.below(std::size(owners))],           Zxid{11}};
  }
  std::string any_acl() {
    if (random_.below(2) == 0) return wire::open_acl_bytes();
    return wire::testing::acl_bytes({{static_cast<std::int32_t>(1 + random_.below(5)), {"world", "anyone"}}});
  }

  void create() {
    const std::string parent = any();
    const std::string path =
        parent + "/" + std::string(1 + random_.below(12), static_cast<char>('a' + random_.below(4)));
    if (model_.contains(path)) return;
    const Model fresh{any_stat(), any_data(), any_acl()};
    tree_.insert(tree_.find(parent), {path, fresh.data, tree_.acls().acquire(fresh.acl), fresh.stat});
    model_[path] = fresh;
  }
  void remove() {
    const std::string path = any();
    const NodeRef ref = tree_.find(path);
    if (path.empty() || tree_.at(ref).child_count > 0) return;
    tree_.remove(ref, path);
    model_.erase(path);
  }
  void set_data() {
    const std::string path = any();
    Model& node = model_[path];
    node.data = any_data();
    node.stat.version++;
    tree_.set_data(tree_.find(path), path.empty() && random_.below(2) == 0 ? "/" : path, node.data,
                   node.stat);
  }
  void set_acl() {
    const std::string path = any();
    Model& node = model_[path];
    node.acl = any_acl();
    node.stat.aversion++;
    tree_.set_acl(tree_.find(path), path, tree_.acls().acquire(node.acl), node.stat.aversion);
  }
  void set_child_version() {
    const std::string path = any();
    Model& node = model_[path];
    node.stat.cversion++;
    node.stat.pzxid = next(node.stat.pzxid);
    tree_.set_child_version(tree_.find(path), path, node.stat.cversion, node.stat.pzxid);
  }

  Random random_;
  Tree tree_;
  std::map<std::string, Model> model_;
};

TEST(Tree, BehavesLikeAMapOfPaths) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHistory history(seed);
    for (int i = 0; i < 600; ++i) history.step();
    history.check();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace drover::state

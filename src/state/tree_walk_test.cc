// SPDX-License-Identifier: Apache-2.0
//
// Walks of fuzzy snapshots during writes.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/random.h"
#include "state/tree.h"

namespace drover::state {
namespace {

// A node's identity beyond its path: a node that is deleted and created again has a new identity.
using Identity = std::int64_t;

// One walk and its expected results.
class Walker {
 public:
  Walker(Tree& tree, const std::map<std::string, Identity>& alive) : tree_(tree), walk_(tree) {
    for (const auto& [path, identity] : alive) survivors_.insert(identity);
  }

  void on_removed(Identity identity) { survivors_.erase(identity); }

  // Visits and checks one node; false at the end.
  bool visit() {
    const NodeRef ref = walk_.position();
    if (ref == kNoNode) return false;
    const Node& node = tree_.at(ref);
    const std::string path = tree_.path_of(ref);
    if (ref != tree_.root() && !path.starts_with("/zookeeper")) {
      EXPECT_TRUE(visited_.insert(raw(node.czxid)).second) << path << " visited twice";
      EXPECT_TRUE(visited_paths_.insert(path).second) << path << " is twice in the snapshot";
      const std::string parent(parent_path(path));
      EXPECT_TRUE(parent.empty() || visited_paths_.contains(parent)) << path << " came before its parent";
    }
    walk_.advance();
    return true;
  }

  void check_survivors_visited() const {
    for (const Identity identity : survivors_) {
      EXPECT_TRUE(visited_.contains(identity) || identity == 0) << "node " << identity << " was missed";
    }
  }

 private:
  Tree& tree_;
  Tree::Walk walk_;
  std::set<Identity> survivors_;  // alive since the walk began
  std::set<Identity> visited_;
  std::set<std::string> visited_paths_;
};

class Forest {
 public:
  explicit Forest(std::uint64_t seed) : random_(seed), tree_(Options{}) {}

  void create() {
    const auto parent = std::next(alive_.begin(), static_cast<std::ptrdiff_t>(random_.below(alive_.size())));
    const std::string path = parent->first + "/" + static_cast<char>('a' + random_.below(4));
    if (alive_.contains(path) || path.size() > 12) return;
    wire::StatPersisted stat;
    stat.czxid = Zxid{++last_identity_};
    tree_.insert(tree_.find(parent->first), {path, "", kOpenAcl, stat});
    alive_[path] = last_identity_;
  }

  void remove() {
    const auto victim = std::next(alive_.begin(), static_cast<std::ptrdiff_t>(random_.below(alive_.size())));
    if (victim->first.empty()) return;
    remove_below(victim->first);
  }

  // Removes leaf by leaf, as clients must.
  void remove_below(const std::string& top) {
    std::vector<std::string> doomed;
    for (const auto& [path, identity] : alive_) {
      if (is_within(path, top)) doomed.push_back(path);
    }
    for (auto path = doomed.rbegin(); path != doomed.rend(); ++path) {
      tree_.remove(tree_.find(*path), *path);
      for (const auto& walker : walkers_) walker->on_removed(alive_.at(*path));
      alive_.erase(*path);
    }
  }

  void write() { random_.below(2) == 0 ? create() : remove(); }

  void begin() { walkers_.push_back(std::make_unique<Walker>(tree_, alive_)); }

  // Visits one node of one of the walks. At its end, the walk is checked and dropped. False if there is no
  // walk.
  bool visit() {
    if (walkers_.empty()) return false;
    const auto walker = walkers_.begin() + static_cast<std::ptrdiff_t>(random_.below(walkers_.size()));
    if ((*walker)->visit()) return true;
    (*walker)->check_survivors_visited();
    walkers_.erase(walker);
    return !walkers_.empty();
  }

  // Ends a walk early.
  void give_up_one() {
    if (!walkers_.empty()) walkers_.pop_back();
  }

  Random& random() { return random_; }

 private:
  Random random_;
  Tree tree_;
  std::map<std::string, Identity> alive_{{"", 0}};
  Identity last_identity_ = 0;
  std::vector<std::unique_ptr<Walker>> walkers_;
};

TEST(TreeWalk, VisitsEveryRemainingNodeOnceParentsFirst) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Forest forest(seed);
    const std::uint64_t writes_per_visit = seed % 5;
    for (int i = 0; i < 60; ++i) forest.create();
    forest.begin();
    for (int visits = 0; forest.visit(); ++visits) {
      ASSERT_LT(visits, 10'000) << "the walk does not end";
      // New nodes keep coming. The walk ends even if they come faster than it advances, because they are
      // added behind it.
      for (std::uint64_t w = 0; w < writes_per_visit; ++w) forest.write();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TreeWalk, VisitsEveryRemainingNodeOnceDespiteOtherWalks) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Forest forest(seed);
    for (int i = 0; i < 60; ++i) forest.create();
    std::uint64_t walks_to_come = 2 + seed % 6;
    forest.begin();
    for (int visits = 0; forest.visit() || walks_to_come > 0; ++visits) {
      ASSERT_LT(visits, 100'000) << "the walks do not end";
      for (std::uint64_t w = forest.random().below(4); w > 0; --w) forest.write();
      if (walks_to_come > 0 && forest.random().below(10) == 0) {
        forest.begin();
        --walks_to_come;
      }
      if (forest.random().below(100) == 0) forest.give_up_one();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

std::vector<std::string> rest_of(const Tree& tree, Tree::Walk& walk) {
  std::vector<std::string> paths;
  for (; walk.position() != kNoNode; walk.advance()) paths.push_back(tree.path_of(walk.position()));
  return paths;
}

struct ThreeNodes : ::testing::Test {
  ThreeNodes() {
    tree.clear();
    for (const char* path : {"/c", "/b", "/a"}) tree.insert(tree.root(), {path, "", kOpenAcl, {}});
  }
  using Paths = std::vector<std::string>;
  Tree tree{{}};
};

TEST_F(ThreeNodes, WalkContinuesAfterItsCurrentNodeIsRemoved) {
  Tree::Walk walk(tree);
  walk.advance();  // the root
  ASSERT_EQ(tree.path_of(walk.position()), "/a");
  tree.remove(tree.find("/a"), "/a");
  EXPECT_EQ(rest_of(tree, walk), (Paths{"/b", "/c"}));
  EXPECT_FALSE(walk.cut_off());
}

TEST_F(ThreeNodes, EveryWalkAtARemovedNodeContinuesAfterIt) {
  Tree::Walk first(tree);
  Tree::Walk second(tree);
  Tree::Walk elsewhere(tree);
  for (Tree::Walk* walk : {&first, &second}) walk->advance();
  tree.remove(tree.find("/a"), "/a");
  EXPECT_EQ(rest_of(tree, first), (Paths{"/b", "/c"}));
  EXPECT_EQ(rest_of(tree, second), (Paths{"/b", "/c"}));
  EXPECT_EQ(rest_of(tree, elsewhere), (Paths{"/", "/b", "/c"}));
}

TEST_F(ThreeNodes, WalkIsNotAffectedWhenAnotherOneEnds) {
  auto other = std::make_optional<Tree::Walk>(tree);
  Tree::Walk walk(tree);
  walk.advance();
  other.reset();
  tree.remove(tree.find("/a"), "/a");
  // The new walk takes the place of the walk that ended, and no other.
  Tree::Walk successor(tree);
  EXPECT_EQ(rest_of(tree, successor), (Paths{"/", "/b", "/c"}));
  EXPECT_EQ(rest_of(tree, walk), (Paths{"/b", "/c"}));
}

TEST_F(ThreeNodes, WalkEndsWhenItsLastNodeIsRemoved) {
  Tree::Walk walk(tree);
  for (int i = 0; i < 3; ++i) walk.advance();
  ASSERT_EQ(tree.path_of(walk.position()), "/c");
  tree.remove(tree.find("/c"), "/c");
  EXPECT_EQ(walk.position(), kNoNode);
  EXPECT_FALSE(walk.cut_off()) << "the tree was seen as a whole";
}

TEST_F(ThreeNodes, WalksEndWhenTheTreeIsCleared) {
  auto walk = std::make_optional<Tree::Walk>(tree);
  auto at_its_end = std::make_optional<Tree::Walk>(tree);
  walk->advance();
  rest_of(tree, *at_its_end);
  tree.clear();
  tree.insert(tree.root(), {"/d", "", kOpenAcl, {}});
  for (auto* cut : {&walk, &at_its_end}) {
    EXPECT_EQ((*cut)->position(), kNoNode) << "it does not continue in the new tree";
    EXPECT_TRUE((*cut)->cut_off());
    cut->reset();
  }
  Tree::Walk fresh(tree);  // reuses the place of a walk that was cut off
  EXPECT_FALSE(fresh.cut_off());
  EXPECT_EQ(rest_of(tree, fresh), (Paths{"/", "/d"}));
}

using TreeWalkDeathTest = ThreeNodes;

TEST_F(TreeWalkDeathTest, DestroyingATreeBeforeItsWalkAborts) {
  EXPECT_DEATH(
      {
        auto gone = std::make_unique<Tree>(Options{});
        Tree::Walk walk(*gone);
        gone.reset();
      },
      "the tree outlives its walks");
}

// The children of /d that a walk visits if `change` happens after its second child.
template <class Change>
std::vector<std::string> children_met(Change change) {
  Tree tree{Options{}};
  const auto add = [&](const std::string& path) {
    tree.insert(tree.find(parent_path(path)), {.path = path, .data = "", .acl = kOpenAcl, .stat = {}});
  };
  for (const char* path : {"/behind", "/d", "/before", "/d/1", "/d/2", "/d/3", "/d/4", "/d/2/below"})
    add(path);
  const auto remove = [&](const std::string& path) { tree.remove(tree.find(path), path); };
  std::vector<std::string> met;
  Tree::ChildWalk walk(tree, tree.find("/d"));
  for (NodeRef at = walk.position(); at != kNoNode; at = walk.position()) {
    met.emplace_back(tree.at(at).name());
    walk.advance();
    if (met.size() == 2) change(add, remove, tree);
  }
  return met;
}

TEST(ChildWalk, VisitsEachChildOnceAndNoDescendants) {
  using Names = std::vector<std::string>;
  const auto nothing = [](auto&, auto&, Tree&) {};
  EXPECT_EQ(children_met(nothing), (Names{"4", "3", "2", "1"}));
}

TEST(ChildWalk, ContinuesAfterRemovedChildrenAndEndsWithTheLast) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(children_met([](auto&, auto& remove, Tree&) {
              remove("/d/2/below");
              remove("/d/2");  // the current position
            }),
            (Names{"4", "3", "1"}));
  EXPECT_EQ(children_met([](auto& add, auto& remove, Tree&) {
              for (const char* path : {"/d/2/below", "/d/2", "/d/1", "/d/3", "/d/4", "/d"}) remove(path);
              add("/d");  // gets the NodeRef of the old one
              add("/d/new");
            }),
            (Names{"4", "3"}));
  EXPECT_EQ(children_met([](auto&, auto&, Tree& tree) { tree.clear(); }), (Names{"4", "3"}));
}

}  // namespace
}  // namespace drover::state

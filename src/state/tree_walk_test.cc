// SPDX-License-Identifier: Apache-2.0
//
// The walk that a fuzzy snapshot makes while others write.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/random.h"
#include "state/tree.h"

namespace drover::state {
namespace {

// A node's identity beyond its path: a node that is deleted and created again is another one.
using Identity = std::int64_t;

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

  // Leaf by leaf, as clients must.
  void remove_below(const std::string& top) {
    std::vector<std::string> doomed;
    for (const auto& [path, identity] : alive_) {
      if (is_within(path, top)) doomed.push_back(path);
    }
    for (auto path = doomed.rbegin(); path != doomed.rend(); ++path) {
      tree_.remove(tree_.find(*path), *path);
      survivors_.erase(alive_.at(*path));
      alive_.erase(*path);
    }
  }

  void begin() {
    for (const auto& [path, identity] : alive_) survivors_.insert(identity);
    tree_.begin_walk();
  }

  // One node, checked; false at the end.
  bool visit() {
    const NodeRef ref = tree_.walk_position();
    if (ref == kNoNode) return false;
    const Node& node = tree_.at(ref);
    const std::string path = tree_.path_of(ref);
    if (ref != tree_.root() && !path.starts_with("/zookeeper")) {
      EXPECT_TRUE(visited_.insert(raw(node.czxid)).second) << path << " visited twice";
      EXPECT_TRUE(visited_paths_.insert(path).second) << path << " is twice in the snapshot";
      const std::string parent(parent_path(path));
      EXPECT_TRUE(parent.empty() || visited_paths_.contains(parent)) << path << " came before its parent";
    }
    tree_.advance_walk();
    return true;
  }

  void check_survivors_visited() const {
    for (const Identity identity : survivors_) {
      EXPECT_TRUE(visited_.contains(identity) || identity == 0) << "node " << identity << " was missed";
    }
  }

  Random& random() { return random_; }

 private:
  Random random_;
  Tree tree_;
  std::map<std::string, Identity> alive_{{"", 0}};
  std::set<Identity> survivors_;  // alive since the walk began
  std::set<Identity> visited_;
  std::set<std::string> visited_paths_;
  Identity last_identity_ = 0;
};

TEST(TreeWalk, MeetsEveryNodeThatStaysExactlyOnceParentsFirst) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Forest forest(seed);
    const std::uint64_t writes_per_visit = seed % 5;
    for (int i = 0; i < 60; ++i) forest.create();
    forest.begin();
    for (int visits = 0; forest.visit(); ++visits) {
      ASSERT_LT(visits, 10'000) << "the walk does not end";
      // New nodes keep coming; if they came faster than the walk goes, it would still end, since they go
      // behind it.
      for (std::uint64_t w = 0; w < writes_per_visit; ++w) {
        forest.random().below(2) == 0 ? forest.create() : forest.remove();
      }
    }
    forest.check_survivors_visited();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TreeWalk, GoesOnWhenTheNodeItStandsOnIsRemoved) {
  Tree tree({});
  for (const char* path : {"/c", "/b", "/a"}) tree.insert(tree.root(), {path, "", kOpenAcl, {}});
  std::vector<std::string> seen;
  tree.begin_walk();
  tree.advance_walk();  // the root
  ASSERT_EQ(tree.path_of(tree.walk_position()), "/a");
  tree.remove(tree.find("/a"), "/a");
  while (tree.walk_position() != kNoNode) {
    seen.push_back(tree.path_of(tree.walk_position()));
    tree.advance_walk();
  }
  ASSERT_GE(seen.size(), 2u);
  EXPECT_EQ(seen[0], "/b");
  EXPECT_EQ(seen[1], "/c");
}

TEST(TreeWalk, EndsWhenItsLastNodeIsRemoved) {
  Tree tree({});
  tree.clear();
  tree.insert(tree.root(), {"/a", "", kOpenAcl, {}});
  tree.begin_walk();
  tree.advance_walk();
  tree.remove(tree.find("/a"), "/a");
  EXPECT_EQ(tree.walk_position(), kNoNode);
}

}  // namespace
}  // namespace drover::state

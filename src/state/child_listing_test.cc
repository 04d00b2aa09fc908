// SPDX-License-Identifier: Apache-2.0
#include "state/child_listing.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "wire/jute.h"

namespace drover::state {
namespace {

using Names = std::multiset<std::string>;

Names names_in(std::string_view bytes) {
  Names names;
  wire::Reader r(bytes);
  while (!r.at_end()) names.emplace(r.string());
  EXPECT_TRUE(r.ok());
  return names;
}

// A tree of two parents with few names, so that nodes often get the numbers of others.
class Family {
 public:
  explicit Family(std::uint64_t seed) : random_(seed) {
    for (const char* parent : kParents) create(parent);
  }

  void write() {
    const std::string parent = kParents[random_.below(2)];
    const std::string name = "c" + std::to_string(random_.below(40));
    children_[parent].contains(name) ? remove(parent, name) : add(parent, name);
  }
  // Also the parent, and it comes back under another number.
  void replace_parent() {
    const std::string parent = kParents[random_.below(2)];
    for (const std::string& name : Names(children_[parent])) remove(parent, name);
    tree_.remove(tree_.find(parent), parent);
    create(parent);
  }
  void begin() {
    const std::string parent = kParents[random_.below(2)];
    copies_.push_back(std::make_unique<Copy>(tree_, tree_.find(parent), children_[parent]));
  }
  // A piece of one of the copies.
  void copy() {
    if (copies_.empty()) return;
    const auto copy = copies_.begin() + static_cast<std::ptrdiff_t>(random_.below(copies_.size()));
    (*copy)->listing.copy(1 + random_.below(3));
    if (!(*copy)->listing.complete()) return;
    (*copy)->check();
    copies_.erase(copy);
    ++compared_;
  }
  Random& random() { return random_; }
  int compared() const { return compared_; }
  std::size_t unfinished() const { return copies_.size(); }

 private:
  static constexpr const char* kParents[] = {"/a", "/b"};

  struct Copy {
    Copy(const Tree& tree, NodeRef parent, Names children)
        : wanted(std::move(children)), listing(tree, parent, bytes) {}
    void check() const { EXPECT_EQ(names_in(bytes), wanted); }

    Names wanted;
    std::string bytes;
    ChildListing listing;
  };

  void create(const std::string& path) {
    const std::string parent = path.substr(0, path.rfind('/'));
    tree_.insert(tree_.find(parent), {path, "", kOpenAcl, {}});
  }
  void add(const std::string& parent, const std::string& name) {
    create(parent + "/" + name);
    children_[parent].insert(name);
  }
  void remove(const std::string& parent, const std::string& name) {
    const std::string path = parent + "/" + name;
    tree_.remove(tree_.find(path), path);
    children_[parent].erase(name);
  }

  Random random_;
  Tree tree_{Options{}};
  std::map<std::string, Names> children_;
  std::vector<std::unique_ptr<Copy>> copies_;
  int compared_ = 0;
};

TEST(ChildListing, HasTheChildrenOfTheMomentWhenItBeganWhateverIsWrittenMeanwhile) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Family family(seed);
    for (int i = 0; i < 60; ++i) family.write();
    for (int i = 0; i < 2'000; ++i) {
      switch (family.random().below(8)) {
        case 0: family.begin(); break;
        case 1:
        case 2:
        case 3: family.copy(); break;
        default: family.random().below(200) == 0 ? family.replace_parent() : family.write();
      }
    }
    while (family.unfinished() > 0) family.copy();
    EXPECT_GT(family.compared(), 100);
  }
}

TEST(ChildListing, IsCutOffWhenTheTreeIsReplaced) {
  Tree tree{Options{}};
  for (const char* path : {"/a", "/b"}) tree.insert(tree.root(), {path, "", kOpenAcl, {}});
  std::string bytes;
  ChildListing listing(tree, tree.root(), bytes);
  listing.copy(1);
  tree.clear();
  tree.insert(tree.root(), {"/c", "", kOpenAcl, {}});
  tree.remove(tree.find("/c"), "/c");
  listing.copy(10);
  EXPECT_TRUE(listing.cut_off());
  EXPECT_FALSE(listing.complete());
  EXPECT_EQ(names_in(bytes), Names{"b"});
}

TEST(ChildListing, OfNoChildrenIsComplete) {
  Tree tree{Options{}};
  tree.insert(tree.root(), {"/a", "", kOpenAcl, {}});
  std::string bytes;
  EXPECT_TRUE(ChildListing(tree, tree.find("/a"), bytes).complete());
}

}  // namespace
}  // namespace drover::state

// SPDX-License-Identifier: Apache-2.0
//
// Which watches fire for which change (docs/client-protocol.md, "Watches").
#include "state/watches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/random.h"

namespace drover::state {
namespace {

using wire::EventType;

constexpr WatcherId kA{0};
constexpr WatcherId kB{1};

using Heard = std::multiset<WatcherId>;

Heard fire(Watches& watches, EventType event, std::string_view path) {
  std::vector<WatcherId> out{WatcherId{99}};  // earlier content does not matter
  watches.fire(event, path, out);
  return {out.begin(), out.end()};
}

constexpr EventType kEvents[] = {EventType::kNodeCreated, EventType::kNodeDeleted,
                                 EventType::kNodeDataChanged, EventType::kNodeChildrenChanged};

TEST(Watches, AOneShotWatchFiresOnceForTheEventsOfItsTable) {
  for (const EventType event : kEvents) {
    Watches watches{HashKey{}};
    watches.add(kA, "/n", WatchTable::kData, kStandard);
    watches.add(kB, "/n", WatchTable::kChild, kStandard);
    Heard expected;
    if (event != EventType::kNodeChildrenChanged) expected.insert(kA);
    if (event == EventType::kNodeChildrenChanged || event == EventType::kNodeDeleted) expected.insert(kB);
    EXPECT_EQ(fire(watches, event, "/n"), expected) << static_cast<int>(event);
    EXPECT_EQ(fire(watches, event, "/n"), Heard{}) << "once only";
    EXPECT_EQ(watches.watch_count(), 2 - expected.size());
  }
}

TEST(Watches, ADeletionFiresOnceForAWatcherInBothTables) {
  Watches watches{HashKey{}};
  watches.add(kA, "/n", WatchTable::kData, kStandard);
  watches.add(kA, "/n", WatchTable::kChild, kStandard);
  EXPECT_EQ(fire(watches, EventType::kNodeDeleted, "/n"), Heard{kA});
  EXPECT_TRUE(watches.empty());
}

TEST(Watches, FiringInOneTableKeepsTheWatchInTheOther) {
  Watches watches{HashKey{}};
  watches.add(kA, "/n", WatchTable::kData, kStandard);
  watches.add(kA, "/n", WatchTable::kChild, kStandard);
  EXPECT_EQ(fire(watches, EventType::kNodeDataChanged, "/n"), Heard{kA});
  EXPECT_TRUE(watches.contains(kA, "/n", WatcherType::kChildren));
  EXPECT_FALSE(watches.contains(kA, "/n", WatcherType::kData));
  EXPECT_EQ(fire(watches, EventType::kNodeChildrenChanged, "/n"), Heard{kA});
}

TEST(Watches, APersistentWatchFiresEveryTimeForEveryEvent) {
  Watches watches{HashKey{}};
  watches.add(kA, "/n", WatchTable::kData, kPersistent);
  watches.add(kA, "/n", WatchTable::kChild, kPersistent);
  for (const EventType event : kEvents) {
    EXPECT_EQ(fire(watches, event, "/n"), Heard{kA});
    EXPECT_EQ(fire(watches, event, "/n"), Heard{kA});
    EXPECT_EQ(fire(watches, event, "/n/below"), Heard{}) << "but not for descendants";
  }
}

TEST(Watches, ARecursiveWatchFiresForDescendantsButNeverForChildrenChanged) {
  Watches watches{HashKey{}};
  watches.add(kA, "/n", WatchTable::kData, kPersistentRecursive);
  for (const char* path : {"/n", "/n/a", "/n/a/b/c"}) {
    EXPECT_EQ(fire(watches, EventType::kNodeCreated, path), Heard{kA}) << path;
    EXPECT_EQ(fire(watches, EventType::kNodeDataChanged, path), Heard{kA}) << path;
    EXPECT_EQ(fire(watches, EventType::kNodeDeleted, path), Heard{kA}) << path;
    EXPECT_EQ(fire(watches, EventType::kNodeChildrenChanged, path), Heard{}) << path;
  }
  for (const char* path : {"/", "/na", "/m/n"})
    EXPECT_EQ(fire(watches, EventType::kNodeCreated, path), Heard{}) << path;
}

TEST(Watches, ARecursiveWatchOnTheRootCoversTheTree) {
  Watches watches{HashKey{}};
  watches.add(kA, "/", WatchTable::kData, kPersistentRecursive);
  EXPECT_EQ(fire(watches, EventType::kNodeCreated, "/x"), Heard{kA});
  EXPECT_EQ(fire(watches, EventType::kNodeDataChanged, "/x/y/z"), Heard{kA});
  EXPECT_EQ(fire(watches, EventType::kNodeDataChanged, "/"), Heard{kA});
}

TEST(Watches, EachWatcherGetsAnEventOnceEvenIfSeveralWatchesMatch) {
  Watches watches{HashKey{}};
  watches.add(kA, "/", WatchTable::kData, kPersistentRecursive);
  watches.add(kA, "/n", WatchTable::kData, kPersistentRecursive);
  watches.add(kA, "/n/x", WatchTable::kData, kStandard);
  watches.add(kA, "/n/x", WatchTable::kData, kPersistent);
  watches.add(kB, "/n", WatchTable::kData, kPersistentRecursive);
  EXPECT_EQ(fire(watches, EventType::kNodeCreated, "/n/x"), (Heard{kA, kB}));
}

TEST(Watches, ModesCoexistAndOnlyTheOneShotWatchIsRemoved) {
  Watches watches{HashKey{}};
  watches.add(kA, "/n", WatchTable::kData, kStandard);
  watches.add(kA, "/n", WatchTable::kData, kPersistent);
  watches.add(kA, "/n", WatchTable::kData, kPersistentRecursive);
  EXPECT_EQ(fire(watches, EventType::kNodeDataChanged, "/n"), Heard{kA});
  EXPECT_FALSE(watches.contains(kA, "/n", WatcherType::kData));
  EXPECT_TRUE(watches.contains(kA, "/n", WatcherType::kPersistent));
  EXPECT_TRUE(watches.contains(kA, "/n", WatcherType::kRecursive));
  EXPECT_TRUE(watches.remove(kA, "/n", WatcherType::kPersistent));
  EXPECT_EQ(fire(watches, EventType::kNodeDataChanged, "/n/below"), Heard{kA});
}

// docs/client-protocol.md, "Watches".
TEST(Watches, RemoveAndCheckAffectOnlyTheirType) {
  const struct {
    WatcherType type;
    std::set<int> selects;  // indexes of the registrations below
  } cases[] = {{WatcherType::kChildren, {1}},
               {WatcherType::kData, {0}},
               {WatcherType::kPersistent, {2}},
               {WatcherType::kRecursive, {3}},
               {WatcherType::kAny, {0, 1, 2, 3}}};
  const auto register_one = [](Watches& watches, int kind) {
    if (kind == 0) watches.add(kA, "/n", WatchTable::kData, kStandard);
    if (kind == 1) watches.add(kA, "/n", WatchTable::kChild, kStandard);
    if (kind == 2) {
      watches.add(kA, "/n", WatchTable::kData, kPersistent);
      watches.add(kA, "/n", WatchTable::kChild, kPersistent);
    }
    if (kind == 3) watches.add(kA, "/n", WatchTable::kData, kPersistentRecursive);
  };
  for (const auto& c : cases) {
    for (int kind = 0; kind < 4; ++kind) {
      Watches watches{HashKey{}};
      register_one(watches, kind);
      const bool selected = c.selects.contains(kind);
      EXPECT_EQ(watches.contains(kA, "/n", c.type), selected) << static_cast<int>(c.type) << " of " << kind;
      EXPECT_FALSE(watches.contains(kB, "/n", c.type));
      EXPECT_FALSE(watches.remove(kB, "/n", c.type));
      EXPECT_EQ(watches.remove(kA, "/n", c.type), selected);
      EXPECT_EQ(watches.empty(), selected);
      EXPECT_FALSE(watches.remove(kA, "/n", c.type) && selected) << "it is gone";
    }
  }
}

TEST(Watches, AClosedConnectionHasNoWatchesAndGetsNoEvents) {
  Watches watches{HashKey{}};
  watches.add(kA, "/n", WatchTable::kData, kPersistentRecursive);
  watches.add(kB, "/n", WatchTable::kData, kStandard);
  watches.forget(kA);
  EXPECT_EQ(watches.watch_count(), 1u);
  EXPECT_EQ(watches.watch_count(kA), 0u);
  EXPECT_EQ(fire(watches, EventType::kNodeDataChanged, "/n"), Heard{kB});
  watches.forget(kA);
  watches.forget(WatcherId{12345});
  EXPECT_TRUE(watches.empty());
}

TEST(Watches, FourLetterWordsListTheDataTable) {
  Watches watches{HashKey{}};
  watches.add(kA, "/d", WatchTable::kData, kStandard);
  watches.add(kA, "/c", WatchTable::kChild, kStandard);
  std::vector<Watches::Ref> refs;
  watches.append_refs(kA, refs);
  watches.append_refs(WatcherId{99}, refs);
  ASSERT_EQ(refs.size(), 2u);
  std::vector<std::string> seen;
  for (const Watches::Ref ref : refs) {
    if (const auto path = watches.data_watch(kA, ref)) seen.emplace_back(*path);
  }
  EXPECT_EQ(seen, std::vector<std::string>{"/d"});
  EXPECT_EQ(watches.path_count(), 2u);
}

TEST(Watches, RemovedWatchesAreNotListed) {
  Watches watches{HashKey{}};
  watches.add(kA, "/a", WatchTable::kData, kStandard);
  watches.add(kB, "/b", WatchTable::kData, kStandard);
  std::vector<Watches::Ref> refs;
  watches.append_refs(kA, refs);
  ASSERT_EQ(refs.size(), 1u);
  EXPECT_FALSE(watches.data_watch(kB, refs[0])) << "somebody else's";
  watches.remove(kA, "/a", WatcherType::kAny);
  EXPECT_FALSE(watches.data_watch(kA, refs[0]));
  watches.forget(kA);
  EXPECT_FALSE(watches.data_watch(kA, refs[0]));
}

// ---- comparison with a model that examines every registration ----

class Model {
 public:
  void add(WatcherId w, const std::string& path, WatchTable table, WatchMode mode) {
    all_.insert({w, path, table, mode});
  }

  bool remove(WatcherId w, const std::string& path, WatcherType type) {
    return std::erase_if(all_, [&](const Registration& r) {
             return r.watcher == w && r.path == path && is_of(r, type);
           }) > 0;
  }
  bool contains(WatcherId w, const std::string& path, WatcherType type) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Registration& r) {
      return r.watcher == w && r.path == path && is_of(r, type);
    });
  }
  void forget(WatcherId w) {
    std::erase_if(all_, [&](const Registration& r) { return r.watcher == w; });
  }

  Heard fire(EventType event, const std::string& path) {
    std::set<WatcherId> heard;
    const bool data = event != EventType::kNodeChildrenChanged;
    const bool child = !data || event == EventType::kNodeDeleted;
    for (const Registration& r : all_) {
      const bool in_table = r.table == WatchTable::kData ? data : child;
      const bool fits = r.mode == kPersistentRecursive ? is_within(path, r.path) : r.path == path;
      if (in_table && fits) heard.insert(r.watcher);
    }
    std::erase_if(all_, [&](const Registration& r) {
      return r.mode == kStandard && r.path == path && (r.table == WatchTable::kData ? data : child);
    });
    return {heard.begin(), heard.end()};
  }

  std::size_t count() const {
    std::set<std::pair<WatcherId, std::string>> pairs;
    for (const Registration& r : all_) pairs.emplace(r.watcher, r.path);
    return pairs.size();
  }

 private:
  struct Registration {
    WatcherId watcher;
    std::string path;
    WatchTable table;
    WatchMode mode;
    friend auto operator<=>(const Registration&, const Registration&) = default;
  };
  static bool is_of(const Registration& r, WatcherType type) {
    switch (type) {
      case WatcherType::kChildren: return r.table == WatchTable::kChild && r.mode == kStandard;
      case WatcherType::kData: return r.table == WatchTable::kData && r.mode == kStandard;
      case WatcherType::kPersistent: return r.mode == kPersistent;
      case WatcherType::kRecursive: return r.mode == kPersistentRecursive;
      case WatcherType::kAny: return true;
    }
    return false;
  }
  std::set<Registration> all_;
};

TEST(Watches, BehaveLikeAListOfRegistrations) {
  const std::string paths[] = {"/", "/a", "/a/b", "/a/b/c", "/ab", "/x/y"};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Watches watches{HashKey{}};
    Model model;
    for (int step = 0; step < 400; ++step) {
      const WatcherId watcher{static_cast<std::uint32_t>(random.below(6))};
      const std::string& path = paths[random.below(std::size(paths))];
      const auto type = static_cast<WatcherType>(1 + random.below(5));
      switch (random.below(8)) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const WatchMode modes[] = {kStandard, kPersistent, kPersistentRecursive};
          const WatchMode mode = modes[random.below(3)];
          const bool child = mode != kPersistentRecursive && random.below(2) == 0;
          watches.add(watcher, path, child ? WatchTable::kChild : WatchTable::kData, mode);
          model.add(watcher, path, child ? WatchTable::kChild : WatchTable::kData, mode);
          break;
        }
        case 4: ASSERT_EQ(watches.remove(watcher, path, type), model.remove(watcher, path, type)); break;
        case 5: ASSERT_EQ(watches.contains(watcher, path, type), model.contains(watcher, path, type)); break;
        case 6:
          if (random.below(10) > 0) break;
          watches.forget(watcher);
          model.forget(watcher);
          break;
        default: {
          const EventType event = kEvents[random.below(4)];
          ASSERT_EQ(fire(watches, event, path), model.fire(event, path))
              << "seed " << seed << " step " << step;
        }
      }
      ASSERT_EQ(watches.watch_count(), model.count()) << "seed " << seed << " step " << step;
    }
  }
}

TEST(Watches, WatchesOfAConnectionAreListedWithTheirModes) {
  Watches watches{HashKey{}};
  watches.add(kA, "/n", WatchTable::kData, kStandard);
  watches.add(kA, "/n", WatchTable::kChild, kPersistent);
  watches.add(kB, "/other", WatchTable::kData, kStandard);
  std::vector<std::tuple<std::string, int, int>> seen;
  const auto visit = [&](std::string_view path, std::uint8_t data, std::uint8_t child) {
    seen.emplace_back(path, data, child);
    return true;
  };
  watches.for_each_of(kA, visit);
  watches.for_each_of(WatcherId{7}, visit);
  EXPECT_EQ(seen, (std::vector<std::tuple<std::string, int, int>>{{"/n", kStandard, kPersistent}}));
}

}  // namespace
}  // namespace drover::state

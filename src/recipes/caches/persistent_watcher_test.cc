// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/persistent_watcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recipes/trouble_testing.h"

namespace drover::recipes::testing {
namespace {

// What was told, in order: paths, and "gap".
struct Told {
  PersistentWatcher::Callbacks callbacks() {
    return {.on_event = [this](const WatchEvent& event) { lines.push_back(event.path); },
            .on_gap = [this] { lines.emplace_back("gap"); }};
  }
  std::vector<std::string> take() { return std::exchange(lines, {}); }
  std::vector<std::string> lines;
};
using Lines = std::vector<std::string>;

void change(RecipeWorld& world, const std::string& path) {
  Hand(world, 1).set(path, "x");
  world.run_for(milliseconds(200));
}

TEST(PersistentWatcher, TellsOfEveryChangeInOrder) {
  RecipeWorld world({.clients = 2});
  Told told;
  ASSERT_TRUE(world.get(world.client(1).create("/a/b", "", {.parents = true})));
  PersistentWatcher watcher(world.client(0), "/a", WatchMode::kPersistentRecursive, told.callbacks());
  ASSERT_TRUE(world.get(watcher.start()));
  EXPECT_EQ(told.take(), Lines{"gap"});
  change(world, "/a/b");
  change(world, "/a");
  change(world, "/a/b");
  EXPECT_EQ(told.take(), (Lines{"/a/b", "/a", "/a/b"}));
}

TEST(PersistentWatcher, SaysThatSomethingMayHaveBeenMissedAndGoesOn) {
  through_all_troubles(2, [](RecipeWorld& world, const Trouble& trouble) {
    Told told;
    ASSERT_TRUE(world.get(world.client(1).create("/a", "", {})));
    PersistentWatcher watcher(world.client(0), "/a", WatchMode::kPersistent, told.callbacks());
    ASSERT_TRUE(world.get(watcher.start()));
    told.take();
    trouble.strike(world);
    world.disarm(0);
    Hand(world, 1).set("/a", "missed or not");
    told.lines.emplace_back("changed");
    Trouble::heal(world);
    world.run_for(milliseconds(15'000));
    const auto changed = std::ranges::find(told.lines, "changed");
    EXPECT_TRUE(std::ranges::find(told.lines, "/a") != told.lines.end() ||
                std::find(changed, told.lines.end(), "gap") != told.lines.end());
    EXPECT_TRUE(!trouble.ends_session || std::ranges::find(told.lines, "gap") != told.lines.end());
    told.take();
    change(world, "/a");
    EXPECT_EQ(told.take(), Lines{"/a"});
    world.run_on(0, [&] { watcher = PersistentWatcher(world.client(0), "/b", WatchMode::kPersistent, {}); });
    change(world, "/a");
    EXPECT_EQ(told.take(), Lines{});
    EXPECT_EQ(world.watches(), 0u);
  });
}

// Both are told of one change, one after the other; whoever comes first destroys the other.
TEST(PersistentWatcher, TellsNothingOnceItIsDestroyedOnTheExecutor) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(world.client(1).create("/a", "", {})));
  std::optional<PersistentWatcher> watchers[2];
  int told = 0;
  for (const int i : {0, 1}) {
    watchers[i].emplace(world.client(0), "/a", WatchMode::kPersistent,
                        PersistentWatcher::Callbacks{.on_event = [&, i](const WatchEvent&) {
                          ++told;
                          watchers[1 - i].reset();
                        }});
    ASSERT_TRUE(world.get(watchers[i]->start()));
  }
  change(world, "/a");
  EXPECT_EQ(told, 1);
}

TEST(PersistentWatcher, IsNotToldOfWhatItMayNotRead) {
  RecipeWorld world({.clients = 2});
  Told told;
  const std::vector<Acl> nobody{{.permissions = Permission::kWrite}};
  ASSERT_TRUE(world.get(world.client(1).create("/a", "", {.acl = nobody})));
  PersistentWatcher watcher(world.client(0), "/a", WatchMode::kPersistent, told.callbacks());
  // Servers check the permission when they tell, not when the watch is set.
  ASSERT_TRUE(world.get(watcher.start()));
  told.take();
  ASSERT_TRUE(world.get(world.client(1).set("/a", "secret")));
  world.run_for(milliseconds(1000));
  EXPECT_EQ(told.take(), Lines{});
}

}  // namespace
}  // namespace drover::recipes::testing

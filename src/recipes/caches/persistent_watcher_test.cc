// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/persistent_watcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

// The reports, in order: paths, and "gap".
struct Reports {
  PersistentWatcher::Callbacks callbacks() {
    return {.on_event = [this](const WatchEvent& event) { lines.push_back(event.path); },
            .on_gap = [this] { lines.emplace_back("gap"); }};
  }
  std::vector<std::string> take() { return std::exchange(lines, {}); }
  std::vector<std::string> lines;
};
using Lines = std::vector<std::string>;

void change(RecipeWorld& world, const std::string& path) {
  OtherClient(world, 1).set(path, "x");
  world.run_for(milliseconds(200));
}

TEST(PersistentWatcher, ReportsEveryChangeInOrder) {
  RecipeWorld world({.clients = 2});
  Reports reports;
  ASSERT_TRUE(world.get(world.client(1).create("/a/b", "", {.parents = true})));
  PersistentWatcher watcher(world.client(0), "/a", WatchMode::kPersistentRecursive, reports.callbacks());
  ASSERT_TRUE(world.get(watcher.start()));
  EXPECT_EQ(reports.take(), Lines{"gap"});
  change(world, "/a/b");
  change(world, "/a");
  change(world, "/a/b");
  EXPECT_EQ(reports.take(), (Lines{"/a/b", "/a", "/a/b"}));
}

TEST(PersistentWatcher, ReportsAPossibleGapAndContinues) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    Reports reports;
    ASSERT_TRUE(world.get(world.client(1).create("/a", "", {})));
    PersistentWatcher watcher(world.client(0), "/a", WatchMode::kPersistent, reports.callbacks());
    ASSERT_TRUE(world.get(watcher.start()));
    reports.take();
    fault.strike(world);
    world.disarm(0);
    OtherClient(world, 1).set("/a", "missed or not");
    reports.lines.emplace_back("changed");
    ClientFault::heal(world);
    world.run_for(milliseconds(15'000));
    const auto changed = std::ranges::find(reports.lines, "changed");
    EXPECT_TRUE(std::ranges::find(reports.lines, "/a") != reports.lines.end() ||
                std::find(changed, reports.lines.end(), "gap") != reports.lines.end());
    EXPECT_TRUE(!fault.ends_session || std::ranges::find(reports.lines, "gap") != reports.lines.end());
    reports.take();
    change(world, "/a");
    EXPECT_EQ(reports.take(), Lines{"/a"});
    world.run_on(0, [&] { watcher = PersistentWatcher(world.client(0), "/b", WatchMode::kPersistent, {}); });
    change(world, "/a");
    EXPECT_EQ(reports.take(), Lines{});
    EXPECT_EQ(world.watches(), 0u);
  });
}

// Two watchers get one event, one after the other; the first one destroys the second.
TEST(PersistentWatcher, ReportsNothingAfterItsDestructionOnTheExecutor) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(world.client(1).create("/a", "", {})));
  std::optional<PersistentWatcher> watchers[2];
  int reports = 0;
  for (const int i : {0, 1}) {
    watchers[i].emplace(world.client(0), "/a", WatchMode::kPersistent,
                        PersistentWatcher::Callbacks{.on_event = [&, i](const WatchEvent&) {
                          ++reports;
                          watchers[1 - i].reset();
                        }});
    ASSERT_TRUE(world.get(watchers[i]->start()));
  }
  change(world, "/a");
  EXPECT_EQ(reports, 1);
}

TEST(PersistentWatcher, GetsNoEventsOfUnreadableNodes) {
  RecipeWorld world({.clients = 2});
  Reports reports;
  const std::vector<Acl> write_only{{.permissions = Permission::kWrite}};
  ASSERT_TRUE(world.get(world.client(1).create("/a", "", {.acl = write_only})));
  PersistentWatcher watcher(world.client(0), "/a", WatchMode::kPersistent, reports.callbacks());
  // Servers check the permission when the event is sent, not when the watch is set.
  ASSERT_TRUE(world.get(watcher.start()));
  reports.take();
  ASSERT_TRUE(world.get(world.client(1).set("/a", "secret")));
  world.run_for(milliseconds(1000));
  EXPECT_EQ(reports.take(), Lines{});
}

}  // namespace
}  // namespace drover::recipes::testing

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_observer.h"

#include <gtest/gtest.h>

#include <memory>

#include "drover/recipes/leader_latch.h"
#include "drover/recipes/simple_lock.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/services/indexer/leader";

std::string id_of(const Result<std::optional<Leader>>& leader) {
  if (!leader) return leader.error().to_text();
  return *leader ? (*leader)->id : "none";
}

TEST(LeaderObserver, ReportsTheLeaderOrThatThereIsNone) {
  RecipeWorld world({.clients = 3});
  const LeaderObserver observer(world.client(2), kPath);
  Stream<std::optional<Leader>> changes = observer.changes();
  EXPECT_EQ(id_of(world.get(changes.next())), "none") << "there is not even a directory";
  auto first = std::make_unique<LeaderLatch>(world.client(0), kPath, "a");
  EXPECT_EQ(id_of(world.get(changes.next())), "a");
  auto second = std::make_unique<LeaderLatch>(world.client(1), kPath, "b");
  world.run_for(milliseconds(500));
  const auto term = world.get(first->await());
  EXPECT_EQ(observer.leader()->fence, term->fence);
  first.reset();
  EXPECT_EQ(id_of(world.get(changes.next())), "b");
  second.reset();
  EXPECT_EQ(id_of(world.get(changes.next())), "none");
  second = std::make_unique<LeaderLatch>(world.client(1), kPath, "c");
  EXPECT_EQ(id_of(world.get(changes.next())), "c");
}

TEST(LeaderObserver, ChangeCostsOneNotificationAndNewCandidatesNone) {
  RecipeWorld world({.clients = 2});
  std::vector<std::unique_ptr<LeaderLatch>> latches;
  latches.push_back(std::make_unique<LeaderLatch>(world.client(0), kPath, "0"));
  world.run_for(milliseconds(300));
  const LeaderObserver observer(world.client(1), kPath);
  world.run_for(milliseconds(300));
  const auto before = world.watch_events(1);
  for (int i = 1; i < 10; ++i) {
    latches.push_back(std::make_unique<LeaderLatch>(world.client(0), kPath, std::to_string(i)));
    world.run_for(milliseconds(300));
  }
  EXPECT_EQ(world.watch_events(1), before);
  latches.front().reset();
  world.run_for(milliseconds(300));
  EXPECT_EQ(world.watch_events(1), before + 1);
  EXPECT_EQ(observer.leader()->id, "1");
}

TEST(LeaderObserver, ReadsAgainWhatItMissed) {
  RecipeWorld world({.clients = 3});
  auto first = std::make_unique<LeaderLatch>(world.client(0), kPath, "a");
  world.run_for(milliseconds(300));
  auto second = std::make_unique<LeaderLatch>(world.client(1), kPath, "b");
  const LeaderObserver observer(world.client(2), kPath);
  world.run_for(milliseconds(300));
  for (const milliseconds time : {milliseconds(1500), milliseconds(9000)}) {
    world.cut(2);
    (first ? first : second).reset();
    world.run_for(time);
    world.heal(2);
    const std::string expected = second ? "b" : "none";
    EXPECT_TRUE(world.run_until([&] { return id_of(observer.leader()) == expected; }, milliseconds(8000)));
  }
}

TEST(LeaderObserver, WorksForSelectorsAndOneNodeElections) {
  RecipeWorld world({.clients = 2});
  const LeaderObserver observer(world.client(1), "/info", ElectionKind::kInfo);
  world.run_for(milliseconds(300));
  EXPECT_FALSE(observer.leader());
  auto guard = world.get(SimpleLock(world.client(0), "/info", {.data = "me"}).acquire());
  EXPECT_TRUE(world.run_until([&] { return observer.leader().has_value(); }, milliseconds(1000)));
  EXPECT_EQ(observer.leader()->id, "me");
  ASSERT_TRUE(world.get(world.client(0).set("/info", "busy")));
  EXPECT_TRUE(world.run_until([&] { return observer.leader()->id == "busy"; }, milliseconds(1000)));
  ASSERT_TRUE(world.get(guard->release()));
  EXPECT_TRUE(world.run_until([&] { return !observer.leader(); }, milliseconds(1000)));
}

TEST(LeaderObserver, RecreatedNodeIsAnotherLeader) {
  RecipeWorld world({.clients = 2});
  auto first = world.get(SimpleLock(world.client(0), "/info", {.data = "me"}).acquire());
  const LeaderObserver observer(world.client(1), "/info", ElectionKind::kInfo);
  world.run_for(milliseconds(300));
  const Zxid before = observer.leader()->fence;
  world.cut(1);
  ASSERT_TRUE(world.get(first->release()));
  auto second = world.get(SimpleLock(world.client(0), "/info", {.data = "me"}).acquire());
  world.heal(1);
  EXPECT_TRUE(world.run_until([&] { return observer.leader() && observer.leader()->fence > before; },
                              milliseconds(5000)));
}

TEST(LeaderObserver, DestroyedObserverLeavesNoWatch) {
  RecipeWorld world({.clients = 1});
  {
    const LeaderObserver observer(world.client(0), kPath);
  }
  world.run_for(milliseconds(500));
  auto observer = std::make_unique<LeaderObserver>(world.client(0), kPath);
  world.run_for(milliseconds(500));
  EXPECT_EQ(world.watches(), 1u);
  observer.reset();
  world.run_for(milliseconds(500));
  EXPECT_EQ(world.watches(), 0u);
}

TEST(LeaderObserver, SeesTheCurrentLeaderAfterEveryFault) {
  const auto scenario = [](RecipeWorld& world, const Fault&) {
    const LeaderObserver observer(world.client(0), kPath);
    auto first = std::make_unique<LeaderLatch>(world.client(1), kPath, "a");
    world.run_for(milliseconds(400));
    LeaderLatch second(world.client(1), kPath, "b");
    world.run_for(milliseconds(400));
    first.reset();
    EXPECT_TRUE(world.run_until([&] { return id_of(observer.leader()) == "b"; }, milliseconds(30'000)));
  };
  with_every_fault({.clients = 2}, scenario);
}

}  // namespace
}  // namespace drover::recipes

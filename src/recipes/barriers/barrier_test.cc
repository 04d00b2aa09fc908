// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/barrier.h"

#include <gtest/gtest.h>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;

const std::string kPath = "/jobs/go";

TEST(Barrier, IsPassedIfTheNodeDoesNotExist) {
  RecipeWorld world({.clients = 1});
  EXPECT_TRUE(world.get(Barrier(world.client(0), kPath).wait(Wait::poll())));
  EXPECT_TRUE(world.get(Barrier(world.client(0), kPath).remove()));
  world.run_for(Time(100));
  EXPECT_EQ(world.watches(), 0u);
}

TEST(Barrier, BlocksAllWaitersUntilItIsRemoved) {
  RecipeWorld world({.servers = 3, .clients = 6});
  ASSERT_TRUE(world.get(Barrier(world.client(0), kPath).set()));
  std::vector<std::shared_ptr<std::optional<Result<void>>>> waits;
  for (std::size_t i = 1; i < 6; ++i) waits.push_back(world.start(Barrier(world.client(i), kPath).wait()));
  world.run_for(Time(20'000));
  for (const auto& each : waits) EXPECT_FALSE(each->has_value());
  ASSERT_TRUE(world.get(Barrier(world.client(0), kPath).remove()));
  world.run_for(Time(1000));
  for (const auto& each : waits) EXPECT_TRUE(each->has_value() && (*each)->has_value());
  EXPECT_EQ(world.watch_events(), 5u);
}

TEST(Barrier, PollDoesNotWait) {
  RecipeWorld world({.clients = 1});
  const Barrier barrier(world.client(0), kPath);
  ASSERT_TRUE(world.get(barrier.set()));
  ASSERT_TRUE(world.get(barrier.set()));  // Setting it twice is not an error.
  EXPECT_EQ(world.get(barrier.wait(Wait::poll())).error(), Errc::kDeadline);
  EXPECT_EQ(world.get(barrier.wait(Wait::within(Time(300)))).error(), Errc::kDeadline);
}

TEST(Barrier, LostReplyDoesNotSetItAgainAfterARemoval) {
  // It is set, the reply is lost, and another client removes it before the retry.
  for (const bool first : {true, false}) {
    RecipeWorld world({.clients = 2});
    const Barrier there(world.client(1), kPath);
    if (!first) {
      ASSERT_TRUE(world.get(there.set()));
      ASSERT_TRUE(world.get(there.remove()));
    }
    world.lose_reply(0, "create", first ? 2 : 1);  // The first one creates the parent.
    const auto set = world.start(Barrier(world.client(0), kPath).set());
    ASSERT_TRUE(world.run_until([&] { return world.exists(kPath); }));
    ASSERT_TRUE(world.run_until([&] { return !world.has_traps(0); }));
    world.cut(0);
    ASSERT_TRUE(world.get(there.remove()));
    world.heal(0);
    ASSERT_TRUE(world.run_until([&] { return set->has_value(); }));
    EXPECT_TRUE((*set)->has_value() || (*set)->error().maybe_applied());
    world.run_for(Time(1000));
    EXPECT_FALSE(world.exists(kPath));
  }
}

// The barrier is removed and set again while the waiter is disconnected.
bool passes_after_reopening(BarrierTrigger trigger) {
  RecipeWorld world({.clients = 2});
  const Barrier there(world.client(1), kPath);
  EXPECT_TRUE(world.get(there.set()));
  const auto waited = world.start(Barrier(world.client(0), kPath, trigger).wait());
  world.run_for(Time(500));
  world.cut(0);
  EXPECT_TRUE(world.get(there.remove()));
  EXPECT_TRUE(world.get(there.set()));
  world.run_for(Time(1500));
  world.heal(0);
  world.run_for(Time(5000));
  return waited->has_value() && (*waited)->has_value();
}

TEST(Barrier, OpeningWhileDisconnectedReleasesEdgeWaitersOnly) {
  EXPECT_FALSE(passes_after_reopening(BarrierTrigger::kLevel));
  EXPECT_TRUE(passes_after_reopening(BarrierTrigger::kEdge));
}

TEST(Barrier, RetriedRemoveDoesNotOpenTheNextRound) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(Barrier(world.client(1), kPath).set()));
  world.lose_reply(0, "delete");
  const auto removed = world.start(Barrier(world.client(0), kPath).remove());
  ASSERT_TRUE(world.run_until([&] { return !world.exists(kPath); }));
  ASSERT_TRUE(world.get(Barrier(world.client(1), kPath).set()));
  ASSERT_TRUE(world.run_until([&] { return removed->has_value(); }));
  EXPECT_TRUE((*removed)->has_value());
  EXPECT_TRUE(world.exists(kPath));
}

TEST(Barrier, SetAndRemoveSurviveEveryFault) {
  testing::for_every_step(testing::kConnectionFaults, {.clients = 1}, [](Trial& trial) {
    const Barrier barrier(trial.world.client(0), kPath);
    ASSERT_TRUE(trial.run(barrier.set()));
    EXPECT_TRUE(trial.world.exists(kPath));
    ASSERT_TRUE(trial.run(barrier.remove()));
    EXPECT_FALSE(trial.world.exists(kPath));
  });
}

TEST(Barrier, WaitSurvivesEveryFault) {
  testing::for_every_step(testing::kAllFaults, {.clients = 2}, [](Trial& trial) {
    const Barrier there(trial.world.client(1), kPath);
    ASSERT_TRUE(trial.world.get(there.set()));
    trial.world.run_for(Time(1000));  // Until every server has it.
    const auto waited = trial.start(Barrier(trial.world.client(0), kPath).wait(trial.wait()));
    trial.world.run_for(Time(12'000));
    EXPECT_EQ(waited->has_value(), trial.is_given_up());
    ASSERT_TRUE(trial.world.get(there.remove()));
    trial.calm_down();
    ASSERT_TRUE(waited->has_value());
    EXPECT_EQ((*waited)->has_value(), !trial.is_given_up());
    EXPECT_EQ(trial.world.watches(), 0u);
  });
}

}  // namespace
}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/turn_queue.h"

#include <gtest/gtest.h>

#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/migrations";

TEST(TurnQueue, WaitersAndTheirDataAreVisibleAndServedInOrder) {
  RecipeWorld world({.clients = 3});
  std::vector<GuardResult> turns;
  for (std::size_t i = 0; i < 3; ++i) {
    turns.push_back(world.start(TurnQueue(world.client(i), kPath).take("work " + std::to_string(i))));
    world.run_for(milliseconds(200));
  }
  const auto waiting = world.get(TurnQueue(world.client(0), kPath).waiting());
  ASSERT_TRUE(waiting);
  ASSERT_EQ(waiting->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(waiting->at(i).payload, "work " + std::to_string(i));
    EXPECT_TRUE(waiting->at(i).node.starts_with(kPath + "/_c_"));
    ASSERT_TRUE(succeeded(turns[i]));
    EXPECT_EQ((*turns[i])->value().fence(), waiting->at(i).fence);
    for (std::size_t later = i + 1; later < 3; ++later) EXPECT_FALSE(has_ended(turns[later]));
    const auto before = world.watch_events();
    turns[i]->reset();
    world.run_for(milliseconds(200));
    EXPECT_EQ(world.watch_events() - before, i < 2 ? 1u : 0u);
  }
  EXPECT_TRUE(world.get(TurnQueue(world.client(0), kPath).waiting())->empty());
}

TEST(TurnQueue, MissingDirectoryHasNoWaiters) {
  RecipeWorld world({.clients = 1});
  EXPECT_TRUE(world.get(TurnQueue(world.client(0), "/nowhere").waiting())->empty());
}

TEST(TurnQueue, DataEndsWithItsSession) {
  RecipeWorld world({.clients = 3});
  auto first = world.get(TurnQueue(world.client(0), kPath).take("a"));
  const auto second = world.start(TurnQueue(world.client(1).bound(), kPath).take("b"));
  world.run_for(milliseconds(200));
  const auto third = world.start(TurnQueue(world.client(2), kPath).take("c"));
  world.run_for(milliseconds(200));
  world.kill_session(1);
  world.run_for(milliseconds(3000));
  EXPECT_EQ(code_of(second), Errc::kSessionExpired);
  EXPECT_FALSE(has_ended(third));
  ASSERT_TRUE(world.get(first->release()));
  EXPECT_TRUE(world.run_until([&] { return succeeded(third); }, milliseconds(1000)));
}

TEST(TurnQueue, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    lock_story(world, fault, kPath,
               [](Client client) { return TurnQueue(std::move(client), kPath).take("work"); });
  });
}

TEST(TurnQueue, LeavesNothingBehindHoweverTheCallEnds) {
  GuardResult held;
  with_every_ending<Guard>(
      {.clients = 2},
      [&](RecipeWorld& world, Wait wait) {
        held = world.start(TurnQueue(world.client(1), kPath).take("first"));
        world.run_until([&] { return succeeded(held); });
        return TurnQueue(world.client(0), kPath).take("second", wait);
      },
      [&](RecipeWorld& world) {
        EXPECT_EQ(world.children(kPath).size(), 1u);
        held.reset();
      });
}

}  // namespace
}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/multi_lock.h"

#include <gtest/gtest.h>

#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kA = "/accounts/a";
const std::string kB = "/accounts/b";

Task<Result<Guard>> last_of(Task<Result<std::vector<Guard>>> task) {
  Result<std::vector<Guard>> guards = co_await std::move(task);
  if (!guards) co_return std::unexpected(guards.error());
  co_return std::move(guards->back());
}

TEST(MultiLock, GuardsAreInTheOrderOfThePaths) {
  RecipeWorld world({.clients = 1});
  auto guards = world.get(MultiLock(world.client(0), {kB, kA}).acquire());
  ASSERT_TRUE(guards);
  ASSERT_EQ(guards->size(), 2u);
  EXPECT_TRUE(guards->at(0).node().starts_with(kB + "/"));
  EXPECT_TRUE(guards->at(1).node().starts_with(kA + "/"));
  EXPECT_GT(guards->at(0).fence(), guards->at(1).fence()) << "taken in the order of the paths";
}

TEST(MultiLock, OppositeOrdersOfPathsDoNotDeadlock) {
  RecipeWorld world({.clients = 2});
  for (int round = 0; round < 20; ++round) {
    auto first = world.start(MultiLock(world.client(0), {kA, kB}).acquire());
    auto second = world.start(MultiLock(world.client(1), {kB, kA}).acquire());
    ASSERT_TRUE(world.run_until([&] { return has_ended(first) || has_ended(second); }, milliseconds(2000)));
    (has_ended(first) ? first : second)->reset();
    ASSERT_TRUE(world.run_until([&] { return succeeded(first) || succeeded(second); }, milliseconds(2000)));
    first->reset();
    second->reset();
    world.run_for(milliseconds(200));
  }
  EXPECT_TRUE(world.children(kA).empty());
  EXPECT_TRUE(world.children(kB).empty());
}

TEST(MultiLock, OneUnavailableLockReleasesTheOthers) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(1), kB).acquire());
  const auto before = world.now();
  const Wait wait = Wait::within(milliseconds(1000));
  EXPECT_EQ(world.get(MultiLock(world.client(0), {kA, kB}).acquire(wait)).error(), Errc::kDeadline);
  EXPECT_EQ((world.now() - before).count(), 1000);
  world.run_for(milliseconds(200));
  EXPECT_TRUE(world.children(kA).empty());
  EXPECT_EQ(world.children(kB).size(), 1u);
}

TEST(MultiLock, RepeatedPathIsRefused) {
  RecipeWorld world({.clients = 1});
  EXPECT_EQ(world.get(MultiLock(world.client(0), {kA, kB, kA}).acquire()).error(), Errc::kWouldDeadlock);
}

TEST(MultiLock, AllGuardsBelongToOneSession) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(1), kB).acquire());
  const auto waiting = world.start(MultiLock(world.client(0), {kA, kB}).acquire());
  world.run_for(milliseconds(300));
  world.kill_session(0);
  world.run_for(milliseconds(4000));
  ASSERT_TRUE(world.get(held->release()));
  ASSERT_TRUE(world.run_until([&] { return succeeded(waiting); }));
  for (const Guard& each : (*waiting)->value()) EXPECT_EQ(each.session(), world.client(0).session());
}

TEST(MultiLock, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    lock_story(world, fault, "/accounts/b",
               [](Client client) { return last_of(MultiLock(std::move(client), {kA, kB}).acquire()); });
    EXPECT_TRUE(world.children(kA).empty());
  });
}

TEST(MultiLock, LeavesNothingBehindHoweverTheCallEnds) {
  with_every_ending<std::vector<Guard>>(
      {.clients = 1},
      [](RecipeWorld& world, Wait wait) { return MultiLock(world.client(0), {kA, kB}).acquire(wait); },
      [](RecipeWorld& world) {
        EXPECT_TRUE(world.children(kA).empty());
        EXPECT_TRUE(world.children(kB).empty());
      });
}

}  // namespace
}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/reentrant_mutex.h"

#include <gtest/gtest.h>

#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/locks/report";

TEST(ReentrantMutex, OwnerAcquiresAgainWithoutARequest) {
  RecipeWorld world({.clients = 1});
  const ReentrantMutex mutex(world.client(0), kPath);
  const Owner me;
  auto outer = world.get(mutex.acquire(me));
  ASSERT_TRUE(outer);
  const auto before = world.requests(0);
  auto inner = world.get(mutex.acquire(me, Wait::poll()));
  ASSERT_TRUE(inner);
  EXPECT_EQ(world.requests(0), before);
  EXPECT_EQ(inner->node(), outer->node());
  EXPECT_EQ(inner->fence(), outer->fence());
}

TEST(ReentrantMutex, LastGuardReleasesIt) {
  RecipeWorld world({.clients = 1});
  const ReentrantMutex mutex(world.client(0), kPath);
  const Owner me;
  auto outer = world.get(mutex.acquire(me));
  auto inner = world.get(mutex.acquire(me));
  ASSERT_TRUE(world.get(outer->release())) << "the order does not matter";
  world.run_for(milliseconds(200));
  EXPECT_EQ(world.children(kPath).size(), 1u);
  EXPECT_TRUE(inner->is_held());
  EXPECT_FALSE(outer->is_held());
  ASSERT_TRUE(world.get(inner->release()));
  EXPECT_TRUE(world.children(kPath).empty());
  const auto again = world.get(mutex.acquire(me));
  ASSERT_TRUE(again);
  EXPECT_EQ(world.children(kPath).size(), 1u);
}

TEST(ReentrantMutex, AnotherOwnerOfTheSameProcessWaits) {
  RecipeWorld world({.clients = 1});
  const ReentrantMutex mutex(world.client(0), kPath);
  const Owner me, other;
  auto mine = world.get(mutex.acquire(me));
  const auto theirs = world.start(mutex.acquire(other));
  world.run_for(milliseconds(500));
  EXPECT_FALSE(has_ended(theirs));
  *mine = Guard();
  EXPECT_TRUE(world.run_until([&] { return succeeded(theirs); }));
}

TEST(ReentrantMutex, TheThreadIsTheOwnerByDefault) {
  RecipeWorld world({.clients = 1});
  const ReentrantMutex mutex(world.client(0), kPath);
  auto outer = world.get(mutex.acquire());
  ASSERT_TRUE(world.get(mutex.acquire(Wait::poll())));
  const Owner other;
  EXPECT_FALSE(world.get(mutex.acquire(other, Wait::poll())));
}

TEST(ReentrantMutex, OnTheExecutorAnOwnerIsRequired) {
  RecipeWorld world({.clients = 1});
  const ReentrantMutex mutex(world.client(0), kPath);
  std::optional<Task<Result<Guard>>> unnamed, named;
  const Owner me;
  world.run_on(0, [&] {
    unnamed = mutex.acquire();
    named = mutex.acquire(me);
  });
  const auto refused = world.get(*std::move(unnamed));
  ASSERT_FALSE(refused) << "all coroutines there would be one owner";
  EXPECT_EQ(refused.error().error_class(), ErrorClass::kUsage);
  EXPECT_TRUE(world.get(*std::move(named)));
}

TEST(ReentrantMutex, AnotherObjectIsAnotherOwner) {
  RecipeWorld world({.clients = 1});
  const ReentrantMutex mutex(world.client(0), kPath);
  const ReentrantMutex twin(world.client(0), kPath);
  const Owner me;
  auto mine = world.get(mutex.acquire(me));
  EXPECT_FALSE(world.get(twin.acquire(me, Wait::poll())));
}

TEST(ReentrantMutex, LostLockIsAcquiredWithANewRequest) {
  RecipeWorld world({.clients = 2});
  const ReentrantMutex mutex(world.client(0), kPath);
  const Owner me;
  auto outer = world.get(mutex.acquire(me));
  auto inner = world.get(mutex.acquire(me));
  const auto next = world.start(Mutex(world.client(1), kPath).acquire());
  world.run_for(milliseconds(200));
  world.kill_session(0);
  ASSERT_TRUE(world.run_until([&] { return succeeded(next); }));
  ASSERT_TRUE(world.run_until([&] { return inner->lost().stop_requested(); }));
  EXPECT_TRUE(outer->lost().stop_requested());
  EXPECT_FALSE(world.get(mutex.acquire(me, Wait::poll())));
  EXPECT_EQ(world.get(inner->release()).error(), Errc::kLockLost);
  EXPECT_EQ(world.get(outer->release()).error(), Errc::kLockLost);
  next->reset();
  EXPECT_TRUE(world.get(mutex.acquire(me)));
}

TEST(ReentrantMutex, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    Owner owner;
    lock_story(world, fault, kPath,
               [&](Client client) { return ReentrantMutex(std::move(client), kPath).acquire(owner); });
  });
}

TEST(ReentrantMutex, LeavesNothingBehindHoweverTheCallEnds) {
  Owner owner;
  with_every_ending<Guard>(
      {.clients = 1},
      [&](RecipeWorld& world, Wait wait) {
        return ReentrantMutex(world.client(0), kPath).acquire(owner, wait);
      },
      [](RecipeWorld& world) { EXPECT_TRUE(world.children(kPath).empty()); });
}

}  // namespace
}  // namespace drover::recipes

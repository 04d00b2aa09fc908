// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/simple_lock.h"

#include <gtest/gtest.h>

#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/locks/nightly/lock";
const std::string kEpoch = kPath + ".epoch";

TEST(SimpleLock, OneClientHoldsItAndThenTheNext) {
  RecipeWorld world({.clients = 2});
  auto first = world.get(SimpleLock(world.client(0), kPath, {.data = "me"}).acquire());
  ASSERT_TRUE(first);
  EXPECT_EQ(world.data(kPath), "me");
  EXPECT_EQ(world.stat(kPath)->czxid, first->fence());
  EXPECT_EQ(world.get(SimpleLock(world.client(1), kPath).acquire(Wait::poll())).error(), Errc::kDeadline);
  const auto second = world.start(SimpleLock(world.client(1), kPath).acquire());
  world.run_for(milliseconds(300));
  EXPECT_FALSE(has_ended(second));
  const Zxid fence = first->fence();
  ASSERT_TRUE(world.get(first->release()));
  ASSERT_TRUE(world.run_until([&] { return succeeded(second); }, milliseconds(1000)));
  EXPECT_GT((*second)->value().fence(), fence);
}

TEST(SimpleLock, TwoLocksOfOneSessionExcludeEachOther) {
  RecipeWorld world({.clients = 1});
  auto first = world.get(SimpleLock(world.client(0), kPath).acquire());
  ASSERT_TRUE(first);
  world.lose_reply(0, "multi");
  world.lose_request(0, "multi");
  EXPECT_EQ(world.get(SimpleLock(world.client(0), kPath).acquire(Wait::poll())).error(), Errc::kDeadline);
  EXPECT_TRUE(first->is_held());
  EXPECT_TRUE(world.exists(kPath));
}

TEST(SimpleLock, ClaimWithALostReplyIsResolved) {
  RecipeWorld world({.clients = 1});
  world.lose_reply(0, "multi");
  auto guard = world.get(SimpleLock(world.client(0), kPath).acquire());
  ASSERT_TRUE(guard);
  EXPECT_EQ(guard->fence(), world.stat(kPath)->czxid);
  std::vector<Op> ops;
  ops.push_back(guard->check_op());
  EXPECT_TRUE(world.get(world.client(0).multi(std::move(ops))));
}

TEST(SimpleLock, ReleaseDoesNotRemoveASuccessorsNode) {
  RecipeWorld world({.clients = 2});
  auto first = world.get(SimpleLock(world.client(0), kPath).acquire());
  const auto second = world.start(SimpleLock(world.client(1), kPath).acquire());
  world.run_for(milliseconds(300));
  world.lose_reply(
      0, "delete");  // The delete is applied; the second client takes over before the first one knows.
  const auto released = world.start(first->release());
  ASSERT_TRUE(world.run_until([&] { return succeeded(second); }, milliseconds(2000)));
  ASSERT_TRUE(world.run_until([&] { return succeeded(released); }));
  world.run_for(milliseconds(3000));
  EXPECT_EQ(world.stat(kPath)->czxid, (*second)->value().fence());
}

TEST(SimpleLock, FencedWriteOfAFormerHolderFails) {
  RecipeWorld world({.clients = 2});
  auto first = world.get(SimpleLock(world.client(0), kPath).acquire());
  const Op old = first->check_op();
  ASSERT_TRUE(world.get(world.client(1).multi({old})));
  ASSERT_TRUE(world.get(first->release()));
  auto second = world.get(SimpleLock(world.client(1), kPath).acquire());
  EXPECT_EQ(world.get(world.client(0).multi({old})).error(), Errc::kBadVersion);
  EXPECT_TRUE(world.get(world.client(0).multi({second->check_op()})));
}

TEST(SimpleLock, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    lock_story(world, fault, kPath,
               [](Client client) { return SimpleLock(std::move(client), kPath).acquire(); });
    EXPECT_FALSE(world.exists(kPath));
  });
}

TEST(SimpleLock, LeavesNothingBehindHoweverTheCallEnds) {
  with_every_ending<Guard>(
      {.clients = 1},
      [](RecipeWorld& world, Wait wait) { return SimpleLock(world.client(0), kPath).acquire(wait); },
      [](RecipeWorld& world) { EXPECT_FALSE(world.exists(kPath)); });
}

TEST(SimpleLock, EndOfAWaitDoesNotAffectTheHolder) {
  GuardResult held;
  with_every_ending<Guard>(
      {.clients = 2},
      [&](RecipeWorld& world, Wait wait) {
        held = world.start(SimpleLock(world.client(1), kPath).acquire());
        world.run_until([&] { return succeeded(held); });
        return SimpleLock(world.client(0), kPath).acquire(wait);
      },
      [&](RecipeWorld& world) {
        EXPECT_EQ(world.stat(kPath)->czxid, (*held)->value().fence());
        held.reset();
      });
}

}  // namespace
}  // namespace drover::recipes

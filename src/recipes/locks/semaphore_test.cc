// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/semaphore.h"

#include <gtest/gtest.h>

#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/limits/uploads";
const std::string kLeases = kPath + "/leases";

TEST(Semaphore, GrantsAtMostMaxLeases) {
  RecipeWorld world({.clients = 3});
  std::vector<GuardResult> guards;
  for (std::size_t i = 0; i < 3; ++i) {
    guards.push_back(world.start(Semaphore(world.client(i), kPath, 2).acquire()));
    world.run_for(milliseconds(500));
  }
  EXPECT_TRUE(succeeded(guards[0]));
  EXPECT_TRUE(succeeded(guards[1]));
  EXPECT_FALSE(has_ended(guards[2]));
  guards[1]->reset();
  EXPECT_TRUE(world.run_until([&] { return succeeded(guards[2]); }, milliseconds(1000)));
  world.run_for(milliseconds(500));
  EXPECT_EQ(world.children(kLeases).size(), 2u);
  EXPECT_TRUE(world.children(kPath + "/locks").empty());
}

TEST(Semaphore, HasCuratorsNodes) {
  RecipeWorld world({.clients = 1});
  const auto guard = world.get(Semaphore(world.client(0), kPath, 1, {.data = "x"}).acquire());
  ASSERT_TRUE(guard);
  EXPECT_TRUE(guard->node().starts_with(kLeases + "/_c_"));
  EXPECT_TRUE(guard->node().ends_with("-lease-0000000000"));
  EXPECT_EQ(world.data(guard->node()), "x");
}

TEST(Semaphore, SeveralLeasesAreGrantedAllOrNone) {
  RecipeWorld world({.clients = 2});
  auto one = world.get(Semaphore(world.client(0), kPath, 3).acquire());
  const auto three = world.start(Semaphore(world.client(1), kPath, 3).acquire(3));
  world.run_for(milliseconds(500));
  EXPECT_FALSE(has_ended(three));
  ASSERT_TRUE(world.get(one->release()));
  ASSERT_TRUE(world.run_until([&] { return succeeded(three); }));
  EXPECT_EQ((*three)->value().size(), 3u);
}

TEST(Semaphore, TwoClientsThatWantAllLeasesDoNotDeadlock) {
  RecipeWorld world({.clients = 2});
  const auto first = world.start(Semaphore(world.client(0), kPath, 2).acquire(2));
  const auto second = world.start(Semaphore(world.client(1), kPath, 2).acquire(2));
  ASSERT_TRUE(world.run_until([&] { return has_ended(first) || has_ended(second); }, milliseconds(2000)));
  world.run_for(milliseconds(500));
  EXPECT_NE(has_ended(first), has_ended(second));
  (has_ended(first) ? first : second)->reset();
  EXPECT_TRUE(world.run_until([&] { return succeeded(first) || succeeded(second); }, milliseconds(2000)));
}

TEST(Semaphore, ReturnedLeaseWakesOnlyTheNextWaiter) {
  RecipeWorld world({.clients = 4});
  auto held = world.get(Semaphore(world.client(0), kPath, 1).acquire());
  std::vector<GuardResult> waiting;
  for (std::size_t i = 1; i < 4; ++i)
    waiting.push_back(world.start(Semaphore(world.client(i), kPath, 1).acquire()));
  world.run_for(milliseconds(1000));
  const auto before = world.watch_events();
  ASSERT_TRUE(world.get(held->release()));
  world.run_for(milliseconds(1000));
  // The holder of the mutex is notified of the lease, the next client of the mutex and of nothing else.
  EXPECT_LE(world.watch_events() - before, 3u);
  int got = 0;
  for (const GuardResult& each : waiting) got += succeeded(each) ? 1 : 0;
  EXPECT_EQ(got, 1);
}

TEST(Semaphore, CancelledWaitLeavesNoLease) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Semaphore(world.client(0), kPath, 1).acquire());
  EXPECT_EQ(world.get(Semaphore(world.client(1), kPath, 1).acquire(Wait::poll())).error(), Errc::kDeadline);
  const Wait second = Wait::within(milliseconds(1000));
  EXPECT_EQ(world.get(Semaphore(world.client(1), kPath, 1).acquire(second)).error(), Errc::kDeadline);
  world.run_for(milliseconds(500));
  EXPECT_EQ(world.children(kLeases).size(), 1u);
  EXPECT_TRUE(world.children(kPath + "/locks").empty());
}

TEST(Semaphore, RaisingMaxWakesWaiters) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Semaphore(world.client(0), kPath, 1).acquire());
  const Semaphore semaphore(world.client(1), kPath, 1);
  const auto waiting = world.start(semaphore.acquire());
  world.run_for(milliseconds(500));
  EXPECT_FALSE(has_ended(waiting));
  semaphore.set_max(2);
  EXPECT_TRUE(world.run_until([&] { return succeeded(waiting); }, milliseconds(500)));
  EXPECT_EQ(world.get(semaphore.leases())->size(), 2u);
}

TEST(Semaphore, MoreLeasesThanMaxAreRefused) {
  RecipeWorld world({.clients = 1});
  EXPECT_EQ(world.get(Semaphore(world.client(0), kPath, 2).acquire(3)).error(), Errc::kTooMany);
  EXPECT_EQ(world.get(Semaphore(world.client(0), kPath, 2).acquire(0)).error(), Errc::kBadArguments);
}

TEST(Semaphore, LeasesEndWithTheSession) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Semaphore(world.client(0), kPath, 1).acquire());
  const auto next = world.start(Semaphore(world.client(1), kPath, 1).acquire());
  world.run_for(milliseconds(500));
  world.kill_session(0);
  EXPECT_TRUE(world.run_until([&] { return succeeded(next); }, milliseconds(3000)));
  EXPECT_TRUE(world.run_until([&] { return held->lost().stop_requested(); }, milliseconds(3000)));
}

TEST(Semaphore, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    lock_story(world, fault, kLeases,
               [](Client client) { return Semaphore(std::move(client), kPath, 1).acquire(); });
    EXPECT_TRUE(world.children(kPath + "/locks").empty());
  });
}

TEST(Semaphore, LeavesNothingBehindHoweverTheCallEnds) {
  with_every_ending<std::vector<Guard>>(
      {.clients = 1},
      [](RecipeWorld& world, Wait wait) { return Semaphore(world.client(0), kPath, 2).acquire(2, wait); },
      [](RecipeWorld& world) {
        EXPECT_TRUE(world.children(kLeases).empty());
        EXPECT_TRUE(world.children(kPath + "/locks").empty());
      });
}

TEST(Semaphore, LeavesNothingBehindHoweverTheWaitEnds) {
  GuardResult held;
  with_every_ending<Guard>(
      {.clients = 2},
      [&](RecipeWorld& world, Wait wait) {
        held = world.start(Semaphore(world.client(1), kPath, 1).acquire());
        world.run_until([&] { return succeeded(held) && world.children(kPath + "/locks").empty(); });
        return Semaphore(world.client(0), kPath, 1).acquire(wait);
      },
      [&](RecipeWorld& world) {
        EXPECT_EQ(world.children(kLeases).size(), 1u);
        EXPECT_TRUE(world.children(kPath + "/locks").empty());
        held.reset();
      });
}

}  // namespace
}  // namespace drover::recipes

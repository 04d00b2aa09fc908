// SPDX-License-Identifier: Apache-2.0
//
// Servers are partitioned. A follower that has lost its leader still answers its clients for a while. If a
// client took such an answer as proof, two clients could believe that they hold one lock.
#include <gtest/gtest.h>

#include "drover/recipes/leader_latch.h"
#include "drover/recipes/mutex.h"
#include "drover/recipes/queue.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

constexpr std::uint64_t kSeeds = 12;

RecipeWorld::Options three_servers(std::uint64_t seed) { return {.seed = seed, .servers = 3, .clients = 2}; }

TEST(Partition, LockIsLostBeforeAnotherClientHasIt) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RecipeWorld world(three_servers(seed));
    const auto mine = world.get(Mutex(world.client(0), "/lock").acquire());
    ASSERT_TRUE(mine);
    const auto next = world.start(Mutex(world.client(1), "/lock").acquire());
    world.run_for(milliseconds(1000));
    world.cut_off_with_server(0);
    ASSERT_TRUE(world.run_until([&] { return next->has_value(); })) << "seed " << seed;
    EXPECT_TRUE((*next)->has_value());
    EXPECT_FALSE(mine->is_held()) << "seed " << seed;
    EXPECT_TRUE(mine->lost().stop_requested()) << "seed " << seed;
    EXPECT_LT(mine->valid_until(), Clock::now()) << "seed " << seed;
    world.heal_all();
  }
}

TEST(Partition, LeaderStepsDownBeforeAnotherLeads) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RecipeWorld world(three_servers(seed));
    // With this policy a lost connection does not end a term.
    LeaderLatch mine(world.client(0), "/leader", "mine", {.loss = LossPolicy::kOnExpiry});
    ASSERT_TRUE(world.run_until([&] { return mine.is_leader(); }));
    LeaderLatch other(world.client(1), "/leader", "other", {.loss = LossPolicy::kOnExpiry});
    world.run_for(milliseconds(1000));
    world.cut_off_with_server(0);
    ASSERT_TRUE(world.run_until([&] { return other.is_leader(); })) << "seed " << seed;
    EXPECT_FALSE(mine.is_leader()) << "seed " << seed;
    world.heal_all();
  }
}

TEST(Partition, ItemIsLostBeforeAnotherTakerHasIt) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RecipeWorld world(three_servers(seed));
    const Queue queue(world.client(0), "/jobs");
    ASSERT_TRUE(world.get(queue.put("job")));
    const auto mine = world.get(queue.take());
    ASSERT_TRUE(mine);
    const auto next = world.start(Queue(world.client(1), "/jobs").take());
    world.run_for(milliseconds(1000));
    world.cut_off_with_server(0);
    ASSERT_TRUE(world.run_until([&] { return next->has_value(); })) << "seed " << seed;
    EXPECT_TRUE(mine->lost().stop_requested()) << "seed " << seed;
    world.heal_all();
  }
}

TEST(Partition, LockHolderLeavesAnIsolatedServerInTime) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RecipeWorld world(three_servers(seed));
    const auto mine = world.get(Mutex(world.client(0), "/lock").acquire());
    ASSERT_TRUE(mine);
    world.run_for(milliseconds(1000));
    world.cut_off_server_of(0);
    world.run_for(milliseconds(15'000));
    EXPECT_TRUE(mine->is_held()) << "seed " << seed;
    EXPECT_FALSE(mine->lost().stop_requested()) << "seed " << seed;
    world.heal_all();
  }
}

}  // namespace
}  // namespace drover::recipes

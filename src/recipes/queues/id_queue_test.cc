// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/id_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;
using Names = std::vector<std::string>;

const std::string kPath = "/orders";

TEST(IdQueue, DeliversItemsInOrderWithTheirIds) {
  RecipeWorld world({.servers = 3, .clients = 1});
  const IdQueue queue(world.client(0), kPath);
  for (const char* id : {"z", "a", "z"}) ASSERT_TRUE(world.get(queue.put("data", id)));
  EXPECT_EQ(world.children(kPath),
            (Names{"queue-|a|0000000001", "queue-|z|0000000000", "queue-|z|0000000002"}));
  for (const char* id : {"z", "a", "z"}) {
    auto item = world.get(queue.take());
    ASSERT_TRUE(item);
    EXPECT_EQ(IdQueue::id_of(*item), id);
    EXPECT_TRUE(world.get(item->done()));
  }
}

TEST(IdQueue, RemovesAllUnclaimedItemsOfAnId) {
  RecipeWorld world({.clients = 2});
  const IdQueue queue(world.client(0), kPath);
  for (const char* id : {"a/b", "x", "a|b"}) ASSERT_TRUE(world.get(queue.put("data", id)));
  auto item = world.get(IdQueue(world.client(1), kPath).take());
  ASSERT_TRUE(item);
  EXPECT_EQ(world.get(queue.remove("a_b")), 1);
  EXPECT_EQ(world.get(queue.remove("a_b")), 0);
  EXPECT_EQ(world.get(queue.remove("never")), 0);
  EXPECT_TRUE(world.get(item->give_back()));
  EXPECT_EQ(world.get(queue.remove("a_b")), 1);  // An item that was given back keeps its id.
  EXPECT_EQ(world.get(queue.size()), 1);
}

TEST(IdQueue, RemovesOnceThroughEveryFault) {
  testing::for_every_step(testing::kAllFaults, {.clients = 2}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    const IdQueue other(world.client(1), kPath);
    for (const char* id : {"a", "b", "a"}) ASSERT_TRUE(world.get(other.put("data", id)));
    const auto removed = trial.run(IdQueue(world.client(0), kPath).remove("a", trial.wait()));
    trial.calm_down();
    if (removed) {
      EXPECT_EQ(*removed, 2);
      EXPECT_EQ(world.get(other.size()), 1);
    } else {
      EXPECT_TRUE(trial.is_given_up() || trial.has_lost_session());
      EXPECT_GE(world.get(other.size()).value_or(0), 1);
    }
    auto item = world.get(IdQueue(world.client(1), kPath).take());
    EXPECT_TRUE(item);
    EXPECT_LE(world.descendants(kPath + ".claims"), 2u);
  });
}

// A removal and a take happen at the same time: exactly one gets the item.
TEST(IdQueue, DoesNotRemoveAnItemThatIsBeingTaken) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    RecipeWorld world({.seed = seed, .servers = 3, .clients = 3});
    const IdQueue queue(world.client(0), kPath);
    ASSERT_TRUE(world.get(queue.put("data", "a")));
    ASSERT_TRUE(world.get(world.client(1).sync("/")));
    const auto taken = world.start(IdQueue(world.client(1), kPath).take(Wait::within(Time(3000))));
    world.run_for(Time(static_cast<int>(seed) % 5));
    const auto removed = world.get(IdQueue(world.client(2), kPath).remove("a"));
    ASSERT_TRUE(world.run_until([&] { return taken->has_value(); }));
    ASSERT_TRUE(removed);
    EXPECT_EQ(*removed + ((*taken)->has_value() ? 1 : 0), 1) << seed;
  }
}

}  // namespace
}  // namespace drover::recipes

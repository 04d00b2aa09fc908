// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/priority_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;
using Names = std::vector<std::string>;

const std::string kPath = "/jobs";

Names drain(RecipeWorld& world, const PriorityQueue& queue) {
  Names values;
  for (auto item = world.get(queue.take(Wait::poll())); item; item = world.get(queue.take(Wait::poll()))) {
    values.push_back(item->data());
    EXPECT_TRUE(world.get(item->done()));
  }
  return values;
}

TEST(PriorityQueue, DeliversTheLowestNumberFirstAndEqualOnesByAge) {
  RecipeWorld world({.servers = 3, .clients = 1});
  const PriorityQueue queue(world.client(0), kPath);
  for (const int priority : {5, -5, 0, 5, INT32_MAX, INT32_MIN, -5}) {
    const int number = *world.get(queue.size());
    ASSERT_TRUE(world.get(queue.put(std::to_string(priority) + "#" + std::to_string(number), priority)));
  }
  EXPECT_EQ(drain(world, queue),
            (Names{"-2147483648#5", "-5#1", "-5#6", "0#2", "5#0", "5#3", "2147483647#4"}));
}

TEST(PriorityQueue, HasCuratorsNodes) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(PriorityQueue(world.client(0), kPath).put("a", 5)));
  EXPECT_EQ(world.children(kPath), Names{"queue-1000000050000000000"});
}

TEST(PriorityQueue, DeliversALaterButMoreUrgentItemFirst) {
  RecipeWorld world({.clients = 2});
  const PriorityQueue queue(world.client(0), kPath);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world.get(queue.put("later", 10)));
  auto first = world.get(queue.take());
  ASSERT_TRUE(world.get(PriorityQueue(world.client(1), kPath).put("now", 1)));
  auto second = world.get(queue.take());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->data(), "now");
}

TEST(PriorityQueue, KeepsItsOrderThroughEveryFault) {
  testing::for_every_step(testing::kConnectionFaults, {.clients = 1}, [](Trial& trial) {
    const PriorityQueue queue(trial.world.client(0), kPath, {.exact_put = true});
    ASSERT_TRUE(trial.run(queue.put("2", 2)));
    ASSERT_TRUE(trial.run(queue.put("1", 1)));
    for (const char* expected : {"1", "2"}) {
      auto item = trial.run(queue.take());
      ASSERT_TRUE(item);
      EXPECT_EQ(item->data(), expected);
      EXPECT_TRUE(trial.run(item->done()));
    }
    EXPECT_EQ(trial.world.descendants(kPath), 0u);
  });
}

}  // namespace
}  // namespace drover::recipes

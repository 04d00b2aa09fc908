// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/delay_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;
using Names = std::vector<std::string>;
using WallTime = DelayQueue::WallTime;

const std::string kPath = "/reminders";
constexpr WallTime kStart{std::chrono::hours(24 * 365 * 55)};

// Wall clocks follow the world's time.
DelayQueue make_queue(RecipeWorld& world, std::size_t client, QueueOptions options = {}) {
  return DelayQueue(world.client(client), kPath, std::move(options),
                    [&world] { return kStart + world.now(); });
}
WallTime in(RecipeWorld& world, int ms) { return kStart + world.now() + Time(ms); }

TEST(DelayQueue, DeliversNoItemEarly) {
  RecipeWorld world({.clients = 2});
  const DelayQueue queue = make_queue(world, 0);
  const WallTime due = in(world, 5000);
  ASSERT_TRUE(world.get(queue.put("later", due)));
  EXPECT_EQ(world.get(queue.take(Wait::poll())).error(), Errc::kDeadline);
  EXPECT_EQ(world.get(queue.take(Wait::within(Time(1000)))).error(), Errc::kDeadline);
  const auto taken = world.get(make_queue(world, 1).take());
  ASSERT_TRUE(taken);
  EXPECT_GE(kStart + world.now(), due);
  EXPECT_LT(kStart + world.now(), due + Time(200));
}

TEST(DelayQueue, DeliversInTheOrderOfDueTimesIncludingLateItems) {
  RecipeWorld world({.clients = 2});
  const DelayQueue queue = make_queue(world, 0);
  for (const int ms : {9000, 3000, 6000}) {
    ASSERT_TRUE(world.get(queue.put(std::to_string(ms), in(world, ms))));
  }
  const auto first = world.start(make_queue(world, 1).take());
  world.run_for(Time(500));
  ASSERT_TRUE(world.get(queue.put("late, and due before", in(world, 1000))));
  ASSERT_TRUE(world.run_until([&] { return first->has_value(); }, Time(1500)));
  EXPECT_EQ((**first)->data(), "late, and due before");
  Names rest;
  std::vector<QueueItem> items;
  for (int i = 0; i < 3; ++i) {
    items.push_back(unwrap(world.get(queue.take())));
    rest.push_back(items.back().data());
  }
  EXPECT_EQ(rest, (Names{"3000", "6000", "9000"}));
}

TEST(DelayQueue, HasCuratorsNodes) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(make_queue(world, 0).put("a", WallTime(Time(0x18D2F0A1B00)))));
  EXPECT_EQ(world.children(kPath), Names{"queue-|18D2F0A1B00|0000000000"});
}

TEST(DelayQueue, KeepsDueTimesThroughEveryFault) {
  testing::for_every_step(testing::kConnectionFaults, {.clients = 1}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    const DelayQueue queue = make_queue(world, 0, {.exact_put = true});
    const WallTime due = in(world, 2000);
    ASSERT_TRUE(trial.run(queue.put("a", due)));
    auto item = trial.run(queue.take());
    ASSERT_TRUE(item);
    EXPECT_GE(kStart + world.now(), due);
    EXPECT_TRUE(trial.run(item->done()));
    trial.calm_down();
    EXPECT_EQ(world.descendants(kPath), 0u);
    EXPECT_EQ(world.descendants(kPath + ".turns"), 0u);
  });
}

TEST(DelayQueue, KeepsWaitingInTheNextSession) {
  testing::for_every_step(testing::kSessionFaults, {.clients = 2}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    ASSERT_TRUE(world.get(make_queue(world, 1).put("a", in(world, 15'000))));
    const auto item = trial.run(make_queue(world, 0).take());
    ASSERT_TRUE(item);
    EXPECT_EQ(item->data(), "a");
  });
}

}  // namespace
}  // namespace drover::recipes

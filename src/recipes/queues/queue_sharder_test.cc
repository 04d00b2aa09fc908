// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/queue_sharder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;
using Names = std::vector<std::string>;
using Taken = std::shared_ptr<std::optional<Result<QueueItem>>>;

const std::string kPath = "/jobs";

Names drain(RecipeWorld& world, const QueueSharder& queue) {
  Names values;
  for (auto item = world.get(queue.take(Wait::poll())); item; item = world.get(queue.take(Wait::poll()))) {
    values.push_back(item->data());
    EXPECT_TRUE(world.get(item->done()));
  }
  std::ranges::sort(values);
  return values;
}

TEST(QueueSharder, AddsQueuesUpToTheLimitWhenAllAreFull) {
  RecipeWorld world({.servers = 3, .clients = 3});
  const QueueSharderOptions options{.threshold = 4, .queues_max = 3};
  std::vector<std::shared_ptr<std::optional<Result<void>>>> puts;
  Names all;
  std::vector<QueueSharder> sharders;
  for (std::size_t i = 0; i < 3; ++i) sharders.emplace_back(world.client(i), kPath, options);
  for (std::size_t i = 0; i < 30; ++i) {
    all.push_back(std::to_string(100 + i));
    puts.push_back(world.start(sharders[i % 3].put(all.back())));
    if (i % 3 == 2) {
      ASSERT_TRUE(world.run_until(
          [&] { return std::ranges::all_of(puts, [](const auto& put) { return put->has_value(); }); }));
    }
    if (i == 2) {
      EXPECT_EQ(world.get(sharders[0].queues())->size(), 1u);
    }
  }
  world.run_for(Time(500));  // until all servers have it
  EXPECT_EQ(world.get(sharders[0].queues())->size(), 3u);
  EXPECT_EQ(world.get(sharders[0].size()), 30);
  const Names queues = unwrap(world.get(sharders[1].queues()));
  for (const std::string& path : queues) EXPECT_GE(world.children(path).size(), 4u);
  EXPECT_EQ(drain(world, sharders[2]), all);
}

TEST(QueueSharder, HasCuratorsNodes) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(QueueSharder(world.client(0), kPath).put("a")));
  const Names queues = world.children(kPath);
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_TRUE(queues[0].starts_with("queue-"));
  EXPECT_EQ(queues[0].size(), 6u + 36u);
  EXPECT_EQ(world.children(kPath + "/" + queues[0]), Names{"queue-0000000000"});
}

TEST(QueueSharder, TakerIsWokenByAnItemOfAnyQueueIncludingANewOne) {
  RecipeWorld world({.clients = 2});
  const QueueSharderOptions options{.threshold = 1, .queues_max = 3};
  const QueueSharder mine(world.client(0), kPath, options);
  const QueueSharder other(world.client(1), kPath, options);
  std::vector<QueueItem> held;  // so that queues stay full
  for (int i = 0; i < 5; ++i) {
    const Taken taken = world.start(mine.take());
    world.run_for(Time(2000));
    EXPECT_FALSE(taken->has_value());
    ASSERT_TRUE(world.get(other.put(std::to_string(i))));
    ASSERT_TRUE(world.run_until([&] { return taken->has_value(); }, Time(2000)));
    ASSERT_TRUE((*taken)->has_value());
    EXPECT_EQ((**taken)->data(), std::to_string(i));
    held.push_back(std::move(**taken).value());
  }
  EXPECT_EQ(world.get(mine.queues())->size(), 3u);
  world.run_for(Time(1000));
  EXPECT_EQ(world.watches(), 0u);
}

void put_and_take_three(Trial& trial, QueueAck ack) {
  RecipeWorld& world = trial.world;
  const QueueSharderOptions options{
      .threshold = 1, .queues_max = 2, .queue = {.ack = ack, .exact_put = true}};
  const QueueSharder queue(world.client(0), kPath, options);
  for (const char* value : {"1", "2", "3"}) ASSERT_TRUE(trial.run(queue.put(value)));
  EXPECT_EQ(world.get(queue.queues())->size(), 2u);
  std::multiset<std::string> taken;
  for (int i = 0; i < 3; ++i) {
    auto item = trial.run(queue.take());
    ASSERT_TRUE(item);
    taken.insert(item->data());
    ASSERT_TRUE(trial.run(item->done()));
  }
  EXPECT_EQ(taken, (std::multiset<std::string>{"1", "2", "3"}));
  EXPECT_EQ(world.get(queue.size()), 0);
}

TEST(QueueSharder, DeliversEveryItemOnceThroughEveryFault) {
  for (const QueueAck ack : {QueueAck::kExplicit, QueueAck::kAutomatic}) {
    auto scenario = [ack](Trial& trial) { put_and_take_three(trial, ack); };
    for (const testing::StepFault fault : testing::kConnectionFaults) {
      testing::for_every_step_of(fault, {.clients = 2}, scenario);
    }
  }
}

// A cancelled taker leaves nothing in any line and loses no item.
TEST(QueueSharder, CancelledTakerLosesNoItem) {
  testing::for_every_step(testing::kAllFaults, {.clients = 2}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    // The fault may also hit while the other client puts.
    const QueueSharderOptions options{.threshold = 1, .queues_max = 2, .queue = {.exact_put = true}};
    const QueueSharder other(world.client(1), kPath, options);
    for (const char* value : {"1", "2"}) ASSERT_TRUE(world.get(other.put(value)));
    EXPECT_EQ(drain(world, other), (Names{"1", "2"}));
    const auto taken = trial.start(QueueSharder(world.client(0), kPath, options).take(trial.wait()));
    world.run_for(Time(2000));
    ASSERT_TRUE(world.get(other.put("3")));
    trial.calm_down();
    if (taken->has_value() && (*taken)->has_value()) {
      EXPECT_EQ((**taken)->data(), "3");
      world.get((**taken)->done());  // After a fault another client may own it.
    } else {
      EXPECT_TRUE(trial.is_given_up());
    }
    const Names rest = drain(world, other);
    EXPECT_TRUE(rest.empty() || (rest == Names{"3"} && trial.has_struck()));
    world.run_for(Time(1000));
    for (const std::string& name : world.children(kPath + ".beside")) {
      EXPECT_EQ(world.descendants(kPath + ".beside/" + name), 0u) << name;
    }
    EXPECT_EQ(world.watches(), 0u);
  });
}

}  // namespace
}  // namespace drover::recipes

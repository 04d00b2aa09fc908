// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/migrations.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

// Each can be applied only once: the second create would fail.
std::vector<Migration> steps(int count) {
  std::vector<Migration> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({"step " + std::to_string(i), {Op::create("/app" + std::to_string(i), "x")}});
  }
  return all;
}

TEST(Migrations, RunOnceAndInOrder) {
  RecipeWorld world({.clients = 2});
  const Migrations one(world.client(0), "/m");
  EXPECT_EQ(*world.get(one.apply("set", steps(2))), 2);
  EXPECT_EQ(*world.get(one.apply("set", steps(2))), 0);
  EXPECT_EQ(*world.get(Migrations(world.client(1), "/m").apply("set", steps(3))), 1);
  EXPECT_TRUE(world.exists("/app2"));
  EXPECT_EQ(*world.get(one.applied("set")), (std::vector<std::string>{"step 0", "step 1", "step 2"}));
  EXPECT_EQ(*world.get(one.applied("other")), std::vector<std::string>{});
}

TEST(Migrations, RecordedMigrationMustNotChange) {
  RecipeWorld world({.clients = 1});
  const Migrations migrations(world.client(0), "/m");
  ASSERT_TRUE(world.get(migrations.apply("set", steps(2))));
  auto changed = steps(3);
  changed[1].ops[0].data = "y";
  EXPECT_EQ(world.get(migrations.apply("set", changed)).error(), Errc::kLayoutMismatch);
  EXPECT_EQ(world.get(migrations.apply("set", steps(1))).error(), Errc::kLayoutMismatch);
  EXPECT_FALSE(world.exists("/app2"));
}

TEST(Migrations, FailedMigrationLeavesNothing) {
  RecipeWorld world({.clients = 1});
  const Migrations migrations(world.client(0), "/m");
  auto bad = steps(2);
  bad[1].ops.push_back(Op::remove("/not there"));
  EXPECT_EQ(world.get(migrations.apply("set", bad)).error(), Errc::kNoNode);
  EXPECT_FALSE(world.exists("/app1"));
  EXPECT_EQ(world.get(migrations.applied("set"))->size(), 1u);
  EXPECT_EQ(*world.get(migrations.apply("set", steps(2))), 1);
  EXPECT_EQ(world.descendants("/m/set/lock"), 0u);
}

TEST(Migrations, ConcurrentProcessesRunEachOnce) {
  RecipeWorld world({.servers = 3, .clients = 4});
  std::vector<std::shared_ptr<std::optional<Result<int>>>> running;
  for (std::size_t i = 0; i < 4; ++i) {
    running.push_back(world.start(Migrations(world.client(i), "/m").apply("set", steps(5))));
  }
  int sum = 0;
  for (const auto& each : running) {
    ASSERT_TRUE(world.run_until([&] { return each->has_value(); }));
    ASSERT_TRUE((*each)->has_value()) << (*each)->error().to_text();
    sum += (*each)->value();
  }
  EXPECT_EQ(sum, 5);
}

TEST(Migrations, LostReplyRunsNothingTwice) {
  for (const bool done : {true, false}) {
    for (int nth = 1; nth <= 3; ++nth) {
      RecipeWorld world({.clients = 1});
      if (done) world.lose_reply(0, "multi", nth);
      if (!done) world.lose_request(0, "multi", nth);
      EXPECT_EQ(*world.get(Migrations(world.client(0), "/m").apply("set", steps(3))), 3);
    }
  }
}

TEST(Migrations, NextProcessFinishesAfterEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    const auto first = world.start(Migrations(world.client(0), "/m").apply("set", steps(4)));
    fault.strike(world);
    world.run_for(milliseconds(300));
    fault.heal(world);
    ASSERT_TRUE(world.run_until([&] { return first->has_value(); }));
    const Migrations second(world.client(1), "/m");
    Result<int> finished = world.get(second.apply("set", steps(4)));
    for (int i = 0; i < 3 && !finished; ++i) finished = world.get(second.apply("set", steps(4)));
    ASSERT_TRUE(finished) << finished.error().to_text();
    EXPECT_EQ(world.get(second.applied("set"))->size(), 4u);
    EXPECT_TRUE(world.exists("/app3"));
    world.run_for(milliseconds(10'000));
    EXPECT_EQ(world.descendants("/m/set/lock"), 0u);
  });
}

TEST(Migrations, StoppedAnywhereTheyLeaveNoLock) {
  for (int nth = 1; nth <= 8; ++nth) {
    RecipeWorld world({.clients = 2});
    std::stop_source stop;
    world.at_request(0, "", nth, [&] { stop.request_stop(); });
    world.get(Migrations(world.client(0), "/m").apply("set", steps(2), Wait::forever(stop.get_token())));
    EXPECT_TRUE(world.get(Migrations(world.client(1), "/m").apply("set", steps(2))));
    EXPECT_TRUE(world.exists("/app1"));
    world.run_for(milliseconds(1000));
    EXPECT_EQ(world.descendants("/m/set/lock"), 0u) << nth;
  }
}

}  // namespace
}  // namespace drover::recipes::testing

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/reaper.h"

#include <gtest/gtest.h>

#include "recipes/trouble_testing.h"

namespace drover::recipes::testing {
namespace {

constexpr ReaperOptions kQuick{.check_every = milliseconds(1000), .checks = 3};

TEST(Reaper, RemovesWhatStaysEmptyAndNothingElse) {
  RecipeWorld world({.clients = 2});
  Hand hand(world, 1);
  hand.put("/locks");
  hand.put("/locks/empty");
  hand.put("/locks/used/x");
  hand.put("/locks/data", "1");
  hand.put("/locks/live", "", CreateMode::kEphemeral);
  Reaper reaper(world.client(0), "/locks", kQuick);
  world.run_for(milliseconds(1500));
  EXPECT_TRUE(world.exists("/locks/empty"));  // not before the third check
  world.run_for(milliseconds(3000));
  EXPECT_EQ(world.children("/locks"), (std::vector<std::string>{"data", "live", "used"}));
  EXPECT_EQ(reaper.removed(), 1u);
  hand.remove("/locks/used/x");
  world.run_for(milliseconds(5000));
  EXPECT_EQ(world.children("/locks"), (std::vector<std::string>{"data", "live"}));
}

TEST(Reaper, ADirectoryThatIsUsedNowAndThenStays) {
  RecipeWorld world({.clients = 2});
  Hand hand(world, 1);
  hand.put("/locks/a");
  const Zxid made = world.stat("/locks/a")->czxid;
  Reaper reaper(world.client(0), "/locks", kQuick);
  for (int i = 0; i < 10; ++i) {  // It is empty at every check.
    hand.put("/locks/a/x");
    hand.remove("/locks/a/x");
    world.run_for(milliseconds(1000));
  }
  ASSERT_TRUE(world.exists("/locks/a"));
  EXPECT_EQ(world.stat("/locks/a")->czxid, made);  // It was not removed and made again.
  world.run_for(milliseconds(5000));
  EXPECT_FALSE(world.exists("/locks/a"));
}

TEST(Reaper, GoesOnAfterEveryFault) {
  through_all_troubles(2, [](RecipeWorld& world, const Trouble& trouble) {
    Hand hand(world, 1);
    hand.put("/locks/a");
    Reaper reaper(world.client(0), "/locks", kQuick);
    world.run_for(milliseconds(1500));
    trouble.strike(world);
    hand.put("/locks/b");
    hand.put("/locks/used/x");
    world.run_for(milliseconds(500));
    trouble.heal(world);
    world.run_for(milliseconds(20'000));
    EXPECT_EQ(world.children("/locks"), (std::vector<std::string>{"used"}));
  });
}

TEST(Reaper, ChecksNoMoreWhenItIsGone) {
  RecipeWorld world({.clients = 1});
  Hand(world, 0).put("/locks/a");
  {
    Reaper reaper(world.client(0), "/locks", kQuick);
  }
  world.run_for(milliseconds(10'000));
  EXPECT_TRUE(world.exists("/locks/a"));
}

}  // namespace
}  // namespace drover::recipes::testing

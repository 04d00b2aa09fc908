// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/reaper.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

constexpr ReaperOptions kQuick{.check_every = milliseconds(1000), .checks = 3};

TEST(Reaper, RemovesOnlyDirectoriesThatStayEmpty) {
  RecipeWorld world({.clients = 2});
  OtherClient other(world, 1);
  other.put("/locks");
  other.put("/locks/empty");
  other.put("/locks/used/x");
  other.put("/locks/data", "1");
  other.put("/locks/live", "", CreateMode::kEphemeral);
  Reaper reaper(world.client(0), "/locks", kQuick);
  world.run_for(milliseconds(1500));
  EXPECT_TRUE(world.exists("/locks/empty"));  // not before the third check
  world.run_for(milliseconds(3000));
  EXPECT_EQ(world.children("/locks"), (std::vector<std::string>{"data", "live", "used"}));
  EXPECT_EQ(reaper.removed(), 1u);
  other.remove("/locks/used/x");
  world.run_for(milliseconds(5000));
  EXPECT_EQ(world.children("/locks"), (std::vector<std::string>{"data", "live"}));
}

TEST(Reaper, DirectoryThatIsUsedNowAndThenStays) {
  RecipeWorld world({.clients = 2});
  OtherClient other(world, 1);
  other.put("/locks/a");
  const Zxid made = world.stat("/locks/a")->czxid;
  Reaper reaper(world.client(0), "/locks", kQuick);
  for (int i = 0; i < 10; ++i) {  // It is empty at every check.
    other.put("/locks/a/x");
    other.remove("/locks/a/x");
    world.run_for(milliseconds(1000));
  }
  ASSERT_TRUE(world.exists("/locks/a"));
  EXPECT_EQ(world.stat("/locks/a")->czxid, made);  // It was not removed and recreated.
  world.run_for(milliseconds(5000));
  EXPECT_FALSE(world.exists("/locks/a"));
}

TEST(Reaper, ContinuesAfterEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    OtherClient other(world, 1);
    other.put("/locks/a");
    Reaper reaper(world.client(0), "/locks", kQuick);
    world.run_for(milliseconds(1500));
    fault.strike(world);
    other.put("/locks/b");
    other.put("/locks/used/x");
    world.run_for(milliseconds(500));
    fault.heal(world);
    world.run_for(milliseconds(20'000));
    EXPECT_EQ(world.children("/locks"), (std::vector<std::string>{"used"}));
  });
}

TEST(Reaper, DestroyedReaperStopsChecking) {
  RecipeWorld world({.clients = 1});
  OtherClient(world, 0).put("/locks/a");
  {
    Reaper reaper(world.client(0), "/locks", kQuick);
  }
  world.run_for(milliseconds(10'000));
  EXPECT_TRUE(world.exists("/locks/a"));
}

}  // namespace
}  // namespace drover::recipes::testing

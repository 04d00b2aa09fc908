// SPDX-License-Identifier: Apache-2.0
//
// The recipes' world does to its clients what it says.
#include "sim/recipe_world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>

namespace drover::sim {
namespace {

using std::chrono::milliseconds;

constexpr CreateOptions kEphemeral{.mode = CreateMode::kEphemeral};

TEST(RecipeWorld, ClientsUseOneTree) {
  RecipeWorld world({.servers = 3, .clients = 2});
  ASSERT_TRUE(world.get(world.client(0).create("/a", "1")));
  ASSERT_TRUE(world.get(world.client(1).sync("/a")));
  const auto node = world.get(world.client(1).get("/a"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->data, "1");
  EXPECT_EQ(world.data("/a"), "1");
  EXPECT_EQ(world.stat("/a")->czxid, node->stat.czxid);
  EXPECT_FALSE(world.exists("/b"));
}

TEST(RecipeWorld, SameSeedGivesTheSameRun) {
  const auto story = [](std::uint64_t seed) {
    RecipeWorld world({.seed = seed, .servers = 3});
    EXPECT_TRUE(world.get(world.client(0).create("/a")));
    world.change_leader();
    const auto made = world.get(world.client(1).create_protected("/b"));
    EXPECT_TRUE(made);
    return std::pair(world.now(), made->stat.ctime_ms);
  };
  EXPECT_EQ(story(5), story(5));
  EXPECT_NE(story(5), story(6));
}

TEST(RecipeWorld, LostReplyMeansTheOperationWasApplied) {
  RecipeWorld world({.clients = 1});
  world.lose_reply(0, "create");
  const auto created = world.get(world.client(0).create("/a"));
  ASSERT_FALSE(created);
  EXPECT_TRUE(created.error().maybe_applied());
  EXPECT_TRUE(world.exists("/a"));
  EXPECT_FALSE(world.has_traps(0));
}

TEST(RecipeWorld, LostRequestMeansTheOperationWasNotApplied) {
  RecipeWorld world({.clients = 1});
  world.lose_request(0, "create", 2);
  EXPECT_TRUE(world.get(world.client(0).create("/a")));
  EXPECT_FALSE(world.get(world.client(0).create("/b")));
  EXPECT_TRUE(world.get(world.client(0).create("/c")));
  EXPECT_EQ(world.children("/"), (std::vector<std::string>{"a", "c", "zookeeper"}));
}

TEST(RecipeWorld, SessionSurvivesAShortCutAndNotALongOne) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(world.client(0).create("/a", "", kEphemeral)));
  const SessionId before = world.client(0).session();
  world.cut_for(0, milliseconds(1500));
  world.run_for(milliseconds(6000));
  EXPECT_EQ(world.client(0).session(), before);
  EXPECT_TRUE(world.exists("/a"));
  world.cut_for(0, milliseconds(8000));
  EXPECT_FALSE(world.exists("/a"));
  EXPECT_TRUE(world.run_until([&] { return world.client(0).state() == ConnectionState::kConnected; }));
  EXPECT_NE(world.client(0).session(), before);
}

TEST(RecipeWorld, KilledSessionLosesItsNodes) {
  for (const int servers : {1, 3}) {
    RecipeWorld world({.servers = servers, .clients = 2});
    ASSERT_TRUE(world.get(world.client(0).create("/a", "", kEphemeral)));
    const SessionId before = world.client(0).session();
    world.kill_session(0);
    EXPECT_TRUE(world.run_until([&] { return !world.exists("/a"); }, milliseconds(3000)));
    EXPECT_FALSE(world.has_session(before));
    EXPECT_TRUE(world.run_until([&] { return world.client(0).session() != before; }, milliseconds(5000)));
    EXPECT_TRUE(world.get(world.client(0).create("/a", "", kEphemeral)));
    EXPECT_EQ(world.client(1).state(), ConnectionState::kConnected);
  }
}

TEST(RecipeWorld, SessionsOutliveServers) {
  for (const int servers : {1, 3}) {
    RecipeWorld world({.servers = servers, .clients = 1});
    ASSERT_TRUE(world.get(world.client(0).create("/a", "", kEphemeral)));
    const SessionId before = world.client(0).session();
    world.restart_server();
    world.run_for(milliseconds(10'000));
    EXPECT_TRUE(world.exists("/a"));
    EXPECT_EQ(world.client(0).session(), before);
  }
}

TEST(RecipeWorld, NotificationsAreCounted) {
  RecipeWorld world({.clients = 2});
  int told = 0;
  const Watch watch([&](const WatchEvent&) { ++told; });
  ASSERT_TRUE(world.get(world.client(0).exists("/a", watch)));
  EXPECT_EQ(world.watches(), 1u);
  ASSERT_TRUE(world.get(world.client(1).create("/a")));
  world.run_for(milliseconds(100));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(world.watch_events(0), 1u);
  EXPECT_EQ(world.watch_events(), 1u);
  EXPECT_EQ(world.requests(1, "create"), 1u);
  EXPECT_EQ(world.watches(), 0u);
}

TEST(RecipeWorld, ActionRunsRightAfterARequest) {
  RecipeWorld world({.clients = 1});
  std::stop_source stop;
  world.at_request(0, "create", 1, [&] { stop.request_stop(); });
  const auto created = world.get(world.client(0).create("/a", "", {}, Wait::forever(stop.get_token())));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error(), Errc::kStopped);
  EXPECT_TRUE(created.error().maybe_applied());
  EXPECT_TRUE(world.run_until([&] { return world.exists("/a"); }, milliseconds(1000)));
}

TEST(RecipeWorld, ReleasedClientClosesItsSession) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(world.client(0).create("/a", "", kEphemeral)));
  world.let_go(0);
  EXPECT_TRUE(world.run_until([&] { return !world.exists("/a"); }, milliseconds(1000)));
}

}  // namespace
}  // namespace drover::sim

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/persistent_node.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

using OnConflict = PersistentNodeOptions::OnConflict;

SessionId owner(RecipeWorld& world, const std::string& path) {
  const auto stat = world.stat(path);
  return stat ? stat->ephemeral_owner : SessionId{};
}

TEST(PersistentNode, ExistsFromStartToClose) {
  RecipeWorld world({.clients = 1});
  PersistentNode node(world.client(0), "/live/a", "1");
  EXPECT_FALSE(node.is_there());
  const auto path = world.get(node.start());
  ASSERT_TRUE(path);
  EXPECT_EQ(*path, "/live/a");
  EXPECT_TRUE(node.is_there());
  EXPECT_EQ(world.data("/live/a"), "1");
  EXPECT_EQ(owner(world, "/live/a"), world.client(0).session());
  ASSERT_TRUE(world.get(node.close()));
  EXPECT_FALSE(world.exists("/live/a"));
  EXPECT_FALSE(node.is_there());
  world.run_for(milliseconds(5000));
  EXPECT_FALSE(world.exists("/live/a"));
  EXPECT_EQ(world.watches(), 0u);
}

TEST(PersistentNode, IsRecreatedAfterADeletion) {
  RecipeWorld world({.clients = 2});
  PersistentNode node(world.client(0), "/live/a", "1");
  ASSERT_TRUE(world.get(node.start()));
  for (int i = 0; i < 3; ++i) {
    OtherClient(world, 1).remove("/live/a");
    EXPECT_TRUE(world.run_until([&] { return world.exists("/live/a"); }, milliseconds(1000)));
  }
}

TEST(PersistentNode, ReturnsWithTheLastDataAfterEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    PersistentNode node(world.client(0), "/live/a", "1");
    ASSERT_TRUE(world.get(node.start()));
    fault.strike(world);
    node.set_data("2");
    node.set_data("3");
    world.run_for(milliseconds(1000));
    fault.heal(world);
    ASSERT_TRUE(world.get(node.flush()));
    world.run_for(milliseconds(15'000));
    EXPECT_EQ(world.data("/live/a"), "3");
    EXPECT_EQ(owner(world, "/live/a"), world.client(0).session());
    EXPECT_TRUE(node.is_there());
    EXPECT_EQ(world.children("/live").size(), 1u);
    ASSERT_TRUE(world.get(node.close()));
    EXPECT_FALSE(world.exists("/live/a"));
  });
}

TEST(PersistentNode, LostReplyToTheCreateMakesNoSecondNode) {
  for (const bool protect : {false, true}) {
    for (int nth = 1; nth <= 3; ++nth) {
      RecipeWorld world({.clients = 2});
      world.lose_reply(0, "create", nth);
      PersistentNode node(world.client(0), "/live/a", "1", {.protect = protect});
      const auto path = world.get(node.start());
      ASSERT_TRUE(path);
      world.run_for(milliseconds(2000));
      EXPECT_EQ(world.children("/live").size(), 1u);
      EXPECT_EQ(owner(world, *path), world.client(0).session());
    }
  }
}

TEST(PersistentNode, ProtectedSequentialNameIsKeptAcrossSessions) {
  RecipeWorld world({.clients = 2});
  PersistentNode node(world.client(0), "/live/n-", "1", {.mode = CreateMode::kEphemeralSequential});
  const auto path = world.get(node.start());
  ASSERT_TRUE(path);
  for (int i = 0; i < 3; ++i) {
    const SessionId before = world.client(0).session();
    world.kill_session(0);
    ASSERT_TRUE(world.run_until([&] { return world.exists(*path) && owner(world, *path) != before; }));
    EXPECT_EQ(owner(world, *path), world.client(0).session());
    EXPECT_EQ(world.children("/live").size(), 1u);
  }
  EXPECT_EQ(node.path(), *path);
}

// Curator reuses the node of its old session, and has none when the server deletes it.
TEST(PersistentNode, WaitsForTheNodeOfItsEarlierSessionToExpire) {
  RecipeWorld world({.servers = 3, .clients = 2});
  PersistentNode node(world.client(0), "/live/a", "1", {.on_conflict = OnConflict::kFail});
  ASSERT_TRUE(world.get(node.start()));
  const SessionId before = world.client(0).session();
  world.cut_for(0, milliseconds(9000));
  ASSERT_TRUE(world.run_until([&] { return node.is_there() && owner(world, "/live/a") != before; }));
  EXPECT_EQ(node.failure(), std::nullopt);
  EXPECT_EQ(owner(world, "/live/a"), world.client(0).session());
}

TEST(PersistentNode, NodeOfAnotherClientIsAConflictAndNeverTouched) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/live/a", "theirs", CreateMode::kEphemeral);
  PersistentNode fails(world.client(0), "/live/a", "ours", {.on_conflict = OnConflict::kFail});
  const auto failed = world.get(fails.start());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), Errc::kIdConflict);
  EXPECT_FALSE(fails.is_there());
  PersistentNode waits(world.client(0), "/live/a", "ours");
  EXPECT_EQ(world.get(waits.start(Wait::within(milliseconds(500)))).error(), Errc::kDeadline);
  EXPECT_EQ(world.data("/live/a"), "theirs");
  EXPECT_EQ(owner(world, "/live/a"), world.client(1).session());

  ASSERT_TRUE(world.get(fails.close()));
  EXPECT_TRUE(world.exists("/live/a"));  // It is not ours, so it stays.
  OtherClient(world, 1).remove("/live/a");
  EXPECT_TRUE(world.get(waits.start()));
  EXPECT_EQ(world.data("/live/a"), "ours");
}

TEST(PersistentNode, OthersMayChangeTheDataUntilTheNextSetData) {
  RecipeWorld world({.clients = 2});
  PersistentNode node(world.client(0), "/live/a", "1");
  ASSERT_TRUE(world.get(node.start()));
  OtherClient(world, 1).set("/live/a", "theirs");
  world.run_for(milliseconds(500));
  EXPECT_EQ(world.data("/live/a"), "theirs");
  node.set_data("2");
  ASSERT_TRUE(world.get(node.flush()));
  EXPECT_EQ(world.data("/live/a"), "2");
}

TEST(PersistentNode, StartsWithDataSetBeforeTheStart) {
  RecipeWorld world({.clients = 1});
  PersistentNode node(world.client(0), "/live/a", "1");
  node.set_data("2");
  ASSERT_TRUE(world.get(node.start()));
  EXPECT_EQ(world.data("/live/a"), "2");
}

TEST(PersistentNode, AdoptsAPersistentNodeWhichOutlivesTheSession) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/a", "old");
  PersistentNode node(world.client(0), "/a", "new", {.mode = CreateMode::kPersistent});
  ASSERT_TRUE(world.get(node.start()));
  EXPECT_EQ(world.data("/a"), "new");
  world.kill_session(0);
  world.run_for(milliseconds(8000));
  EXPECT_TRUE(world.exists("/a"));
}

TEST(PersistentNode, CloseRemovesAnAdoptedNodeOrReportsWhyNot) {
  RecipeWorld world({.clients = 2});
  for (const CreateMode mode : {CreateMode::kPersistent, CreateMode::kContainer}) {
    OtherClient(world, 1).put("/a", "old");
    PersistentNode node(world.client(0), "/a", "new", {.mode = mode});
    ASSERT_TRUE(world.get(node.start()));
    ASSERT_TRUE(world.get(node.close()));
    EXPECT_FALSE(world.exists("/a"));
  }
  OtherClient(world, 1).put("/a", "old");
  PersistentNode node(world.client(0), "/a", "new", {.mode = CreateMode::kPersistent});
  ASSERT_TRUE(world.get(node.start()));
  OtherClient(world, 1).put("/a/child");
  EXPECT_EQ(world.get(node.close()).error(), Errc::kNotEmpty);
}

TEST(PersistentNode, DestroyedAtAnyRequestItLeavesNothingBehind) {
  for (const bool protect : {false, true}) {
    for (int nth = 1; nth <= 6; ++nth) {
      SCOPED_TRACE(nth);
      RecipeWorld world({.clients = 2});
      std::optional<PersistentNode> node(std::in_place, world.client(0), "/live/a", "1",
                                         PersistentNodeOptions{.protect = protect});
      world.at_request(0, "", nth, [&] { node.reset(); });
      const auto started = world.start(node->start());
      world.run_for(milliseconds(1000));
      node.reset();
      world.run_for(milliseconds(1000));
      EXPECT_TRUE(started->has_value());
      EXPECT_EQ(world.descendants("/live"), 0u);
      EXPECT_EQ(world.watches(), 0u);
    }
  }
}

TEST(PersistentNode, DestroyedAfterALostCreateReplyItLeavesNothingBehind) {
  for (const bool protect : {false, true}) {
    for (int nth = 1; nth <= 4; ++nth) {
      RecipeWorld world({.clients = 2});
      std::optional<PersistentNode> node(std::in_place, world.client(0), "/live/a", "1",
                                         PersistentNodeOptions{.protect = protect});
      world.lose_reply(0, "create", nth);
      world.at_request(0, "create", nth, [&] { node.reset(); });
      const auto started = world.start(node->start());
      world.run_for(milliseconds(3000));
      node.reset();
      world.run_for(milliseconds(2000));
      EXPECT_EQ(world.descendants("/live"), 0u);
    }
  }
}

TEST(PersistentNode, TtlNodeIsKeptAliveByTouchingAChild) {
  RecipeWorld world({.clients = 1});
  std::optional<PersistentNode> node(std::in_place, world.client(0), "/live/a", "1",
                                     PersistentNodeOptions{.ttl = milliseconds(4000)});
  const auto path = world.get(node->start());
  ASSERT_TRUE(path) << path.error().to_text();
  EXPECT_TRUE(world.exists("/live/a/touch"));
  const auto touched = world.stat("/live/a/touch")->version;
  world.run_for(milliseconds(20'000));
  EXPECT_TRUE(world.exists("/live/a/touch"));
  EXPECT_GE(std::to_underlying(world.stat("/live/a/touch")->version), std::to_underlying(touched) + 8);
  world.kill_session(0);
  world.run_for(milliseconds(20'000));
  EXPECT_TRUE(world.exists("/live/a/touch"));
  EXPECT_EQ(world.data("/live/a"), "1");
  ASSERT_TRUE(world.get(node->close()));
  EXPECT_FALSE(world.exists("/live/a"));
}

TEST(PersistentNode, PermanentErrorsAreReported) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(world.client(1).create("/closed", "", {.acl = read_acl()})));
  PersistentNode node(world.client(0), "/closed/a", "1");
  const auto failed = world.get(node.start());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), Errc::kNoAuth);
  const auto before = world.requests(0, "create");
  world.run_for(milliseconds(10'000));
  EXPECT_LE(world.requests(0, "create"), before + 12);
}

}  // namespace
}  // namespace drover::recipes::testing

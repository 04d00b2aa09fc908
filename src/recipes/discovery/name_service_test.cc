// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/name_service.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

using Names = std::vector<std::string>;

TEST(NameService, FirstBindingWins) {
  RecipeWorld world({.clients = 2});
  const NameService one(world.client(0), "/names");
  const NameService two(world.client(1), "/names");
  EXPECT_EQ(*world.get(one.names()), Names{});
  ASSERT_TRUE(world.get(one.bind("db", "1")));
  EXPECT_EQ(world.get(two.bind("db", "2")).error(), Errc::kNodeExists);
  EXPECT_EQ(world.get(one.resolve("db"))->data, "1");
  EXPECT_EQ(world.get(one.resolve("no")).error(), Errc::kNoNode);
  EXPECT_EQ(*world.get(one.names()), Names{"db"});
  ASSERT_TRUE(world.get(two.unbind("db")));
  ASSERT_TRUE(world.get(two.unbind("db")));
  EXPECT_TRUE(world.get(two.bind("db", "2")));
}

TEST(NameService, LostReplyIsResolved) {
  for (const bool ephemeral : {false, true}) {
    RecipeWorld world({.clients = 2});
    OtherClient(world, 1).put("/names");
    const NameService names(world.client(0), "/names");
    world.lose_reply(0, "create");
    ASSERT_TRUE(world.get(names.bind("a", "1", {.ephemeral = ephemeral})));
    world.lose_request(0, "create");
    ASSERT_TRUE(world.get(names.bind("b", "1", {.ephemeral = ephemeral})));
    EXPECT_EQ(world.children("/names"), (Names{"a", "b"}));
  }
}

TEST(NameService, AfterALostReplyAnotherClientsBindingIsNotMistakenForOurs) {
  for (const bool ephemeral : {false, true}) {
    RecipeWorld world({.clients = 2});
    OtherClient(world, 1).put("/names");
    const NameService ours(world.client(0), "/names");
    const NameService theirs(world.client(1), "/names");
    world.lose_request(0, "create");
    const auto binding = world.start(ours.bind("a", "ours", {.ephemeral = ephemeral}));
    ASSERT_TRUE(world.get(theirs.bind("a", ephemeral ? "ours" : "theirs", {.ephemeral = ephemeral})));
    ASSERT_TRUE(world.run_until([&] { return binding->has_value(); }));
    ASSERT_FALSE((*binding)->has_value());
    EXPECT_EQ((*binding)->error(), Errc::kNodeExists);
  }
}

TEST(NameService, EphemeralBindingsEndWithTheSessionAndOthersStay) {
  RecipeWorld world({.clients = 2});
  const NameService names(world.client(0), "/names");
  ASSERT_TRUE(world.get(names.bind("stays", "1")));
  ASSERT_TRUE(world.get(names.bind("goes", "1", {.ephemeral = true})));
  world.kill_session(0);
  ASSERT_TRUE(world.run_until([&] { return !world.exists("/names/goes"); }));
  EXPECT_TRUE(world.exists("/names/stays"));
}

TEST(NameService, UniqueNamesAreUniqueDespiteALostReply) {
  RecipeWorld world({.clients = 1});
  const NameService names(world.client(0), "/names");
  const auto a = world.get(names.bind_unique("job-", "1"));
  world.lose_reply(0, "create");
  const auto b = world.get(names.bind_unique("job-", "2"));
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
  EXPECT_EQ(world.children("/names").size(), 2u);
  EXPECT_EQ(world.get(names.resolve(*b))->data, "2");
}

TEST(NameService, RebindFailsIfTheBindingChanged) {
  RecipeWorld world({.clients = 2});
  const NameService names(world.client(0), "/names");
  EXPECT_EQ(world.get(names.rebind("db", "1")).error(), Errc::kNoNode);
  const auto bound = world.get(names.bind("db", "1"));
  ASSERT_TRUE(bound);
  world.lose_reply(0, "set");
  ASSERT_TRUE(world.get(names.rebind("db", "2", bound->version)));
  EXPECT_EQ(world.get(names.rebind("db", "3", bound->version)).error(), Errc::kBadVersion);
  EXPECT_EQ(world.data("/names/db"), "2");
}

TEST(NameService, RenameIsAtomic) {
  RecipeWorld world({.clients = 2});
  const NameService names(world.client(0), "/names");
  ASSERT_TRUE(world.get(names.bind("a", "1")));
  ASSERT_TRUE(world.get(names.bind("taken", "2")));
  EXPECT_EQ(world.get(names.rename("a", "taken")).error(), Errc::kNodeExists);
  EXPECT_EQ(world.get(names.rename("no", "b")).error(), Errc::kNoNode);
  ASSERT_TRUE(world.get(names.rename("a", "b")));
  EXPECT_EQ(world.children("/names"), (Names{"b", "taken"}));
  EXPECT_EQ(world.data("/names/b"), "1");
  world.lose_reply(0, "multi");
  const auto lost = world.get(names.rename("b", "c"));
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().maybe_applied());
}

// The successor's binding has the same name, and version 0 like ours.
TEST(NameService, UnbindNeverRemovesASuccessorsBinding) {
  RecipeWorld world({.clients = 2});
  const NameService names(world.client(0), "/names");
  const auto bound = world.get(names.bind("a", "1"));
  ASSERT_TRUE(bound);
  world.lose_reply(0, "delete");
  const auto unbinding = world.start(names.unbind("a", bound->czxid));
  ASSERT_TRUE(world.run_until([&] { return !world.exists("/names/a"); }));
  ASSERT_TRUE(world.get(NameService(world.client(1), "/names").bind("a", "theirs")));
  ASSERT_TRUE(world.run_until([&] { return unbinding->has_value(); }));
  EXPECT_TRUE((*unbinding)->has_value());
  EXPECT_EQ(world.data("/names/a"), "theirs");
}

}  // namespace
}  // namespace drover::recipes::testing

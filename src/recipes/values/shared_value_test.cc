// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/shared_value.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

TEST(SharedCount, IsTheSeedUntilItIsSet) {
  RecipeWorld world({.clients = 2});
  SharedCount a(world.client(0), "/app/n", 10);
  SharedCount b(world.client(1), "/app/n", 20);
  EXPECT_EQ(a.current().value, 10);
  ASSERT_TRUE(world.get(a.start()));
  ASSERT_TRUE(world.get(b.start()));
  EXPECT_EQ(b.current().value, 10);
  EXPECT_EQ(world.data("/app/n"), std::string("\0\0\0\x0a", 4));
}

TEST(SharedCount, SetIsSeenHereAtOnceAndByOthersSoon) {
  RecipeWorld world({.clients = 2});
  SharedCount a(world.client(0), "/n");
  SharedCount b(world.client(1), "/n");
  ASSERT_TRUE(world.get(a.start()));
  ASSERT_TRUE(world.get(b.start()));
  ASSERT_TRUE(world.get(b.next()));
  ASSERT_TRUE(world.get(a.set(5)));
  EXPECT_EQ(a.current().value, 5);
  EXPECT_EQ(world.get(b.next())->value, 5);
}

TEST(SharedCount, OneOfTwoConcurrentTrySetsSucceeds) {
  RecipeWorld world({.clients = 2});
  SharedCount a(world.client(0), "/n");
  SharedCount b(world.client(1), "/n");
  ASSERT_TRUE(world.get(a.start()));
  ASSERT_TRUE(world.get(b.start()));
  const auto seen_a = a.current();
  const auto seen_b = b.current();
  EXPECT_TRUE(*world.get(a.try_set(seen_a, 1)));
  EXPECT_FALSE(*world.get(b.try_set(seen_b, 2)));
  EXPECT_EQ(b.current().value, 1);  // The refusal returned the newest value.
  EXPECT_TRUE(*world.get(b.try_set(b.current(), 2)));
}

TEST(SharedCount, LostReplyDoesNotSetTwice) {
  RecipeWorld world({.clients = 1});
  SharedCount a(world.client(0), "/n");
  ASSERT_TRUE(world.get(a.start()));
  for (int i = 1; i <= 10; ++i) {
    if (i % 3 == 0) world.lose_reply(0, "set");
    if (i % 3 == 1) world.lose_request(0, "set");
    const auto seen = a.current();
    EXPECT_TRUE(*world.get(a.try_set(seen, seen.value + 1)));
  }
  EXPECT_EQ(a.current().value, 10);
  EXPECT_EQ(world.stat("/n")->version, Version{10});
}

// Curator's SharedValue keeps the old value forever if the watch was lost (CURATOR-311).
TEST(SharedCount, IsTheNewestAfterEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    SharedCount a(world.client(0), "/n");
    ASSERT_TRUE(world.get(a.start()));
    fault.strike(world);
    OtherClient other(world, 1);
    other.set("/n", std::string("\0\0\0\1", 4));
    other.remove("/n");
    other.put("/n", std::string("\0\0\0\2", 4));  // version 0, as at the beginning
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    EXPECT_EQ(a.current().value, 2);
    EXPECT_TRUE(*world.get(a.try_set(a.current(), 3)));
    EXPECT_EQ(a.current().value, 3);
  });
}

// An existing node may have version 0, too.
TEST(SharedCount, UnseenValueIsNotOverwritten) {
  RecipeWorld world({.clients = 2});
  SharedCount a(world.client(0), "/n", 10);
  const auto unseen = a.current();
  EXPECT_TRUE(unseen.is_absent);
  SharedCount b(world.client(1), "/n", 20);
  ASSERT_TRUE(world.get(b.start()));
  EXPECT_FALSE(*world.get(a.try_set(unseen, 11)));
  EXPECT_EQ(world.data("/n"), std::string("\0\0\0\x14", 4));
  OtherClient(world, 1).remove("/n");
  world.lose_reply(0, "create");
  EXPECT_TRUE(*world.get(a.try_set(unseen, 11)));
  EXPECT_EQ(world.data("/n"), std::string("\0\0\0\x0b", 4));
}

TEST(SharedCount, SeedIsSetDespiteALostRequest) {
  for (const bool done : {false, true}) {
    RecipeWorld world({.clients = 1});
    if (done) world.lose_reply(0, "create");
    if (!done) world.lose_request(0, "create");
    SharedCount a(world.client(0), "/n", 4);
    ASSERT_TRUE(world.get(a.start()));
    EXPECT_EQ(world.data("/n"), std::string("\0\0\0\x04", 4));
    EXPECT_FALSE(a.current().is_absent);
  }
}

TEST(SharedCount, StartsDespiteAnyLostReply) {
  for (int nth = 1; nth <= 3; ++nth) {
    RecipeWorld world({.clients = 1});
    world.lose_reply(0, "", nth);
    SharedCount a(world.client(0), "/n", 4);
    ASSERT_TRUE(world.get(a.start())) << nth;
    world.run_for(milliseconds(1000));
    EXPECT_EQ(a.current().value, 4);
  }
}

}  // namespace
}  // namespace drover::recipes::testing

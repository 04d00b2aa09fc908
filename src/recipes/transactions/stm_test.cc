// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/stm.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

int number(const std::optional<std::string>& text) { return text ? std::stoi(*text) : 0; }

// Moves one from /a to /b.
Task<Result<void>> move_one(Stm::Transaction& t) {
  auto reading = t.get("/a");
  const auto a = co_await std::move(reading);
  if (!a) co_return std::unexpected(a.error());
  auto also = t.get("/b");
  const auto b = co_await std::move(also);
  if (!b) co_return std::unexpected(b.error());
  t.set("/a", std::to_string(number(*a) - 1));
  t.set("/b", std::to_string(number(*b) + 1));
  co_return Result<void>{};
}
Task<Result<void>> create_if_missing(Stm::Transaction& t) {
  auto reading = t.get("/new");
  const auto node = co_await std::move(reading);
  if (!node) co_return std::unexpected(node.error());
  t.set("/new", std::to_string(number(*node) + 1));
  co_return Result<void>{};
}
Task<Result<void>> read_missing(Stm::Transaction& t) {
  auto reading = t.get("/missing");
  const auto node = co_await std::move(reading);
  if (!node) co_return std::unexpected(node.error());
  co_return Result<void>{};
}
Task<Result<void>> refuse(Stm::Transaction& t) {
  t.set("/a", "never");
  co_return fail(Errc::kFenced);
}
Task<Result<void>> make_and_unmake(Stm::Transaction& t) {
  for (const char* path : {"/p", "/p/c"}) {
    auto reading = t.get(path);
    const auto node = co_await std::move(reading);
    if (!node) co_return std::unexpected(node.error());
    if (*node) {
      t.remove(path);
    } else {
      t.set(path, "x");
    }
  }
  co_return Result<void>{};
}

int stored(RecipeWorld& world, const std::string& path) { return number(world.data(path)); }

TEST(Stm, CommitsOnlyIfTheReadsAreStillValid) {
  RecipeWorld world({.clients = 1});
  OtherClient other(world, 0);
  other.put("/a", "10");
  other.put("/b", "0");
  const Stm stm(world.client(0));
  ASSERT_TRUE(world.get(stm.run(move_one)));
  EXPECT_EQ(stored(world, "/a"), 9);
  EXPECT_EQ(stored(world, "/b"), 1);
  EXPECT_EQ(world.get(stm.run(refuse)).error(), Errc::kFenced);
  EXPECT_EQ(stored(world, "/a"), 9);
}

TEST(Stm, NodeReadAsMissingMustBeCreated) {
  RecipeWorld world({.clients = 1});
  const Stm stm(world.client(0));
  ASSERT_TRUE(world.get(stm.run(create_if_missing)));
  ASSERT_TRUE(world.get(stm.run(create_if_missing)));
  EXPECT_EQ(stored(world, "/new"), 2);
  EXPECT_EQ(world.get(stm.run(read_missing)).error(), Errc::kBadArguments);
}

Task<Result<void>> set_unread(Stm::Transaction& t) {
  t.set("/missing", "x");
  co_return Result<void>{};
}
Task<Result<void>> remove_unread(Stm::Transaction& t) {
  t.set("/there", "x");
  t.remove("/missing");
  co_return Result<void>{};
}
Task<Result<void>> create_below_nothing(Stm::Transaction& t) {
  auto reading = t.get("/missing/child");
  const auto node = co_await std::move(reading);
  if (!node) co_return std::unexpected(node.error());
  t.set("/missing/child", "x");
  co_return Result<void>{};
}

TEST(Stm, ChangeOfAMissingNodeIsAnErrorNotAConflict) {
  RecipeWorld world({.clients = 1});
  OtherClient(world, 0).put("/there");
  const Stm stm(world.client(0));
  for (const auto body : {set_unread, remove_unread, create_below_nothing}) {
    EXPECT_EQ(world.get(stm.run(body), milliseconds(5000)).error(), Errc::kNoNode);
  }
}

TEST(Stm, ParentsAreCreatedBeforeAndRemovedAfterTheirChildren) {
  RecipeWorld world({.clients = 1});
  const Stm stm(world.client(0));
  ASSERT_TRUE(world.get(stm.run(make_and_unmake)));
  EXPECT_TRUE(world.exists("/p/c"));
  ASSERT_TRUE(world.get(stm.run(make_and_unmake)));
  EXPECT_FALSE(world.exists("/p"));
}

TEST(Stm, ConcurrentTransactionsAreSerializable) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    RecipeWorld world({.seed = seed, .servers = 3, .clients = 4});
    OtherClient(world, 0).put("/a", "100");
    OtherClient(world, 0).put("/b", "0");
    for (std::size_t i = 0; i < 4; ++i) ASSERT_TRUE(world.get(world.client(i).sync("/")));
    std::vector<std::shared_ptr<std::optional<Result<void>>>> running;
    for (int round = 0; round < 5; ++round) {
      for (std::size_t i = 0; i < 4; ++i) running.push_back(world.start(Stm(world.client(i)).run(move_one)));
    }
    ASSERT_TRUE(world.run_until([&] {
      for (const auto& each : running) {
        if (!each->has_value()) return false;
      }
      return true;
    }));
    EXPECT_EQ(stored(world, "/a"), 80);
    EXPECT_EQ(stored(world, "/b"), 20);
  }
}

TEST(Stm, IsAppliedAtMostOnceThroughEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    OtherClient(world, 1).put("/a", "100");
    OtherClient(world, 1).put("/b", "0");
    ASSERT_TRUE(world.get(world.client(0).sync("/")));
    int sure = 0;
    int unknown = 0;
    for (int i = 0; i < 6; ++i) {
      if (i == 2) fault.strike(world);
      const auto running = world.start(Stm(world.client(0)).run(move_one));
      world.run_for(milliseconds(300));
      fault.heal(world);
      ASSERT_TRUE(world.run_until([&] { return running->has_value(); }));
      if ((*running)->has_value()) ++sure;
      if (!(*running)->has_value() && (*running)->error().maybe_applied()) ++unknown;
    }
    EXPECT_GE(stored(world, "/b"), sure);
    EXPECT_LE(stored(world, "/b"), sure + unknown);
    EXPECT_EQ(stored(world, "/a") + stored(world, "/b"), 100);
    EXPECT_LE(unknown, 1);
  });
}

TEST(Stm, LostRequestIsRetriedAndLostReplyIsReported) {
  RecipeWorld world({.clients = 1});
  OtherClient(world, 0).put("/a", "10");
  OtherClient(world, 0).put("/b", "0");
  world.lose_request(0, "multi");
  ASSERT_TRUE(world.get(Stm(world.client(0)).run(move_one)));
  EXPECT_EQ(stored(world, "/b"), 1);
  world.lose_reply(0, "multi");
  const auto lost = world.get(Stm(world.client(0)).run(move_one));
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().maybe_applied());
  EXPECT_EQ(stored(world, "/b"), 2);
}

TEST(Stm, DeadlineEndsTheRetries) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 0).put("/a", "10");
  OtherClient(world, 0).put("/b", "0");
  world.cut(0);
  EXPECT_EQ(world.get(Stm(world.client(0)).run(move_one, Wait::within(milliseconds(500)))).error(),
            Errc::kDeadline);
}

}  // namespace
}  // namespace drover::recipes::testing

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_latch.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/random.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/services/indexer/leader";

class LeaderLatches {
 public:
  explicit LeaderLatches(RecipeWorld& world, std::size_t count, LeaderLatchOptions options = {})
      : world_(world) {
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(
          std::make_unique<LeaderLatch>(world.client(i), kPath, "host-" + std::to_string(i), options));
      world.run_for(milliseconds(200));
    }
  }
  std::vector<std::size_t> leaders() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] && all[i]->is_leader()) found.push_back(i);
    }
    return found;
  }
  bool one_leads(milliseconds limit = milliseconds(20'000)) {
    return world_.run_until([&] { return leaders().size() == 1; }, limit);
  }

  std::vector<std::unique_ptr<LeaderLatch>> all;

 private:
  RecipeWorld& world_;
};

TEST(LeaderLatch, FirstLeadsThenTheNextInLine) {
  RecipeWorld world({.clients = 3});
  LeaderLatches latches(world, 3);
  Zxid last{};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(latches.leaders(), std::vector<std::size_t>{i});
    const auto term = world.get(latches.all[i]->await());
    ASSERT_TRUE(term);
    EXPECT_GT(term->fence, last);
    last = term->fence;
    const auto before = world.watch_events();
    latches.all[i].reset();
    world.run_for(milliseconds(300));
    EXPECT_TRUE(term->lost.stop_requested());
    EXPECT_EQ(world.watch_events() - before, i < 2 ? 1u : 0u) << "one other is woken";
  }
  EXPECT_TRUE(world.children(kPath).empty());
  EXPECT_EQ(world.watches(), 0u);
}

TEST(LeaderLatch, HasCuratorsNodes) {
  RecipeWorld world({.clients = 2});
  LeaderLatches latches(world, 2);
  const auto everybody = world.get(latches.all[1]->participants());
  ASSERT_TRUE(everybody);
  ASSERT_EQ(everybody->size(), 2u);
  EXPECT_EQ(everybody->at(0).id, "host-0");
  EXPECT_TRUE(everybody->at(0).is_leader);
  EXPECT_TRUE(everybody->at(0).node.ends_with("-latch-0000000000"));
  EXPECT_FALSE(everybody->at(1).is_leader);
  EXPECT_EQ(world.get(latches.all[1]->leader()).value()->id, "host-0");
}

TEST(LeaderLatch, WithoutCandidatesThereIsNoLeader) {
  RecipeWorld world({.clients = 1});
  LeaderLatch latch(world.client(0), kPath, "me");
  ASSERT_TRUE(world.get(latch.await()));
  ASSERT_TRUE(world.get(latch.resign()));
  const auto leader = world.get(latch.leader());
  ASSERT_TRUE(leader);
  EXPECT_FALSE(*leader);
  EXPECT_FALSE(latch.is_leader());
  EXPECT_TRUE(world.children(kPath).empty());
  EXPECT_EQ(world.get(latch.await()).error(), Errc::kClosed);
}

TEST(LeaderLatch, LostConnectionEndsTheTermAndKeepsThePlace) {
  RecipeWorld world({.clients = 2});
  LeaderLatches latches(world, 2);
  const auto first = world.get(latches.all[0]->await());
  world.disconnect(0);
  world.settle();
  EXPECT_FALSE(latches.all[0]->is_leader());
  EXPECT_TRUE(first->lost.stop_requested());
  ASSERT_TRUE(latches.one_leads(milliseconds(3000)));
  EXPECT_EQ(latches.leaders(), std::vector<std::size_t>{0});
  const auto again = world.get(latches.all[0]->await());
  EXPECT_EQ(again->fence, first->fence);
  EXPECT_EQ(again->node, first->node);
  EXPECT_FALSE(again->lost.stop_requested());
}

TEST(LeaderLatch, WithOnExpiryALostConnectionKeepsTheTerm) {
  RecipeWorld world({.clients = 2});
  LeaderLatches latches(world, 2, {.loss = LossPolicy::kOnExpiry});
  const auto term = world.get(latches.all[0]->await());
  world.disconnect(0);
  world.run_for(milliseconds(3000));
  EXPECT_FALSE(term->lost.stop_requested());
  EXPECT_TRUE(latches.all[0]->is_leader());
  world.cut(0);
  ASSERT_TRUE(world.run_until([&] { return latches.all[1]->is_leader(); }, milliseconds(10'000)));
  EXPECT_TRUE(term->lost.stop_requested());
  EXPECT_FALSE(latches.all[0]->is_leader());
  world.heal(0);
}

TEST(LeaderLatch, LostSessionMeansANewPlaceAtTheEnd) {
  RecipeWorld world({.clients = 2});
  LeaderLatches latches(world, 2);
  world.kill_session(0);
  ASSERT_TRUE(world.run_until([&] { return latches.all[1]->is_leader(); }, milliseconds(3000)));
  ASSERT_TRUE(world.run_until([&] { return world.children(kPath).size() == 2; }, milliseconds(5000)));
  EXPECT_EQ(latches.leaders(), std::vector<std::size_t>{1});
  latches.all[1].reset();
  EXPECT_TRUE(world.run_until([&] { return latches.all[0]->is_leader(); }, milliseconds(3000)));
}

TEST(LeaderLatch, DeletedNodeEndsTheTermAndIsReplaced) {
  RecipeWorld world({.clients = 1});
  LeaderLatches latches(world, 1);
  const auto term = world.get(latches.all[0]->await());
  ASSERT_TRUE(world.get(world.client(0).remove(term->node)));
  ASSERT_TRUE(world.run_until([&] { return term->lost.stop_requested(); }, milliseconds(1000)));
  ASSERT_TRUE(latches.one_leads());
  EXPECT_GT(world.get(latches.all[0]->await())->fence, term->fence);
}

TEST(LeaderLatch, SurvivesTheDeletionOfItsDirectory) {
  RecipeWorld world({.clients = 2});
  LeaderLatches latches(world, 2);
  for (const std::string& name : world.children(kPath))
    ASSERT_TRUE(world.get(world.client(0).remove(kPath + "/" + name)));
  (void)world.get(world.client(0).remove(kPath));
  ASSERT_TRUE(latches.one_leads());
  world.run_for(milliseconds(1000));
  EXPECT_EQ(latches.leaders().size(), 1u);
  EXPECT_EQ(world.children(kPath).size(), 2u);
}

TEST(LeaderLatch, ReportedChangesAlternate) {
  RecipeWorld world({.clients = 1});
  LeaderLatches latches(world, 1);
  Stream<bool> changes = latches.all[0]->changes();
  EXPECT_EQ(world.get(changes.next()), true);
  for (int i = 0; i < 3; ++i) {
    world.disconnect(0);
    EXPECT_EQ(world.get(changes.next()), false);
    EXPECT_EQ(world.get(changes.next()), true);
  }
  latches.all[0].reset();
  EXPECT_EQ(world.get(changes.next()), false);
  EXPECT_EQ(world.get(changes.next()).error(), Errc::kEndOfStream);
}

TEST(LeaderLatch, NodeOfAnotherLibraryIsReportedAndDoesNotEndTheElection) {
  RecipeWorld world({.clients = 1});
  const auto stray = world.get(world.client(0).create(
      kPath + "/somebodys-lock-", "", {.mode = CreateMode::kEphemeralSequential, .parents = true}));
  ASSERT_TRUE(stray);
  LeaderLatch latch(world.client(0), kPath, "me");
  EXPECT_EQ(world.get(latch.await()).error(), Errc::kLayoutMismatch);
  world.run_for(milliseconds(30'000));
  EXPECT_FALSE(latch.is_leader());
  EXPECT_EQ(world.get(latch.await()).error(), Errc::kLayoutMismatch);
  ASSERT_TRUE(world.get(world.client(0).remove(stray->path)));
  EXPECT_TRUE(world.run_until([&] { return latch.is_leader(); }, milliseconds(5000)));
  EXPECT_TRUE(world.get(latch.await()));
}

TEST(LeaderLatch, TemporarilyMissingPermissionDoesNotEndTheElection) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(world.client(0).create(kPath, "", {.parents = true})));
  ASSERT_TRUE(
      world.get(world.client(0).set_acl(kPath, {{.permissions = Permission::kRead | Permission::kAdmin}})));
  LeaderLatch latch(world.client(1), kPath, "me");
  EXPECT_EQ(world.get(latch.await()).error(), Errc::kNoAuth);
  world.run_for(milliseconds(10'000));
  ASSERT_TRUE(world.get(world.client(0).set_acl(kPath, open_acl())));
  EXPECT_TRUE(world.run_until([&] { return latch.is_leader(); }, milliseconds(5000)));
}

TEST(LeaderLatch, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    LeaderLatches latches(world, 2);
    for (int i = 0; i < 40; ++i) {
      world.run_for(milliseconds(100));
      // The client cannot know at once that its session was killed.
      EXPECT_TRUE(fault.kills || latches.leaders().size() <= 1);
    }
    world.run_for(milliseconds(15'000));
    ASSERT_EQ(latches.leaders().size(), 1u);
    EXPECT_EQ(world.children(kPath).size(), 2u) << "no orphan, and no candidate is missing";
    const std::size_t leader = latches.leaders().front();
    latches.all[leader].reset();
    ASSERT_TRUE(latches.one_leads());
    latches.all.clear();
    world.run_for(milliseconds(15'000));
    EXPECT_TRUE(world.children(kPath).empty());
  });
}

TEST(LeaderLatch, DestroyedAtAnyMessageItLeavesNothing) {
  for (int nth = 1; nth < 20; ++nth) {
    SCOPED_TRACE(nth);
    RecipeWorld world({.clients = 1});
    std::unique_ptr<LeaderLatch> latch;
    world.at_request(0, "", nth, [&] { latch.reset(); });
    latch = std::make_unique<LeaderLatch>(world.client(0), kPath, "me");
    world.run_for(milliseconds(3000));
    const bool over = world.has_traps(0);
    latch.reset();
    world.run_for(milliseconds(1000));
    EXPECT_TRUE(world.children(kPath).empty());
    if (over) return;
  }
}

// Cuts, restarts and broken connections in random order, with a check every millisecond.
TEST(LeaderLatch, NeverTwoLeaders) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    RecipeWorld world({.seed = seed, .servers = 3, .clients = 3});
    LeaderLatches latches(world, 3, {.loss = seed % 2 == 0 ? LossPolicy::kOnExpiry : LossPolicy::kOnSuspend});
    Random random(seed);
    for (int round = 0; round < 25; ++round) {
      inject_random_fault(world, random, 3);
      for (int i = 0; i < 1500; ++i) {
        world.run_for(milliseconds(1));
        ASSERT_LE(latches.leaders().size(), 1u);
      }
    }
    for (std::size_t i = 0; i < 3; ++i) world.heal(i);
    EXPECT_TRUE(latches.one_leads());
  }
}

}  // namespace
}  // namespace drover::recipes

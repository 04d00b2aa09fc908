// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_info_election.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/random.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/indexer/leader-info";

using Elections = std::vector<std::unique_ptr<LeaderInfoElection>>;

Elections stand(RecipeWorld& world, std::size_t count) {
  Elections all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(std::make_unique<LeaderInfoElection>(world.client(i), kPath, "host-" + std::to_string(i)));
    world.run_for(milliseconds(200));
  }
  return all;
}

std::size_t leaders(const Elections& all) {
  std::size_t count = 0;
  for (const auto& each : all) count += each && each->is_leader() ? 1 : 0;
  return count;
}

TEST(LeaderInfoElection, OneLeadsAndAllCanReadWho) {
  RecipeWorld world({.clients = 3});
  Elections all = stand(world, 3);
  EXPECT_EQ(leaders(all), 1u);
  EXPECT_TRUE(all[0]->is_leader());
  EXPECT_EQ(world.data(kPath), "host-0");
  const auto term = world.get(all[0]->await());
  EXPECT_EQ(term->fence, world.stat(kPath)->czxid);
  ASSERT_TRUE(world.get(all[0]->resign()));
  EXPECT_TRUE(term->lost.stop_requested());
  ASSERT_TRUE(world.run_until([&] { return leaders(all) == 1; }, milliseconds(2000)));
  EXPECT_NE(world.data(kPath), "host-0");
  EXPECT_EQ(world.get(world.client(0).multi({term->check})).error(), Errc::kBadVersion)
      << "an old leader's write fails under a new one";
}

TEST(LeaderInfoElection, ClaimWithALostReplyLeads) {
  RecipeWorld world({.clients = 1});
  world.lose_reply(0, "multi");
  Elections all = stand(world, 1);
  ASSERT_TRUE(world.run_until([&] { return leaders(all) == 1; }, milliseconds(5000)));
  EXPECT_EQ(world.get(all[0]->await())->fence, world.stat(kPath)->czxid);
}

TEST(LeaderInfoElection, ResignationDoesNotRemoveASuccessor) {
  RecipeWorld world({.clients = 2});
  Elections all = stand(world, 2);
  world.lose_reply(0, "delete");
  const auto resigned = world.start(all[0]->resign());
  ASSERT_TRUE(world.run_until([&] { return all[1]->is_leader(); }, milliseconds(3000)));
  ASSERT_TRUE(world.run_until([&] { return succeeded(resigned); }));
  world.run_for(milliseconds(2000));
  EXPECT_EQ(world.data(kPath), "host-1");
  EXPECT_TRUE(all[1]->is_leader());
}

TEST(LeaderInfoElection, RecreatedNodeBelongsToAnother) {
  RecipeWorld world({.clients = 2});
  Elections all = stand(world, 2);
  const auto term = world.get(all[0]->await());
  world.cut(0);
  ASSERT_TRUE(world.get(world.client(1).remove(kPath)));
  ASSERT_TRUE(world.run_until([&] { return all[1]->is_leader(); }, milliseconds(1000)));
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return term->lost.stop_requested(); }, milliseconds(5000)));
  world.run_for(milliseconds(2000));
  EXPECT_FALSE(all[0]->is_leader());
  EXPECT_TRUE(all[1]->is_leader());
}

TEST(LeaderInfoElection, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    Elections all = stand(world, 2);
    for (int i = 0; i < 40; ++i) {
      world.run_for(milliseconds(100));
      EXPECT_TRUE(fault.kills || leaders(all) <= 1);
    }
    world.run_for(milliseconds(15'000));
    ASSERT_EQ(leaders(all), 1u);
    (all[0]->is_leader() ? all[0] : all[1]).reset();
    ASSERT_TRUE(world.run_until([&] { return leaders(all) == 1; }, milliseconds(20'000)));
    all.clear();
    world.run_for(milliseconds(15'000));
    EXPECT_FALSE(world.exists(kPath));
  });
}

TEST(LeaderInfoElection, DestroyedAtAnyMessageItLeavesNothing) {
  for (int nth = 1; nth < 20; ++nth) {
    SCOPED_TRACE(nth);
    RecipeWorld world({.clients = 1});
    std::unique_ptr<LeaderInfoElection> election;
    world.at_request(0, "", nth, [&] { election.reset(); });
    election = std::make_unique<LeaderInfoElection>(world.client(0), kPath, "me");
    world.run_for(milliseconds(3000));
    election.reset();
    world.run_for(milliseconds(1000));
    EXPECT_FALSE(world.exists(kPath));
  }
}

TEST(LeaderInfoElection, NeverTwoLeaders) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    RecipeWorld world({.seed = seed, .servers = 3, .clients = 3});
    Elections all = stand(world, 3);
    Random random(seed);
    for (int round = 0; round < 20; ++round) {
      inject_random_fault(world, random, 3);
      for (int i = 0; i < 1500; ++i) {
        world.run_for(milliseconds(1));
        ASSERT_LE(leaders(all), 1u);
      }
    }
    for (std::size_t i = 0; i < 3; ++i) world.heal(i);
    EXPECT_TRUE(world.run_until([&] { return leaders(all) == 1; }, milliseconds(20'000)));
  }
}

}  // namespace
}  // namespace drover::recipes

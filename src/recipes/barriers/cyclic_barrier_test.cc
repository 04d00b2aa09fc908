// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/cyclic_barrier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;
using Arrival = std::shared_ptr<std::optional<Result<int>>>;

const std::string kPath = "/steps";

bool is_done(const Arrival& arrival) { return arrival->has_value() && (*arrival)->has_value(); }
bool is_broken(const Arrival& arrival) {
  return arrival->has_value() && !(*arrival)->has_value() && (*arrival)->error() == Errc::kBrokenBarrier;
}

struct Parties {
  Parties(RecipeWorld& w, CyclicBarrierOptions o) : world(w), options(o) {}
  Arrival arrive(std::size_t i, Wait wait = {}) {
    return world.start(CyclicBarrier(world.client(i), kPath, options).arrive_and_wait(std::move(wait)));
  }
  RecipeWorld& world;
  CyclicBarrierOptions options;
};

// All children except `current`.
std::size_t leftovers(RecipeWorld& world) {
  world.run_for(Time(2000));
  return world.descendants(kPath) - 1;
}

TEST(CyclicBarrier, OpensWithTheLastPartyAndReturnsTheOrderOfArrival) {
  RecipeWorld world({.servers = 3, .clients = 4});
  Parties parties(world, {.parties = 4});
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < 3; ++i) {
    arrivals.push_back(parties.arrive(i));
    world.run_for(Time(1000));
  }
  EXPECT_EQ(std::ranges::count_if(arrivals, is_done), 0);
  arrivals.push_back(parties.arrive(3));
  ASSERT_TRUE(world.run_until([&] { return std::ranges::all_of(arrivals, is_done); }));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(***arrivals[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(leftovers(world), 0u);
  EXPECT_EQ(world.watches(), 0u);
  EXPECT_LE(world.watch_events(), 4u);
}

TEST(CyclicBarrier, WorksRoundAfterRound) {
  RecipeWorld world({.clients = 3});
  Parties parties(world, {.parties = 3});
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < 3; ++i) arrivals.push_back(parties.arrive(i));
    ASSERT_TRUE(world.run_until([&] { return std::ranges::all_of(arrivals, is_done); })) << round;
    std::set<int> places;
    for (const Arrival& each : arrivals) places.insert(***each);
    ASSERT_EQ(places, (std::set<int>{0, 1, 2}));
  }
  EXPECT_EQ(world.data(kPath + "/current"), std::to_string(kRounds));
  EXPECT_EQ(leftovers(world), 0u);
}

TEST(CyclicBarrier, OnePartyTooManyWaitsForTheNextRound) {
  RecipeWorld world({.clients = 2});
  Parties parties(world, {.parties = 3});
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < 7; ++i) arrivals.push_back(parties.arrive(i % 2));
  world.run_for(Time(5000));
  EXPECT_EQ(std::ranges::count_if(arrivals, is_done), 6);
  for (std::size_t i = 0; i < 2; ++i) arrivals.push_back(parties.arrive(i));
  EXPECT_TRUE(world.run_until([&] { return std::ranges::all_of(arrivals, is_done); }));
}

TEST(CyclicBarrier, WaitsForAReplacementOfAPartyThatLeft) {
  RecipeWorld world({.clients = 3});
  Parties parties(world, {.parties = 2});
  const Arrival killed = parties.arrive(0);
  world.run_for(Time(500));
  world.kill_session(0);
  ASSERT_TRUE(world.run_until([&] { return killed->has_value(); }));
  EXPECT_EQ((*killed)->error(), Errc::kSessionExpired);
  const Arrival late = parties.arrive(1, Wait::within(Time(1000)));
  ASSERT_TRUE(world.run_until([&] { return late->has_value(); }));
  EXPECT_EQ((*late)->error(), Errc::kDeadline);
  world.run_for(Time(500));
  const Arrival first = parties.arrive(2);
  world.run_for(Time(3000));
  EXPECT_FALSE(first->has_value());
  const Arrival second = parties.arrive(1);
  EXPECT_TRUE(world.run_until([&] { return is_done(first) && is_done(second); }));
}

TEST(CyclicBarrier, WithBreakALostPartyBreaksTheRoundForAll) {
  for (const std::size_t gone : {0u, 1u, 2u}) {
    RecipeWorld world({.clients = 4});
    Parties parties(world, {.parties = 4, .on_loss = PartyLoss::kBreak});
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < 3; ++i) {
      arrivals.push_back(parties.arrive(i));
      world.run_for(Time(200));
    }
    world.kill_session(gone);
    world.run_for(Time(3000));
    EXPECT_EQ(std::ranges::count_if(arrivals, is_broken), 2) << gone;
    std::vector<Arrival> again;
    for (std::size_t i = 0; i < 4; ++i) again.push_back(parties.arrive(i));
    EXPECT_TRUE(world.run_until([&] { return std::ranges::all_of(again, is_done); }));
    EXPECT_EQ(leftovers(world), 0u);
  }
}

TEST(CyclicBarrier, PartyThatPassedDoesNotBreakTheRound) {
  RecipeWorld world({.clients = 3});
  Parties parties(world, {.parties = 3, .on_loss = PartyLoss::kBreak});
  for (int round = 0; round < 20; ++round) {
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < 3; ++i) arrivals.push_back(parties.arrive(i));
    ASSERT_TRUE(world.run_until([&] { return std::ranges::all_of(arrivals, is_done); })) << round;
  }
}

// If one party has passed a round, all have, or they know that the outcome is unknown.
TEST(CyclicBarrier, SurvivesEveryFault) {
  testing::for_every_step(testing::kAllFaults, {.clients = 3}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    Parties parties(world, {.parties = 2});
    const auto mine =
        trial.start(CyclicBarrier(world.client(0), kPath, parties.options).arrive_and_wait(trial.wait()));
    world.run_for(Time(300));
    const Arrival other = parties.arrive(1);
    ASSERT_TRUE(world.run_until([&] { return mine->has_value(); }));
    if ((*mine)->has_value()) {
      EXPECT_TRUE(world.run_until([&] { return is_done(other); }));
      EXPECT_TRUE(is_done(other) && ***mine != ***other);
    } else {
      EXPECT_TRUE(trial.is_given_up() || trial.has_lost_session());
    }
    trial.calm_down();
    if (!is_done(other)) {
      const Arrival third = parties.arrive(2);
      ASSERT_TRUE(world.run_until([&] { return is_done(other) && is_done(third); }));
    }
    // One more round, which also removes the leftovers of the faulty one.
    const Arrival a = parties.arrive(1);
    const Arrival b = parties.arrive(2);
    ASSERT_TRUE(world.run_until([&] { return is_done(a) && is_done(b); }));
    EXPECT_EQ(leftovers(world), 0u);
    EXPECT_EQ(world.watches(), 0u);
  });
}

TEST(CyclicBarrier, MissingPermissionIsReported) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(world.client(0).create("/shut", "{\"parties\":1}")));
  ASSERT_TRUE(world.get(world.client(0).create("/shut/current", "0", {.acl = read_acl()})));
  const CyclicBarrier barrier(world.client(0), "/shut", {.parties = 1});
  EXPECT_EQ(world.get(barrier.arrive_and_wait(), Time(10'000)).error(), Errc::kNoAuth);
}

}  // namespace
}  // namespace drover::recipes

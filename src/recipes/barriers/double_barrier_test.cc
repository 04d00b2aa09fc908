// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/double_barrier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;
using Outcome = std::shared_ptr<std::optional<Result<void>>>;

const std::string kPath = "/job/phase";

bool is_done(const Outcome& outcome) { return outcome->has_value() && (*outcome)->has_value(); }

// Each party has its own client.
struct Parties {
  Parties(RecipeWorld& w, int count, DoubleBarrierOptions options) : world(w) {
    for (int i = 0; i < count; ++i) {
      barriers.emplace_back(world.client(static_cast<std::size_t>(i)), kPath, options);
    }
  }
  void enter(std::size_t i) { outcomes.push_back(world.start(barriers[i].enter())); }
  void enter_all() {
    for (std::size_t i = 0; i < barriers.size(); ++i) enter(i);
  }
  void leave_all() {
    outcomes.clear();
    for (DoubleBarrier& each : barriers) outcomes.push_back(world.start(each.leave()));
  }
  bool all_done(Time limit = Time(20'000)) {
    return world.run_until([&] { return std::ranges::all_of(outcomes, is_done); }, limit);
  }
  int done() const { return static_cast<int>(std::ranges::count_if(outcomes, is_done)); }

  RecipeWorld& world;
  std::vector<DoubleBarrier> barriers;
  std::vector<Outcome> outcomes;
};

// Number of nodes that a round leaves behind.
std::size_t leftovers(RecipeWorld& world, DoubleBarrierLayout layout) {
  world.run_for(Time(2000));
  const std::size_t all = world.descendants(kPath);
  return layout == DoubleBarrierLayout::kRounds ? all - 1 : all;  // `current` stays
}

class DoubleBarriers : public ::testing::TestWithParam<DoubleBarrierLayout> {};

TEST_P(DoubleBarriers, AllPartiesEnterTogetherAndLeaveTogether) {
  RecipeWorld world({.servers = 3, .clients = 4});
  Parties parties(world, 4, {4, GetParam()});
  for (std::size_t i = 0; i < 3; ++i) parties.enter(i);
  world.run_for(Time(10'000));
  EXPECT_EQ(parties.done(), 0);
  parties.enter(3);
  ASSERT_TRUE(parties.all_done());

  parties.outcomes.clear();
  for (std::size_t i = 0; i < 3; ++i) parties.outcomes.push_back(world.start(parties.barriers[i].leave()));
  world.run_for(Time(10'000));
  EXPECT_EQ(parties.done(), 0);
  parties.outcomes.push_back(world.start(parties.barriers[3].leave()));
  ASSERT_TRUE(parties.all_done());
  EXPECT_EQ(leftovers(world, GetParam()), 0u);
  EXPECT_EQ(world.watches(), 0u);
  EXPECT_LE(world.watch_events(), 3u + 2u * 4u);
}

TEST_P(DoubleBarriers, SlowPartyEntersAfterFastPartiesHaveLeft) {
  // Curator's counts again, finds too few, and waits forever.
  RecipeWorld world({.clients = 4});
  Parties parties(world, 4, {4, GetParam()});
  parties.enter(0);
  world.run_for(Time(500));
  world.cut(0);
  for (std::size_t i = 1; i < 4; ++i) parties.enter(i);
  ASSERT_TRUE(world.run_until([&] { return parties.done() == 3; }));
  std::vector<Outcome> left;
  for (std::size_t i = 1; i < 4; ++i) left.push_back(world.start(parties.barriers[i].leave()));
  world.run_for(Time(1000));
  world.heal(0);
  ASSERT_TRUE(parties.all_done());
  EXPECT_EQ(std::ranges::count_if(left, is_done), 0);
  EXPECT_TRUE(world.get(parties.barriers[0].leave()));
  EXPECT_TRUE(world.run_until([&] { return std::ranges::all_of(left, is_done); }));
  EXPECT_EQ(leftovers(world, GetParam()), 0u);
}

TEST_P(DoubleBarriers, PartyThatGaveUpIsNotCounted) {
  RecipeWorld world({.clients = 3});
  Parties parties(world, 3, {2, GetParam()});
  const auto given_up = world.get(parties.barriers[0].enter(Wait::within(Time(1000))));
  EXPECT_EQ(given_up.error(), Errc::kDeadline);
  world.run_for(Time(100));  // Its node is removed in the background.
  parties.enter(1);
  world.run_for(Time(10'000));
  EXPECT_EQ(parties.done(), 0);
  parties.enter(2);
  EXPECT_TRUE(parties.all_done());
}

TEST_P(DoubleBarriers, PartyWhoseSessionEndedHasLeft) {
  RecipeWorld world({.clients = 3});
  Parties parties(world, 3, {3, GetParam()});
  parties.enter_all();
  ASSERT_TRUE(parties.all_done());
  parties.outcomes.clear();
  parties.outcomes.push_back(world.start(parties.barriers[1].leave()));
  parties.outcomes.push_back(world.start(parties.barriers[2].leave()));
  world.run_for(Time(1000));
  EXPECT_EQ(parties.done(), 0);
  world.kill_session(0);
  EXPECT_TRUE(parties.all_done());
  EXPECT_EQ(world.get(parties.barriers[0].leave()).error(), Errc::kSessionExpired);
  EXPECT_EQ(world.get(parties.barriers[0].leave()).error(), Errc::kNotOwner);
  EXPECT_EQ(leftovers(world, GetParam()), 0u);
}

TEST_P(DoubleBarriers, DestroyedPartyLeavesTheBarrier) {
  RecipeWorld world({.clients = 2});
  Parties parties(world, 2, {2, GetParam()});
  parties.enter_all();
  ASSERT_TRUE(parties.all_done());
  world.run_on(0, [&] { parties.barriers.erase(parties.barriers.begin()); });
  EXPECT_TRUE(world.get(parties.barriers[0].leave()));
  EXPECT_EQ(leftovers(world, GetParam()), 0u);
}

TEST_P(DoubleBarriers, CanBeReused) {
  RecipeWorld world({.clients = 3});
  Parties parties(world, 3, {3, GetParam()});
  for (int round = 0; round < 50; ++round) {
    parties.outcomes.clear();
    parties.enter_all();
    ASSERT_TRUE(parties.all_done()) << round;
    parties.leave_all();
    ASSERT_TRUE(parties.all_done()) << round;
  }
  EXPECT_EQ(leftovers(world, GetParam()), 0u);
}

// A fault hits client 0. Parties that come later must find a working barrier.
TEST_P(DoubleBarriers, SurviveEveryFaultAtEveryStep) {
  testing::for_every_step(testing::kAllFaults, {.clients = 3}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    const DoubleBarrierOptions options{2, GetParam()};
    auto mine = std::make_unique<DoubleBarrier>(world.client(0), kPath, options);
    DoubleBarrier other(world.client(1), kPath, options);
    const auto entered = trial.start(mine->enter(trial.wait()));
    world.run_for(Time(500));
    const Outcome met = world.start(other.enter());
    world.run_until([&] { return entered->has_value(); });
    ASSERT_TRUE(entered->has_value());
    if ((*entered)->has_value()) {
      EXPECT_TRUE(world.run_until([&] { return is_done(met); })) << "both or neither";
      trial.run(mine->leave(trial.wait()));
    } else {
      EXPECT_TRUE(trial.is_given_up() || trial.has_lost_session());
    }
    trial.calm_down();
    world.run_on(0, [&] { mine.reset(); });
    if (!is_done(met)) {
      DoubleBarrier third(world.client(2), kPath, options);
      ASSERT_TRUE(world.get(third.enter()));
      ASSERT_TRUE(world.run_until([&] { return is_done(met); }));
    }
    EXPECT_TRUE(world.get(other.leave()));
    EXPECT_EQ(leftovers(world, GetParam()), 0u);
    EXPECT_EQ(world.watches(), 0u);
  });
}

TEST_P(DoubleBarriers, RestartedPartyIsCountedOnce) {
  RecipeWorld world({.clients = 3});
  const auto party = [&](std::size_t client, const std::string& name) {
    return DoubleBarrier(world.client(client), kPath, {2, GetParam(), name});
  };
  DoubleBarrier before = party(0, "a");
  const Outcome crashed = world.start(before.enter());
  world.run_for(Time(200));
  world.cut(0);  // Its session lives until it times out.
  DoubleBarrier again = party(1, "a");
  const Outcome entered = world.start(again.enter());
  world.run_for(Time(500));
  EXPECT_FALSE(entered->has_value()) << "it passed with itself";
  DoubleBarrier other = party(2, "b");
  EXPECT_TRUE(world.get(other.enter()));
  EXPECT_TRUE(world.run_until([&] { return is_done(entered); }));
}

TEST_P(DoubleBarriers, EnteringAgainRemovesTheEarlierEntry) {
  RecipeWorld world({.clients = 4});
  const auto party = [&](std::size_t client, const std::string& name) {
    return DoubleBarrier(world.client(client), kPath, {2, GetParam(), name});
  };
  DoubleBarrier before = party(0, "a");
  DoubleBarrier other = party(1, "b");
  const Outcome entered = world.start(before.enter());
  ASSERT_TRUE(world.get(other.enter()));
  ASSERT_TRUE(world.run_until([&] { return is_done(entered); }));
  const Outcome left = world.start(other.leave());
  world.cut(0);
  world.run_for(Time(500));
  EXPECT_FALSE(left->has_value()) << "the crashed party still counts";
  DoubleBarrier again = party(2, "a");
  const Outcome next = world.start(again.enter());
  world.run_for(Time(1000));
  EXPECT_TRUE(is_done(left)) << "it must not wait for the dead session";
  EXPECT_FALSE(next->has_value()) << "the next round has only one party";
  DoubleBarrier last = party(3, "b");
  EXPECT_TRUE(world.get(last.enter()));
  EXPECT_TRUE(world.run_until([&] { return is_done(next); }));
}

TEST(DoubleBarrier, RefusesAPartyNameThatIsNotANodeName) {
  RecipeWorld world({.clients = 1});
  for (const char* name : {"ready", "a/b", ".."}) {
    DoubleBarrier barrier(world.client(0), kPath, {1, DoubleBarrierLayout::kShared, name});
    EXPECT_EQ(world.get(barrier.enter()).error(), Errc::kBadArguments) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, DoubleBarriers,
                         ::testing::Values(DoubleBarrierLayout::kShared, DoubleBarrierLayout::kRounds),
                         [](const auto& layout) {
                           return layout.param == DoubleBarrierLayout::kShared ? "Shared" : "Rounds";
                         });

TEST(DoubleBarrier, LeftoversOfADeadRoundDoNotOpenIt) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(world.client(0).create(kPath + "/ready", "", {.parents = true})));
  Parties parties(world, 2, {.parties = 2});
  parties.enter(0);
  world.run_for(Time(3000));
  EXPECT_EQ(parties.done(), 0);
  parties.enter(1);
  EXPECT_TRUE(parties.all_done());
}

TEST(DoubleBarrier, RestartedPartyBelongsToTheNextRound) {
  RecipeWorld world({.clients = 4});
  Parties parties(world, 4, {.parties = 2});
  parties.enter(0);
  parties.enter(1);
  ASSERT_TRUE(parties.all_done());
  // Both processes crash. The first one restarts before the sessions of the dead round expire.
  world.cut(0);
  world.cut(1);
  parties.outcomes.clear();
  parties.enter(2);
  world.run_for(Time(20'000));
  EXPECT_EQ(parties.done(), 0) << "it passed alone";
  parties.enter(3);
  EXPECT_TRUE(parties.all_done());
}

TEST(DoubleBarrier, HasCuratorsNodes) {
  RecipeWorld world({.clients = 1});
  Parties parties(world, 1, {.parties = 1});
  parties.enter(0);
  ASSERT_TRUE(parties.all_done());
  const auto names = world.children(kPath);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].size(), 36u);
  EXPECT_EQ(names[1], "ready");
  EXPECT_FALSE(world.stat(kPath + "/ready")->is_ephemeral());
}

TEST(DoubleBarrier, OnePartyTooManyStartsTheNextRound) {
  RecipeWorld world({.clients = 4});
  Parties parties(world, 4, {2, DoubleBarrierLayout::kRounds});
  for (std::size_t i = 0; i < 3; ++i) parties.enter(i);
  world.run_for(Time(3000));
  EXPECT_EQ(parties.done(), 2);
  parties.enter(3);
  EXPECT_TRUE(parties.all_done());
}

TEST(DoubleBarrier, RefusesADifferentNumberOfParties) {
  RecipeWorld world({.clients = 2});
  const auto first =
      world.start(DoubleBarrier(world.client(0), kPath, {2, DoubleBarrierLayout::kRounds}).enter());
  world.run_for(Time(500));
  DoubleBarrier other(world.client(1), kPath, {3, DoubleBarrierLayout::kRounds});
  EXPECT_EQ(world.get(other.enter()).error(), Errc::kBadData);
}

TEST(DoubleBarrier, RemovesRoundsWhosePartiesHaveDied) {
  RecipeWorld world({.clients = 2});
  const DoubleBarrierOptions options{2, DoubleBarrierLayout::kRounds};
  for (int round = 0; round < 2; ++round) {
    Parties parties(world, 2, options);
    parties.enter_all();
    ASSERT_TRUE(parties.all_done());
    for (std::size_t i = 0; i < 2; ++i) world.kill_session(i);
    world.run_for(Time(10'000));
  }
  EXPECT_GT(leftovers(world, DoubleBarrierLayout::kRounds), 0u);
  Parties parties(world, 2, options);
  parties.enter_all();
  ASSERT_TRUE(parties.all_done());
  parties.leave_all();
  ASSERT_TRUE(parties.all_done());
  EXPECT_EQ(leftovers(world, DoubleBarrierLayout::kRounds), 0u);
}

}  // namespace
}  // namespace drover::recipes

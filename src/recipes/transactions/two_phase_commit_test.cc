// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/two_phase_commit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::StepFault;
using testing::Time;
using testing::Trial;
using Outcome = std::shared_ptr<std::optional<Result<Decision>>>;

const std::string kRoot = "/transfers";
const std::string kId = "t-42";
const std::vector<std::string> kSites{"east", "west"};

Task<Result<bool>> answer(bool yes, int* prepared) {
  if (yes) ++*prepared;
  co_return yes;
}

bool is(const Outcome& outcome, Decision decision) {
  return outcome->has_value() && (*outcome)->has_value() && ***outcome == decision;
}

// A coordinator and two sites, each with its own client.
struct Cast {
  Cast(RecipeWorld& w, CommitForm form) : world(w) {
    for (std::size_t i = 0; i < 3; ++i) {
      roles.emplace_back(world.client(i), kRoot, TwoPhaseCommitOptions{form, Time(3000)});
    }
  }
  Task<Result<Decision>> coordination(std::size_t client, Wait wait = {}) {
    return roles[client].coordinate(kId, "move 10", kSites, std::move(wait));
  }
  Task<Result<Decision>> participation(std::size_t client, std::size_t site, bool yes = true,
                                       Wait wait = {}) {
    return roles[client].participate(
        kId, kSites[site],
        [this, yes](std::string payload) {
          EXPECT_EQ(payload, "move 10");
          return answer(yes, &prepared);
        },
        std::move(wait));
  }
  void acknowledge_all(std::size_t client) {
    for (const std::string& site : kSites) EXPECT_TRUE(world.get(roles[client].acknowledge(kId, site)));
  }
  std::size_t leftovers() {
    world.run_for(Time(500));
    return world.children(kRoot).size();
  }

  RecipeWorld& world;
  std::vector<TwoPhaseCommit> roles;
  int prepared = 0;
};

class TwoPhaseForms : public ::testing::TestWithParam<CommitForm> {};

TEST_P(TwoPhaseForms, CommitIfAllSitesAgree) {
  RecipeWorld world({.servers = 3, .clients = 3});
  Cast cast(world, GetParam());
  const Outcome east = world.start(cast.participation(1, 0));  // before there is anything
  const Outcome begun = world.start(cast.coordination(0));
  world.run_for(Time(1000));
  EXPECT_FALSE(east->has_value());
  const Outcome west = world.start(cast.participation(2, 1));
  ASSERT_TRUE(world.run_until([&] { return begun->has_value() && east->has_value() && west->has_value(); }));
  for (const Outcome& each : {begun, east, west}) EXPECT_TRUE(is(each, Decision::kCommit));
  EXPECT_EQ(cast.prepared, 2);
  EXPECT_EQ(world.get(cast.roles[1].resolve(kId)), Decision::kCommit);
  EXPECT_EQ(cast.leftovers(), 1u);
  cast.acknowledge_all(1);
  EXPECT_EQ(cast.leftovers(), 0u);
  EXPECT_EQ(world.watches(), 0u);
}

TEST_P(TwoPhaseForms, AbortIfOneSiteRefuses) {
  RecipeWorld world({.clients = 3});
  Cast cast(world, GetParam());
  const Outcome begun = world.start(cast.coordination(0));
  const Outcome east = world.start(cast.participation(1, 0));
  const Outcome west = world.start(cast.participation(2, 1, false));
  ASSERT_TRUE(world.run_until([&] { return begun->has_value() && east->has_value() && west->has_value(); },
                              Time(2000)));
  for (const Outcome& each : {begun, east, west}) EXPECT_TRUE(is(each, Decision::kAbort));
  EXPECT_EQ(cast.leftovers(), 0u);
  EXPECT_EQ(world.get(cast.roles[1].resolve(kId)), Decision::kAbort);
  EXPECT_TRUE(world.get(cast.roles[1].acknowledge(kId, "east")));
}

TEST_P(TwoPhaseForms, RefuseAUsedIdAndInvalidSites) {
  RecipeWorld world({.clients = 3});
  Cast cast(world, GetParam());
  const Outcome begun = world.start(cast.coordination(0));
  world.run_for(Time(500));
  EXPECT_EQ(world.get(cast.coordination(1)).error(), Errc::kNodeExists);
  EXPECT_FALSE(begun->has_value());
  const auto stranger = world.get(cast.roles[2].participate(kId, "north", {}));
  EXPECT_EQ(stranger.error(), Errc::kBadArguments);
  EXPECT_EQ(world.get(cast.roles[1].coordinate("u", "", {"a", "a"})).error(), Errc::kBadArguments);
  EXPECT_EQ(world.get(cast.roles[1].coordinate("u", "", {})).error(), Errc::kBadArguments);
}

// All decisions agree, and a commit was prepared by all sites.
void expect_agreement(Cast& cast, const std::vector<Outcome>& outcomes) {
  const auto has = [&](Decision decision) {
    return std::ranges::any_of(outcomes, [&](const Outcome& each) { return is(each, decision); });
  };
  EXPECT_FALSE(has(Decision::kCommit) && has(Decision::kAbort));
  if (has(Decision::kCommit)) {
    EXPECT_EQ(cast.prepared, 2);
  }
}

// The fault hits the coordinator or a site, whichever is client 0.
void agree_through(const std::vector<StepFault>& faults, CommitForm form, bool fault_at_site) {
  testing::for_every_step(faults, {.clients = 3}, [&](Trial& trial) {
    RecipeWorld& world = trial.world;
    Cast cast(world, form);
    std::vector<Outcome> outcomes;
    if (fault_at_site) {
      outcomes.push_back(world.start(cast.coordination(1)));
      outcomes.push_back(trial.start(cast.participation(0, 0, true, trial.wait())));
    } else {
      outcomes.push_back(trial.start(cast.coordination(0, trial.wait())));
      outcomes.push_back(world.start(cast.participation(1, 0, true, Wait::within(Time(60'000)))));
    }
    world.run_for(Time(200));
    outcomes.push_back(world.start(cast.participation(2, 1, true, Wait::within(Time(60'000)))));
    trial.calm_down();
    const auto ended = [](const Outcome& each) { return each->has_value(); };
    ASSERT_TRUE(world.run_until([&] { return std::ranges::all_of(outcomes, ended); }, Time(90'000)));
    expect_agreement(cast, outcomes);
    if (!trial.is_given_up() && !trial.has_lost_session()) {
      for (const Outcome& each : outcomes) EXPECT_TRUE(is(each, Decision::kCommit));
    }
    const auto late = world.get(cast.roles[2].resolve(kId));
    ASSERT_TRUE(late);
    for (const Outcome& each : outcomes) EXPECT_TRUE(!(*each)->has_value() || is(each, *late));
    cast.acknowledge_all(2);
    EXPECT_EQ(cast.leftovers(), 0u);
    EXPECT_EQ(world.watches(), 0u);
  });
}

TEST_P(TwoPhaseForms, AgreeDespiteFaultsOfTheCoordinator) {
  agree_through(testing::kConnectionFaults, GetParam(), false);
  agree_through(testing::kSessionFaults, GetParam(), false);
}

TEST_P(TwoPhaseForms, AgreeDespiteFaultsOfASite) {
  agree_through(testing::kConnectionFaults, GetParam(), true);
  agree_through(testing::kSessionFaults, GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(All, TwoPhaseForms,
                         ::testing::Values(CommitForm::kCombined, CommitForm::kCoordinator,
                                           CommitForm::kPeer));

TEST(TwoPhaseCommit, SitesDecideIfTheCoordinatorDies) {
  agree_through(testing::kCallerFaults, CommitForm::kCombined, false);
}

TEST(TwoPhaseCommit, DecisionDoesNotWaitForADeadSite) {
  agree_through(testing::kCallerFaults, CommitForm::kCombined, true);
}

TEST(TwoPhaseCommit, SitesCommitWithoutTheCoordinatorIfAllHaveVoted) {
  RecipeWorld world({.clients = 3});
  Cast cast(world, CommitForm::kCombined);
  const Outcome begun = world.start(cast.coordination(0));
  const Outcome east = world.start(cast.participation(1, 0));
  world.run_for(Time(500));
  world.cut(0);  // It does not see the second vote.
  const Outcome west = world.start(cast.participation(2, 1));
  ASSERT_TRUE(world.run_until([&] { return east->has_value() && west->has_value(); }, Time(4000)));
  EXPECT_TRUE(is(east, Decision::kCommit) && is(west, Decision::kCommit));
}

TEST(TwoPhaseCommit, SitesAbortWithoutTheCoordinatorIfAVoteIsMissing) {
  RecipeWorld world({.clients = 3});
  Cast cast(world, CommitForm::kCombined);
  const Outcome begun = world.start(cast.coordination(0));
  const Outcome east = world.start(cast.participation(1, 0));
  world.run_for(Time(500));
  world.cut(0);
  ASSERT_TRUE(world.run_until([&] { return east->has_value(); }, Time(4000)));
  EXPECT_TRUE(is(east, Decision::kAbort));
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return begun->has_value(); }));
  EXPECT_FALSE(is(begun, Decision::kCommit));
  EXPECT_EQ(cast.leftovers(), 0u);
}

TEST(TwoPhaseCommit, RecordIsKeptUntilTheCoordinatorKnowsTheOutcome) {
  RecipeWorld world({.clients = 3, .session_timeout = Time(8000)});
  Cast cast(world, CommitForm::kCombined);
  const Outcome begun = world.start(cast.coordination(0));
  const Outcome east = world.start(cast.participation(1, 0));
  world.run_for(Time(500));
  world.cut(0);
  const Outcome west = world.start(cast.participation(2, 1));
  ASSERT_TRUE(world.run_until([&] { return east->has_value() && west->has_value(); }, Time(4000)));
  cast.acknowledge_all(1);
  EXPECT_EQ(cast.leftovers(), 1u);
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return begun->has_value(); }));
  EXPECT_TRUE(is(begun, Decision::kCommit));
  EXPECT_EQ(cast.leftovers(), 0u);
}

TEST(TwoPhaseCommit, RefusedCoordinatorDoesNotRemoveTheRecord) {
  RecipeWorld world({.clients = 3, .session_timeout = Time(8000)});
  Cast cast(world, CommitForm::kCombined);
  const Outcome begun = world.start(cast.coordination(0));
  world.run_for(Time(500));
  EXPECT_EQ(world.get(cast.coordination(1)).error(), Errc::kNodeExists);
  world.run_for(Time(500));
  EXPECT_TRUE(world.exists(kRoot + "/" + kId + "/coordinator"));
  world.lose_reply(0, "multi");  // that says it is committed
  const Outcome east = world.start(cast.participation(1, 0));
  const Outcome west = world.start(cast.participation(2, 1));
  ASSERT_TRUE(world.run_until([&] { return !world.has_traps(0); }));
  world.cut(0);
  ASSERT_TRUE(world.run_until([&] { return east->has_value() && west->has_value(); }, Time(4000)));
  cast.acknowledge_all(1);
  EXPECT_EQ(cast.leftovers(), 1u);
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return begun->has_value(); }));
  EXPECT_TRUE(is(begun, Decision::kCommit));
  EXPECT_EQ(cast.leftovers(), 0u);
}

TEST(TwoPhaseCommit, RecordOfAnotherCoordinatorIsNotMistakenForOurs) {
  // The begin is lost together with the session. In the next session the id belongs to another coordinator.
  RecipeWorld world({.clients = 3});
  Cast cast(world, CommitForm::kCombined);
  ASSERT_TRUE(world.get(world.client(1).create(kRoot)));
  world.lose_request(0, "multi");
  const Outcome begun = world.start(cast.coordination(0));
  ASSERT_TRUE(world.run_until([&] { return !world.has_traps(0); }));
  world.cut(0);
  const Outcome other = world.start(cast.coordination(1));
  const Outcome east = world.start(cast.participation(1, 0));
  const Outcome west = world.start(cast.participation(2, 1));
  world.run_for(Time(9000));
  EXPECT_TRUE(is(other, Decision::kCommit) && is(east, Decision::kCommit) && is(west, Decision::kCommit));
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return begun->has_value(); }));
  EXPECT_EQ((*begun)->error(), Errc::kNodeExists);
}

TEST(TwoPhaseCommit, MissingSiteAborts) {
  for (const CommitForm form : {CommitForm::kCombined, CommitForm::kCoordinator}) {
    RecipeWorld world({.clients = 3});
    Cast cast(world, form);
    const Outcome begun = world.start(cast.coordination(0));
    const Outcome east = world.start(cast.participation(1, 0));
    ASSERT_TRUE(world.run_until([&] { return begun->has_value() && east->has_value(); }, Time(5000)));
    EXPECT_TRUE(is(begun, Decision::kAbort) && is(east, Decision::kAbort));
    EXPECT_EQ(cast.leftovers(), 0u);
  }
}

TEST(TwoPhaseCommit, DeathOfASiteThatHasVotedAbortsAtOnce) {
  RecipeWorld world({.clients = 3});
  Cast cast(world, CommitForm::kCombined);
  const Outcome begun = world.start(cast.coordination(0));
  const Outcome east = world.start(cast.participation(1, 0, true, Wait::within(Time(1000))));
  ASSERT_TRUE(world.run_until([&] { return begun->has_value(); }, Time(1500)));
  EXPECT_TRUE(is(begun, Decision::kAbort));
  EXPECT_EQ((*east)->error(), Errc::kDeadline);
  EXPECT_EQ(world.get(cast.roles[1].resolve(kId)), Decision::kAbort);
}

TEST(TwoPhaseCommit, VoteThatVanishesBeforeTheDecisionPreventsTheCommit) {
  RecipeWorld world({.clients = 3});
  Cast cast(world, CommitForm::kCombined);
  ASSERT_TRUE(world.get(world.client(0).create(kRoot)));
  world.lose_request(0, "multi", 2);  // the first begins it, the second would decide it
  const Outcome begun = world.start(cast.coordination(0));
  const Outcome east = world.start(cast.participation(1, 0));
  const Outcome west = world.start(cast.participation(2, 1));
  ASSERT_TRUE(world.run_until([&] { return !world.has_traps(0); }));
  ASSERT_TRUE(world.get(world.client(2).remove(kRoot + "/" + kId + "/votes/west")));
  EXPECT_FALSE(begun->has_value());
  ASSERT_TRUE(world.run_until([&] { return begun->has_value() && east->has_value() && west->has_value(); }));
  for (const Outcome& each : {begun, east, west}) EXPECT_TRUE(is(each, Decision::kAbort));
}

TEST(TwoPhaseCommit, NotifiesEachSiteOnce) {
  RecipeWorld world({.clients = 3});
  Cast cast(world, CommitForm::kCombined);
  const Outcome begun = world.start(cast.coordination(0));
  const Outcome east = world.start(cast.participation(1, 0));
  const Outcome west = world.start(cast.participation(2, 1));
  ASSERT_TRUE(world.run_until([&] { return begun->has_value() && east->has_value() && west->has_value(); }));
  world.run_for(Time(500));
  EXPECT_LE(world.watch_events(1), 2u);  // that it began, and how it ended
  EXPECT_LE(world.watch_events(2), 2u);
}

}  // namespace
}  // namespace drover::recipes

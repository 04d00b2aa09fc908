// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/balancer.h"

#include <gtest/gtest.h>

#include <map>

namespace drover::discovery {
namespace {

using Ids = std::vector<std::string>;
using std::chrono::milliseconds;

const Ids kThree{"a", "b", "c"};

class BalancerTest : public ::testing::Test {
 protected:
  BalancerTest() : clock_([this] { return now; }) {}
  static Balancer make(Pick pick, BalancerOptions options = {}) {
    options.seed = 5;
    return Balancer(pick, std::move(options));
  }
  static std::map<std::string, int> counts(Balancer& balancer, const Ids& ids, int times) {
    std::map<std::string, int> counts;
    for (int i = 0; i < times; ++i) ++counts[ids[*balancer.choose(ids)]];
    return counts;
  }
  Clock::time_point now{std::chrono::hours(1)};

 private:
  ClockOverride clock_;
};

TEST_F(BalancerTest, WithoutInstancesNoneIsChosen) {
  for (const Pick pick : {Pick::kRoundRobin, Pick::kRandom, Pick::kWeighted, Pick::kLeastBusy,
                          Pick::kTwoChoices, Pick::kSticky, Pick::kHashed}) {
    Balancer balancer = make(pick);
    EXPECT_EQ(balancer.choose({}), std::nullopt);
    EXPECT_EQ(balancer.choose({"a"}), 0u);
  }
}

TEST_F(BalancerTest, RoundRobinTakesTurns) {
  Balancer balancer = make(Pick::kRoundRobin);
  EXPECT_EQ(counts(balancer, kThree, 300), (std::map<std::string, int>{{"a", 100}, {"b", 100}, {"c", 100}}));
}

TEST_F(BalancerTest, RandomIsEvenAndFollowsWeights) {
  Balancer even = make(Pick::kRandom);
  for (const auto& [id, count] : counts(even, kThree, 3000)) EXPECT_NEAR(count, 1000, 120) << id;
  Balancer weighted =
      make(Pick::kWeighted, {.weight = [](std::string_view id) { return id == "a" ? 8 : 1; }});
  EXPECT_NEAR(counts(weighted, kThree, 3000)["a"], 2400, 120);
  Balancer none = make(Pick::kWeighted, {.weight = [](std::string_view) { return 0; }});
  EXPECT_TRUE(none.choose(kThree));
}

TEST_F(BalancerTest, BusyInstanceIsChosenLessOften) {
  Balancer least = make(Pick::kLeastBusy);
  least.begin("a");
  least.begin("b");
  EXPECT_EQ(least.choose(kThree), 2u);
  least.begin("c");
  least.begin("c");
  least.end("a");
  EXPECT_EQ(least.choose(kThree), 0u);
  least.end("never begun");

  Balancer two = make(Pick::kTwoChoices);
  two.begin("a");
  EXPECT_EQ(counts(two, kThree, 300)["a"], 0);
}

TEST_F(BalancerTest, StickyKeepsItsInstanceUntilItLeaves) {
  Balancer balancer = make(Pick::kSticky);
  const std::string first = kThree[*balancer.choose(kThree)];
  EXPECT_EQ(counts(balancer, kThree, 50).size(), 1u);
  Ids others;
  for (const std::string& id : kThree) {
    if (id != first) others.push_back(id);
  }
  const std::string second = others[*balancer.choose(others)];
  EXPECT_EQ(kThree[*balancer.choose(kThree)], second);
}

TEST_F(BalancerTest, HashedMovesOnlyTheKeysOfInstancesThatLeft) {
  Balancer balancer = make(Pick::kHashed);
  const Ids two{"a", "c"};
  std::map<std::string, int> spread;
  for (int i = 0; i < 600; ++i) {
    const std::string key = std::to_string(i);
    const std::string before = kThree[*balancer.choose(kThree, key)];
    ++spread[before];
    if (before != "b") {
      EXPECT_EQ(two[*balancer.choose(two, key)], before);
    }
  }
  for (const auto& [id, count] : spread) EXPECT_NEAR(count, 200, 60) << id;
}

TEST_F(BalancerTest, InstanceWithTwoErrorsIsDownUntilTheWindowHasPassed) {
  Balancer balancer = make(Pick::kRoundRobin);
  balancer.note_error("a");
  EXPECT_FALSE(balancer.is_down("a"));
  now += milliseconds(29'000);
  balancer.note_error("a");
  EXPECT_TRUE(balancer.is_down("a"));
  EXPECT_EQ(counts(balancer, kThree, 10)["a"], 0);
  EXPECT_EQ(balancer.choose({"a"}), std::nullopt);
  now += milliseconds(2000);  // The first error is outside the window.
  EXPECT_FALSE(balancer.is_down("a"));
  balancer.note_error("a");
  EXPECT_TRUE(balancer.is_down("a"));
}

}  // namespace
}  // namespace drover::discovery

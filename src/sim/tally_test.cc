// SPDX-License-Identifier: Apache-2.0
#include "sim/tally.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/cluster.h"

namespace drover::sim {
namespace {

TEST(Tally, AddsUpAndListsWhatNeverHappened) {
  Tally one;
  Tally two;
  one.add(Did::kCrash, 2);
  two.add(Did::kCrash);
  two.add(Did::kSnap);
  one.add(two);
  EXPECT_EQ(one.of(Did::kCrash), 3u);
  EXPECT_EQ(one.of(Did::kSnap), 1u);
  EXPECT_TRUE(one.text().starts_with("crash 3, power loss 0, ")) << one.text();
  EXPECT_TRUE(one.missing().starts_with("power loss, ")) << one.missing();
  EXPECT_EQ(one.missing().find("SNAP"), std::string::npos);
}

TEST(Tally, EveryKindHasItsOwnName) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Did::kEnd); ++i) {
    const std::string name = name_of(static_cast<Did>(i));
    EXPECT_NE(name, "?");
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

// The rarest things need hundreds of seeds: CI runs 500 with --all-kinds.
TEST(Tally, FewSeedsCoverNearlyEveryKind) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Cluster cluster(plan_of(seed), {.tally = &tally});
    EXPECT_TRUE(cluster.run()) << seed << ": " << cluster.failure();
  }
  for (const Did rare : {Did::kReload, Did::kDiscard, Did::kMadeWay, Did::kRefusedFull}) tally.add(rare);
  EXPECT_EQ(tally.missing(), "");
}

}  // namespace
}  // namespace drover::sim

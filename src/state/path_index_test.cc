// SPDX-License-Identifier: Apache-2.0
#include "state/path_index.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace drover::state {
namespace {

NodeRef find_exact(const PathIndex& index, std::uint64_t hash, NodeRef node) {
  return index.find(hash, [&](NodeRef candidate) { return candidate == node; });
}

TEST(PathIndex, FindsWhatWasInsertedAndNothingElse) {
  PathIndex index;
  index.insert(7ull << 32, NodeRef{1});
  EXPECT_EQ(find_exact(index, 7ull << 32, NodeRef{1}), NodeRef{1});
  EXPECT_EQ(find_exact(index, 8ull << 32, NodeRef{1}), kNoNode);
  EXPECT_EQ(index.size(), 1u);
}

TEST(PathIndex, TheCallerDistinguishesPathsWithEqualHashes) {
  PathIndex index;
  for (std::uint32_t i = 1; i <= 5; ++i) index.insert(3ull << 32, NodeRef{i});
  for (std::uint32_t i = 1; i <= 5; ++i) EXPECT_EQ(find_exact(index, 3ull << 32, NodeRef{i}), NodeRef{i});
  index.erase(3ull << 32, NodeRef{3});
  EXPECT_EQ(find_exact(index, 3ull << 32, NodeRef{3}), kNoNode);
  EXPECT_EQ(find_exact(index, 3ull << 32, NodeRef{5}), NodeRef{5});
}

TEST(PathIndex, ErasingKeepsAProbeRunThatWrapsAround) {
  PathIndex index;  // 1024 slots
  for (std::uint32_t i = 1; i <= 6; ++i) index.insert(1022ull << 32, NodeRef{i});
  index.insert(1ull << 32, NodeRef{7});  // its home is inside the run of the others
  index.erase(1022ull << 32, NodeRef{1});
  index.erase(1022ull << 32, NodeRef{4});
  for (const std::uint32_t i : {2u, 3u, 5u, 6u})
    EXPECT_EQ(find_exact(index, 1022ull << 32, NodeRef{i}), NodeRef{i});
  EXPECT_EQ(find_exact(index, 1ull << 32, NodeRef{7}), NodeRef{7});
}

// Few different hashes make long runs; many make the table grow.
void compare_with_model(std::uint64_t seed, std::uint64_t hashes, int steps) {
  Random random(seed);
  PathIndex index;
  std::map<std::uint32_t, std::uint64_t> model;  // node -> hash
  std::uint32_t next_node = 1;
  for (int step = 0; step < steps; ++step) {
    if (model.empty() || random.below(100) < 60) {
      const std::uint64_t hash = random.below(hashes) << 32 | random.below(1000);
      index.insert(hash, NodeRef{next_node});
      model.emplace(next_node++, hash);
    } else {
      const auto victim = std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())));
      index.erase(victim->second, NodeRef{victim->first});
      EXPECT_EQ(find_exact(index, victim->second, NodeRef{victim->first}), kNoNode);
      model.erase(victim);
    }
    ASSERT_EQ(index.size(), model.size());
  }
  for (const auto& [node, hash] : model) ASSERT_EQ(find_exact(index, hash, NodeRef{node}), NodeRef{node});
}

TEST(PathIndex, BehavesLikeAMapDespiteCollisions) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    compare_with_model(seed, 8, 300);
    compare_with_model(seed, 2000, 3000);
    compare_with_model(seed, 1ull << 31, 5000);
  }
}

}  // namespace
}  // namespace drover::state

// SPDX-License-Identifier: Apache-2.0
#include "zab/membership.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

namespace drover::zab {
namespace {

ServerSet ids(std::initializer_list<std::int64_t> numbers) {
  ServerSet servers;
  for (const std::int64_t n : numbers) servers.insert(ServerId{n});
  return servers;
}

Membership majority(std::int64_t voters) {
  Membership m;
  for (std::int64_t n = 1; n <= voters; ++n) m.add({.id = ServerId{n}});
  return m;
}

// 1:2:3 | 4:5:6 | 7:8:9
Membership three_groups() {
  Membership m = majority(9);
  m.set_groups({{1, {ServerId{1}, ServerId{2}, ServerId{3}}},
                {2, {ServerId{4}, ServerId{5}, ServerId{6}}},
                {3, {ServerId{7}, ServerId{8}, ServerId{9}}}});
  return m;
}

TEST(Majority, MoreThanHalfOfTheVotersDecide) {
  EXPECT_TRUE(majority(1).is_quorum(ids({1})));
  EXPECT_FALSE(majority(2).is_quorum(ids({1})));
  EXPECT_TRUE(majority(2).is_quorum(ids({1, 2})));
  EXPECT_FALSE(majority(3).is_quorum(ids({3})));
  EXPECT_TRUE(majority(3).is_quorum(ids({1, 3})));
  EXPECT_FALSE(majority(4).is_quorum(ids({1, 2})));
  EXPECT_TRUE(majority(5).is_quorum(ids({1, 3, 5})));
}

TEST(Majority, AnEmptySetIsNoQuorum) {
  EXPECT_FALSE(majority(0).is_quorum({}));
  EXPECT_FALSE(majority(3).is_quorum({}));
}

TEST(Majority, OnlyVotersCount) {
  Membership m = majority(3);
  for (const std::int64_t n : {4, 5}) m.add({.id = ServerId{n}, .type = PeerType::kObserver});
  EXPECT_FALSE(m.is_quorum(ids({1, 4, 5, 99})));
  EXPECT_TRUE(m.is_quorum(ids({1, 2, 4})));
  EXPECT_TRUE(m.is_member(ServerId{4}));
  EXPECT_FALSE(m.is_voter(ServerId{4}));
  EXPECT_FALSE(m.is_member(ServerId{99}));
}

TEST(Majority, WeightsMeanNothingWithoutGroups) {
  Membership m = majority(3);
  m.set_weights({{ServerId{1}, 0}, {ServerId{2}, 5}});
  EXPECT_EQ(m.weight_of(ServerId{1}), 1);
  EXPECT_EQ(m.weight_of(ServerId{2}), 1);
  EXPECT_FALSE(m.is_quorum(ids({2})));
  EXPECT_TRUE(m.is_quorum(ids({1, 3})));
}

TEST(Servers, OneThatIsAddedAgainReplacesTheOldOne) {
  Membership m = majority(3);
  m.add({.id = ServerId{3}, .type = PeerType::kObserver});
  EXPECT_EQ(m.voters(), ids({1, 2}));
  EXPECT_EQ(m.observers(), ids({3}));
  EXPECT_EQ(m.servers().size(), 3U);
  m.remove(ServerId{3});
  m.remove(ServerId{99});
  EXPECT_EQ(m, majority(2));
}

TEST(Hierarchy, AMajorityInAMajorityOfTheGroupsDecides) {
  const Membership m = three_groups();
  EXPECT_TRUE(m.is_quorum(ids({1, 2, 4, 5})));
  EXPECT_FALSE(m.is_quorum(ids({1, 2, 4, 7})));
  EXPECT_FALSE(m.is_quorum(ids({1, 2, 3, 4, 7}))) << "five of nine, but one group only";
  EXPECT_TRUE(m.is_quorum(ids({1, 2, 3, 8, 9})));
  EXPECT_FALSE(m.is_quorum({}));
}

TEST(Hierarchy, WeightDecidesWithinAGroup) {
  Membership m = three_groups();
  m.set_weights({{ServerId{1}, 3}, {ServerId{4}, 3}});
  EXPECT_EQ(m.weight_of(ServerId{1}), 3);
  EXPECT_EQ(m.weight_of(ServerId{2}), 1) << "not listed";
  EXPECT_TRUE(m.is_quorum(ids({1, 4}))) << "3 of 5 in each";
  EXPECT_FALSE(m.is_quorum(ids({2, 3, 5, 6}))) << "2 of 5 in each";
}

TEST(Hierarchy, HalfOfAnEvenWeightIsNotEnough) {
  Membership m = majority(2);
  m.set_groups({{1, {ServerId{1}, ServerId{2}}}});
  EXPECT_FALSE(m.is_quorum(ids({1})));
  EXPECT_TRUE(m.is_quorum(ids({1, 2})));
}

TEST(Hierarchy, AGroupWithoutWeightIsNotCounted) {
  Membership m = three_groups();
  for (std::int64_t n = 7; n <= 9; ++n) m.set_weight(ServerId{n}, 0);
  EXPECT_FALSE(m.is_quorum(ids({1, 2, 7, 8, 9}))) << "one of two groups";
  EXPECT_TRUE(m.is_quorum(ids({1, 2, 4, 5})));
  // With one of two groups left out as well, the last one decides alone.
  for (std::int64_t n = 4; n <= 6; ++n) m.set_weight(ServerId{n}, 0);
  EXPECT_TRUE(m.is_quorum(ids({1, 2})));
  for (std::int64_t n = 1; n <= 3; ++n) m.set_weight(ServerId{n}, 0);
  EXPECT_FALSE(m.is_quorum(m.voters())) << "nothing has weight";
}

TEST(Hierarchy, AnObserverInAGroupOnlyAddsToItsWeight) {
  Membership m = majority(2);
  m.add({.id = ServerId{3}, .type = PeerType::kObserver});
  m.set_groups({{1, {ServerId{1}, ServerId{2}, ServerId{3}}}});
  m.set_weights({{ServerId{3}, 2}});
  EXPECT_FALSE(m.is_quorum(ids({1, 2, 3}))) << "2 of 4";
  m.set_weights({});
  EXPECT_TRUE(m.is_quorum(ids({1, 2}))) << "unlisted, it weighs nothing";
}

TEST(Hierarchy, AbsurdWeightsAreHarmless) {
  Membership m = majority(2);
  m.set_groups({{1, {ServerId{1}, ServerId{2}}}});
  m.set_weights({{ServerId{1}, std::numeric_limits<std::int64_t>::max()}, {ServerId{2}, 2}});
  (void)m.is_quorum(ids({1, 2}));  // Under the sanitizer: no overflow.
}

}  // namespace
}  // namespace drover::zab

// SPDX-License-Identifier: Apache-2.0
#include "layouts/sequence.h"

#include <gtest/gtest.h>

namespace drover::layouts {
namespace {

TEST(SequenceOf, IsTheSignedNumberBehindTheMarker) {
  EXPECT_EQ(sequence_of("lock-0000000007", "lock-"), 7);
  EXPECT_EQ(sequence_of("_c_5a8c5f9e-lock-2147483647", "lock-"), 2147483647);
  EXPECT_EQ(sequence_of("lock--2147483648", "lock-"), -2147483647 - 1);
  EXPECT_EQ(sequence_of("lock--000000001", "lock-"), -1);
}

TEST(SequenceOf, TakesTheLastMarker) {
  EXPECT_EQ(sequence_of("lock-lock-0000000003", "lock-"), 3);
  EXPECT_EQ(sequence_of("_c_lock-0000000001-lock-0000000002", "lock-"), 2);
}

TEST(SequenceOf, IsNothingForOtherNames) {
  for (const char* name : {"", "lock-", "lock-7", "lock-000000000x", "lock-00000000007", "lock-+000000007",
                           "lock-2147483648", "latch-0000000007", "lock-0000000007 ", "lock--99999999999"}) {
    EXPECT_EQ(sequence_of(name, "lock-"), std::nullopt) << name;
  }
}

TEST(ComesBefore, FollowsTheCounterThroughItsWrap) {
  EXPECT_TRUE(comes_before(1, 2));
  EXPECT_FALSE(comes_before(2, 2));
  EXPECT_FALSE(comes_before(2, 1));
  EXPECT_TRUE(comes_before(INT32_MAX, INT32_MIN));
  EXPECT_FALSE(comes_before(INT32_MIN, INT32_MAX));
  EXPECT_TRUE(comes_before(-1, 0));
}

TEST(IsSafeToShare, EndsBeforeTheWrap) {
  EXPECT_TRUE(is_safe_to_share(0));
  EXPECT_TRUE(is_safe_to_share(INT32_MAX - (1 << 20)));
  EXPECT_FALSE(is_safe_to_share(INT32_MAX - (1 << 20) + 1));
  EXPECT_FALSE(is_safe_to_share(-1));
}

}  // namespace
}  // namespace drover::layouts

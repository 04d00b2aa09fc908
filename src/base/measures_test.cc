// SPDX-License-Identifier: Apache-2.0
#include "base/measures.h"

#include <gtest/gtest.h>

namespace drover {
namespace {

TEST(Extremes, AreZeroWhenEmptyAndCanBeMerged) {
  Extremes a;
  Extremes b;
  b.add(Extremes{});
  EXPECT_EQ(b, Extremes{});
  a.add(7);
  a.add(3);
  b.add(9);
  b.add(a);
  EXPECT_EQ(b, (Extremes{3, 19, 3, 9}));
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  EXPECT_EQ(h.percentile(500), 0u);
  for (std::uint64_t v = 0; v < 8; ++v) h.add(v);
  EXPECT_EQ(h.percentile(500), 3u);
  EXPECT_EQ(h.percentile(1000), 7u);
}

TEST(Histogram, IsWithinAQuarterOfAnyValue) {
  for (std::uint64_t v = 1; v < 100'000'000; v = v * 5 / 4 + 1) {
    Histogram h;
    h.add(0);
    h.add(v);
    EXPECT_LE(h.percentile(999), v);
    EXPECT_GT(h.percentile(999) * 5, v * 4 - 4) << v;
  }
}

TEST(Histogram, SeparatesRareFromFrequentValues) {
  Histogram h;
  for (int i = 0; i < 990; ++i) h.add(2);
  for (int i = 0; i < 10; ++i) h.add(4096);
  Histogram sum;
  sum.add(h);
  sum.add(h);
  EXPECT_EQ(sum.percentile(990), 2u);
  EXPECT_EQ(sum.percentile(999), 4096u);
  EXPECT_EQ(sum.extremes().count, 2000u);
}

TEST(Histogram, AcceptsTheLargestValue) {
  Histogram h;
  h.add(UINT64_MAX);
  EXPECT_EQ(h.extremes().max, UINT64_MAX);
  EXPECT_GT(h.percentile(500), 0u);
}

TEST(Histogram, ComputesTheDifferenceToAnEarlierState) {
  Histogram h;
  for (int i = 0; i < 100; ++i) h.add(1);
  const Histogram earlier = h;
  h.add(6);
  h.add(7);
  const Histogram added = h.since(earlier);
  EXPECT_EQ(added.extremes().count, 2u);
  EXPECT_EQ(added.extremes().sum, 13u);
  EXPECT_EQ(added.percentile(500), 6u);
  EXPECT_EQ(added.percentile(999), 7u);
  EXPECT_EQ(h.since(h).percentile(500), 0u);
}

}  // namespace
}  // namespace drover

// SPDX-License-Identifier: Apache-2.0
//
// The histogram to its promised precision, and the words of the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/bench/histogram.h"
#include "cli/bench/plan.h"

namespace drover::cli::observe {
namespace {

using ::testing::HasSubstr;

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.add(i);
  EXPECT_EQ(histogram.quantile(0.5), 50);
  EXPECT_EQ(histogram.quantile(0.99), 99);
  EXPECT_EQ(histogram.quantile(1), 100);
  EXPECT_EQ(histogram.quantile(0), 1);
  EXPECT_EQ(histogram.max(), 100);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50.5);
}

TEST(Histogram, LargeValuesAreKnownToOnePointSixPercent) {
  for (const double value : {200.0, 1e4, 123'456.0, 7.7e8, 6e10, 1e12}) {
    Histogram histogram;
    histogram.add(static_cast<std::int64_t>(value));
    histogram.add(static_cast<std::int64_t>(value * 3));  // so that the maximum does not help
    EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)), value, value * 0.016) << value;
  }
}

TEST(Histogram, RareLargeValuesAppearAtTheirPercentile) {
  Histogram histogram;
  for (int i = 0; i < 9990; ++i) histogram.add(10);
  for (int i = 0; i < 10; ++i) histogram.add(1'000'000);
  EXPECT_EQ(histogram.quantile(0.999), 10);
  EXPECT_EQ(histogram.quantile(0.9995), 1'000'000);
}

TEST(Histogram, MergingEqualsAddingAllValues) {
  Histogram a, b;
  for (int i = 1; i <= 50; ++i) a.add(i);
  for (int i = 51; i <= 100; ++i) b.add(i);
  a.merge(b);
  EXPECT_EQ(a.count(), 100U);
  EXPECT_EQ(a.quantile(0.5), 50);
  EXPECT_EQ(a.max(), 100);
  EXPECT_DOUBLE_EQ(a.mean(), 50.5);
}

TEST(Histogram, EmptyHistogramHasNoValues) {
  const Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.99), 0);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(Histogram, TooLargeValuesAreInTheLastBucket) {
  Histogram histogram;
  histogram.add(INT64_MAX / 2);
  histogram.add(-5);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.max(), INT64_MAX / 2);
}

Plan plan_of(std::vector<std::string> words, std::string& problem) {
  const std::vector<Option> known = bench_options();
  Arguments arguments(known, words);
  Plan plan = read_plan(arguments);
  problem = arguments.problem();
  return plan;
}

TEST(BenchPlan, ParsesWordsAndNumbers) {
  std::string problem;
  const Plan plan =
      plan_of({"get", "--sessions", "3", "--in-flight=5", "-server", "zk1", "--rate", "1e3"}, problem);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(plan.load, Load::kGet);
  EXPECT_EQ(plan.sessions, 3);
  EXPECT_EQ(plan.in_flight, 5);
  EXPECT_EQ(plan.client.servers, "zk1");
  EXPECT_EQ(plan.rate, 1000);
  EXPECT_EQ(plan_of({"lock"}, problem).keys, 1);
}

TEST(BenchPlan, RejectsImpossibleValues) {
  std::string problem;
  plan_of({"delete"}, problem);
  EXPECT_THAT(problem, HasSubstr("unknown load"));
  plan_of({"get", "--sessions", "many"}, problem);
  EXPECT_THAT(problem, HasSubstr("--sessions takes a number"));
  plan_of({"get", "--fast"}, problem);
  EXPECT_EQ(problem, "unknown option --fast");
  plan_of({"lock", "--rate", "5"}, problem);
  EXPECT_THAT(problem, HasSubstr("--rate is for requests"));
  plan_of({"get", "--size"}, problem);
  EXPECT_EQ(problem, "--size needs a value");
}

TEST(BenchPlan, LatenciesAreReadable) {
  EXPECT_EQ(latency_text(850), "850 ns");
  EXPECT_EQ(latency_text(212'400), "212 µs");
  EXPECT_EQ(latency_text(1'240'000), "1.24 ms");
  EXPECT_EQ(latency_text(2'100'000'000), "2.1 s");
}

}  // namespace
}  // namespace drover::cli::observe

// SPDX-License-Identifier: Apache-2.0
#include "monitor/java_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace drover::server {
namespace {

// The right-hand sides were printed by OpenJDK 17.
TEST(JavaText, DoublesArePrintedAsJavaPrintsThem) {
  EXPECT_EQ(java_double(0), "0.0");
  EXPECT_EQ(java_double(-0.0), "-0.0");
  EXPECT_EQ(java_double(1), "1.0");
  EXPECT_EQ(java_double(0.9145), "0.9145");
  EXPECT_EQ(java_double(0.001), "0.001");
  EXPECT_EQ(java_double(0.0005), "5.0E-4");
  EXPECT_EQ(java_double(0.00012), "1.2E-4");
  EXPECT_EQ(java_double(120.5), "120.5");
  EXPECT_EQ(java_double(9999999), "9999999.0");
  EXPECT_EQ(java_double(10000000), "1.0E7");
  EXPECT_EQ(java_double(-12345678.9), "-1.23456789E7");
  EXPECT_EQ(java_double(1e300), "1.0E300");
  EXPECT_EQ(java_double(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(java_double(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(JavaText, DatesArePrintedAsJavaPrintsThem) {
  EXPECT_EQ(java_date({0}), "Thu Jan 01 00:00:00 UTC 1970");
  EXPECT_EQ(java_date({1794731018999}), "Sun Nov 15 08:23:38 UTC 2026");
  EXPECT_EQ(java_date({-1}), "Wed Dec 31 23:59:59 UTC 1969");
}

}  // namespace
}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace drover {
namespace {

TEST(ParseNumber, TakesWholeTextsInBothSigns) {
  EXPECT_EQ(parse_number<int>("0"), 0);
  EXPECT_EQ(parse_number<int>("-17"), -17);
  EXPECT_EQ(parse_number<std::uint64_t>("fF", 16), 255u);
  EXPECT_EQ(parse_number<double>("2.5"), 2.5);
}

TEST(ParseNumber, RefusesWhatIsNotOnlyANumber) {
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "--1", "0x1", "1.5"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
}

TEST(ParseNumber, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
}

}  // namespace
}  // namespace drover

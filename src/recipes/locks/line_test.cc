// SPDX-License-Identifier: Apache-2.0
#include "recipes/locks/line.h"

#include <gtest/gtest.h>

namespace drover::recipes {
namespace {

const std::vector<std::string_view> kLock = {"lock-"};

std::vector<std::string> names_of(const Result<std::vector<Contender>>& line) {
  std::vector<std::string> names;
  if (line) {
    for (const Contender& each : *line) names.push_back(each.name);
  }
  return names;
}

TEST(Line, IsOrderedBySequenceWhateverThePrefix) {
  const auto line =
      line_of({"_c_z-lock-0000000001", "_c_a-lock-0000000003", "_c_m-lock-0000000002"}, kLock, {}, Layout{});
  EXPECT_EQ(names_of(line), (std::vector<std::string>{"_c_z-lock-0000000001", "_c_m-lock-0000000002",
                                                      "_c_a-lock-0000000003"}));
  EXPECT_EQ(position_of(*line, "_c_m-lock-0000000002"), 1u);
  EXPECT_EQ(position_of(*line, "lock-0000000009"), std::nullopt);
}

TEST(Line, ContinuesAcrossTheWrapInTheNativeLayout) {
  const std::vector<std::string> names = {"lock--2147483647", "lock-2147483647", "lock--2147483648",
                                          "lock-2147483646"};
  const auto line = line_of(names, kLock, "lock-2147483647", Layout::kNative);
  EXPECT_EQ(names_of(line), (std::vector<std::string>{"lock-2147483646", "lock-2147483647",
                                                      "lock--2147483648", "lock--2147483647"}));
}

TEST(Line, ContinuesAcrossTheWrapForReaders) {
  const std::vector<std::string> names = {"lock--2147483647", "lock-2147483647", "lock--2147483648"};
  EXPECT_EQ(names_of(line_of(names, kLock, {}, Layout::kNative)),
            (std::vector<std::string>{"lock-2147483647", "lock--2147483648", "lock--2147483647"}));
}

TEST(Line, IsRefusedNearTheWrapWhereOthersCompareStrings) {
  for (const char* name : {"lock-2147483647", "lock--2147483648"}) {
    const auto line = line_of({name}, kLock, {}, Layout::kCurator);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error(), Errc::kSequenceExhausted);
  }
}

TEST(Line, IsRefusedIfNamesOfAnotherLibraryAreInIt) {
  for (const char* name : {"0123456789abcdef0123456789abcdef__lock__0000000001", "x-1234-0000000000"}) {
    const auto line = line_of({"_c_a-lock-0000000000", name}, kLock, {}, Layout::kCurator);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error(), Errc::kLayoutMismatch);
  }
}

TEST(Line, IgnoresOtherChildren) {
  const auto line = line_of({"leases", "_c_a-lock-0000000000", "info"}, kLock, {}, Layout::kCurator);
  EXPECT_EQ(names_of(line), std::vector<std::string>{"_c_a-lock-0000000000"});
}

TEST(Line, EqualNumbersAreOrderedByKind) {
  const auto line =
      line_of({"_c_a-__READ__0000000000", "_c_b-__WRIT__0000000000"}, {"__WRIT__", "__READ__"}, {}, Layout{});
  EXPECT_EQ(names_of(line), (std::vector<std::string>{"_c_b-__WRIT__0000000000", "_c_a-__READ__0000000000"}));
}

TEST(Line, AnySetOfNumbersHasAnOrder) {
  // Neighbours are within 2^31 of each other, but not all of them. No order is right; it must still be an
  // order.
  const auto line = line_of({"lock-0000000000", "lock-1500000000", "lock--1500000000"}, kLock,
                            "lock-0000000000", Layout::kNative);
  EXPECT_EQ(names_of(line),
            (std::vector<std::string>{"lock--1500000000", "lock-0000000000", "lock-1500000000"}));
}

}  // namespace
}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "cli/connection/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace drover::cli {
namespace {

using ::testing::ElementsAre;

constexpr std::array kFlags{Flag{"s"}, Flag{"w"}, Flag{"v", true}, Flag{"file", true}, Flag{"-tree"}};
constexpr std::array kGroup{Flag{"n", true, "nodes"}, Flag{"b", true, "bytes"}};

std::expected<Flags, std::string> parse(const std::vector<std::string>& words) {
  return parse_flags(kFlags, Grouping::kFree, words);
}
std::string problem_of(const std::vector<std::string>& words) { return parse(words).error(); }

TEST(Flags, MayBeAnywhereAndCombined) {
  const auto flags = parse({"/a", "-sw", "x"});
  ASSERT_TRUE(flags);
  EXPECT_TRUE(flags->has("s") && flags->has("w") && !flags->has("v"));
  EXPECT_THAT(flags->arguments(), ElementsAre("/a", "x"));
}

TEST(Flags, AcceptValuesInThreeForms) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"-v", "7"}, {"-v7"}, {"-v=7"}}) {
    const auto flags = parse(words);
    ASSERT_TRUE(flags);
    EXPECT_EQ(flags->value("v"), "7");
  }
  EXPECT_EQ(parse({"-file", "x"})->value("file"), "x");
}

TEST(Flags, ANegativeNumberIsAValueAndAnArgumentAfterTwoDashes) {
  EXPECT_EQ(parse({"-v", "-1"})->value("v"), "-1");
  EXPECT_THAT(parse({"--", "-s"})->arguments(), ElementsAre("-s"));
  EXPECT_TRUE(parse({"--tree"})->has("-tree"));
}

TEST(Flags, ErrorsAreThoseOfJavasLibrary) {
  EXPECT_EQ(problem_of({"-q"}),
            "org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: -q");
  EXPECT_EQ(problem_of({"-sq"}),
            "org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: -sq");
  EXPECT_EQ(problem_of({"--q"}),
            "org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: --q");
  EXPECT_EQ(problem_of({"/a", "-v"}),
            "org.apache.commons.cli.MissingArgumentException: Missing argument for option: v");
  EXPECT_EQ(problem_of({"-v", "-s"}),
            "org.apache.commons.cli.MissingArgumentException: Missing argument for option: v");
}

TEST(Flags, OnlyOneFlagOfAGroupIsAllowed) {
  const auto both = parse_flags(kGroup, Grouping::kAtMostOne, std::vector<std::string>{"-n", "1", "-b", "2"});
  EXPECT_EQ(
      both.error(),
      "org.apache.commons.cli.AlreadySelectedException: The option 'b' was specified but an option from "
      "this group has already been selected: 'n'");
  const auto none = parse_flags(kGroup, Grouping::kExactlyOne, std::vector<std::string>{"/a"});
  EXPECT_EQ(none.error(),
            "org.apache.commons.cli.MissingOptionException: Missing required option: [-n nodes, -b bytes]");
}

}  // namespace
}  // namespace drover::cli

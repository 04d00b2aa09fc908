// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Words, AreSeparatedByBlanks) {
  EXPECT_THAT(split_words("  create\t/a  x "), ElementsAre("create", "/a", "x"));
  EXPECT_THAT(split_words(""), IsEmpty());
}

TEST(Words, MayBeQuotedEitherWay) {
  EXPECT_THAT(split_words("set /a 'two words'"), ElementsAre("set", "/a", "two words"));
  EXPECT_THAT(split_words("set /a \"it's\""), ElementsAre("set", "/a", "it's"));
  EXPECT_THAT(split_words("set /a ''"), ElementsAre("set", "/a", ""));
}

// The same results as the regular expression of ZooKeeper's shell, checked there.
TEST(Words, QuotesInsideAWordAreNotSpecial) {
  EXPECT_THAT(split_words("a\"b c\""), ElementsAre("a\"b", "c\""));
  EXPECT_THAT(split_words("\"a\"b"), ElementsAre("a", "b"));
}

TEST(Words, UnclosedQuoteIsAnOrdinaryCharacter) {
  EXPECT_THAT(split_words("set /a \"b"), ElementsAre("set", "/a", "b"));
}

TEST(Words, BlankLineIsOneWord) { EXPECT_THAT(split_words("   "), ElementsAre(" ")); }

}  // namespace
}  // namespace drover::cli

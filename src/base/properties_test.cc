// SPDX-License-Identifier: Apache-2.0
//
// The expectations agree with java.util.Properties of OpenJDK 17 on random text. These are the named cases.
#include "base/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover {

bool operator==(const Property& a, const Property& b) {
  return a.key == b.key && a.value == b.value && a.line == b.line;
}
void PrintTo(const Property& p, std::ostream* out) {
  *out << p.line << ": " << testing::PrintToString(p.key) << " = " << testing::PrintToString(p.value);
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Property> parsed(std::string_view text) {
  auto properties = parse_properties(text);
  EXPECT_TRUE(properties);
  return properties.value_or(std::vector<Property>{});
}

TEST(Properties, AnEqualsSignAColonOrABlankSeparatesKeyAndValue) {
  EXPECT_THAT(parsed("a=1\nb:2\nc 3\nd = 4\ne\t:\f5\n"),
              ElementsAre(Property{"a", "1", 1}, Property{"b", "2", 2}, Property{"c", "3", 3},
                          Property{"d", "4", 4}, Property{"e", "5", 5}));
}

TEST(Properties, OnlyTheFirstSeparatorCounts) {
  EXPECT_THAT(parsed("server.1=zk1:2888:3888;2181\na = = b\n"),
              ElementsAre(Property{"server.1", "zk1:2888:3888;2181", 1}, Property{"a", "= b", 2}));
}

TEST(Properties, CommentsAndEmptyLinesAreSkippedButCounted) {
  EXPECT_THAT(parsed("# one\n  ! two\n\n \t\nkey=value"), ElementsAre(Property{"key", "value", 5}));
}

TEST(Properties, ACommentSignWithinALineIsText) {
  EXPECT_THAT(parsed("a=1 # not a comment\n"), ElementsAre(Property{"a", "1 # not a comment", 1}));
}

TEST(Properties, ABackslashContinuesALineWithoutLeadingBlanks) {
  EXPECT_THAT(parsed("list=a,\\\n     b,\\\n     #c\nnext=1\n"),
              ElementsAre(Property{"list", "a,b,#c", 1}, Property{"next", "1", 4}));
}

TEST(Properties, ABackslashDoesNotContinueAComment) {
  EXPECT_THAT(parsed("# comment \\\nkey=value\n"), ElementsAre(Property{"key", "value", 2}));
}

TEST(Properties, AnEvenNumberOfBackslashesContinuesNothing) {
  EXPECT_THAT(parsed("a=x\\\\\nb=y\n"), ElementsAre(Property{"a", "x\\", 1}, Property{"b", "y", 2}));
}

TEST(Properties, AFileMayEndInABackslash) {
  EXPECT_THAT(parsed("a=x\\"), ElementsAre(Property{"a", "x", 1}));
  EXPECT_THAT(parsed("\\"), IsEmpty());
}

TEST(Properties, AllThreeLineEndsAreUnderstood) {
  EXPECT_THAT(parsed("a=1\r\nb=2\rc=3\n"),
              ElementsAre(Property{"a", "1", 1}, Property{"b", "2", 2}, Property{"c", "3", 3}));
}

TEST(Properties, EscapesAreReplacedInKeyAndValue) {
  EXPECT_THAT(parsed("a\\ b\\=c=\\t\\n\\r\\f\\\\\\x\n"), ElementsAre(Property{"a b=c", "\t\n\r\f\\x", 1}));
}

TEST(Properties, UnicodeEscapesBecomeUtf8) {
  EXPECT_THAT(parsed("a=\\u0041\\u00e9\\u20AC\\ud83d\\ude00\n"),
              ElementsAre(Property{"a", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 1}));
  EXPECT_THAT(parsed("half=\\ud83dx\n"), ElementsAre(Property{"half", "\xef\xbf\xbdx", 1}));
}

TEST(Properties, AMalformedUnicodeEscapeIsAnErrorWithItsLine) {
  for (const std::string_view text : {"ok=1\nbad=\\u00g1", "ok=1\nbad=\\u12", "ok=1\n\\u=1"}) {
    const auto properties = parse_properties(text);
    ASSERT_FALSE(properties) << text;
    EXPECT_EQ(properties.error().line, 2);
  }
}

TEST(Properties, BlanksAtTheEndOfAValueAreKept) {
  EXPECT_THAT(parsed("a=1  \n"), ElementsAre(Property{"a", "1  ", 1}));
}

TEST(Properties, AKeyWithoutAValueHasAnEmptyValue) {
  EXPECT_THAT(parsed("a\nb=\n"), ElementsAre(Property{"a", "", 1}, Property{"b", "", 2}));
}

TEST(Properties, RepeatedKeysAreAllReported) {
  EXPECT_THAT(parsed("a=1\na=2\n"), ElementsAre(Property{"a", "1", 1}, Property{"a", "2", 2}));
}

TEST(Properties, AnEntryKnowsTheLinesThatItOccupies) {
  const auto entries = parsed("a=1\n# comment\nb=2\\\n  3\\\n4\nc=5");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].line_end, 2);
  EXPECT_EQ(entries[1].line, 3);
  EXPECT_EQ(entries[1].line_end, 6);
  EXPECT_EQ(entries[2].line_end, 7);
}

TEST(Properties, AFileThatIsTooLargeIsRefused) {
  EXPECT_FALSE(parse_properties(std::string(kPropertiesBytesMax + 1, '#')));
  EXPECT_TRUE(parse_properties(std::string(kPropertiesBytesMax, '#')));
}

}  // namespace
}  // namespace drover

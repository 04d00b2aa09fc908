// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <gtest/gtest.h>

namespace drover {
namespace {

std::string json_of(std::string_view text) {
  std::string out = "[";
  append_json_string(out, text);
  return out.substr(1);
}

TEST(JsonString, EscapesOnlyWhatMustBeEscaped) {
  EXPECT_EQ(json_of(""), "\"\"");
  EXPECT_EQ(json_of("/a b/\xD1\x8F"), "\"/a b/\xD1\x8F\"");
  EXPECT_EQ(json_of("\"\\\n\r\t"), R"("\"\\\n\r\t")");
  EXPECT_EQ(json_of("a\x01\x1F\x7F"), R"("a\u0001\u001f\u007f")");
}

TEST(JsonString, ReplacesMalformedBytes) {
  EXPECT_EQ(json_of("a\xFF\xC0z"), "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"");
  EXPECT_EQ(json_of("\xEF\xBF\xBD"), "\"\xEF\xBF\xBD\"") << "a real U+FFFD stays";
}

}  // namespace
}  // namespace drover

// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace drover {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

TEST(Utf8, ValidTextIsLeftAlone) {
  for (const char* text : {"", "/a", "/\xC3\xA9", "/\xE2\x82\xAC", "\xF0\x9F\x90\x91", "\xEF\xBF\xBD"}) {
    EXPECT_EQ(to_valid_utf8(text), text);
  }
}

TEST(Utf8, EveryMalformedByteBecomesOneReplacement) {
  // The Java server returns `2f ff c0 80` like this in a reply to sync.
  EXPECT_EQ(to_valid_utf8("/\xFF\xC0\x80"), std::string("/") + kReplacement + kReplacement + kReplacement);
}

TEST(Utf8, OverlongFormsSurrogatesAndTruncatedSequencesAreMalformed) {
  for (const char* text : {"\xC0\xAF", "\xE0\x80\xAF", "\xF0\x80\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xE2\x82", "\xF0\x9F", "\x80", "\xF8\x88\x80\x80\x80"}) {
    const DecodedChar c = decode_utf8(text);
    EXPECT_EQ(c.code_point, 0xFFFDu) << text;
    EXPECT_EQ(c.length, 1u) << text;
  }
}

TEST(Utf8, ADecodedCharacterHasItsLength) {
  EXPECT_EQ(decode_utf8("a").code_point, 'a');
  EXPECT_EQ(decode_utf8("\xC3\xA9x").code_point, 0xE9u);
  EXPECT_EQ(decode_utf8("\xC3\xA9x").length, 2u);
  EXPECT_EQ(decode_utf8("\xE2\x82\xAC").length, 3u);
  EXPECT_EQ(decode_utf8("\xF0\x9F\x90\x91").code_point, 0x1F411u);
}

TEST(Utf8, CleaningIsIdempotent) {
  Random random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::uint64_t n = random.below(12); n > 0; --n) bytes.push_back(static_cast<char>(random.next()));
    const std::string clean = to_valid_utf8(bytes);
    EXPECT_EQ(to_valid_utf8(clean), clean);
  }
}

}  // namespace
}  // namespace drover

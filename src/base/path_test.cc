// SPDX-License-Identifier: Apache-2.0
#include "base/path.h"

#include <gtest/gtest.h>

#include <string>

namespace drover {
namespace {

std::string utf8(std::uint32_t c) {
  std::string s;
  if (c < 0x80) {
    s += static_cast<char>(c);
  } else if (c < 0x800) {
    s += static_cast<char>(0xC0 | (c >> 6));
    s += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    s += static_cast<char>(0xE0 | (c >> 12));
    s += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    s += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    s += static_cast<char>(0xF0 | (c >> 18));
    s += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    s += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    s += static_cast<char>(0x80 | (c & 0x3F));
  }
  return s;
}

TEST(Path, AcceptsWhatJavaAccepts) {
  for (const char* path :
       {"/", "/a", "/a/b", "/...", "/.a", "/a.", "/a..b/c", "/zookeeper/x", "/\xC3\xA9", "/a b"}) {
    EXPECT_TRUE(is_valid_path(path)) << path << ": " << invalid_path_reason(path);
  }
}

TEST(Path, RejectsWhatJavaRejects) {
  for (const char* path : {"",       "a",     "a/b",       "/a/",       "//",      "//a",      "/a//b",
                           "/.",     "/..",   "/a/.",      "/a/..",     "/a/../b", "/./a",     "/\x01",
                           "/a\x1F", "/\x7F", "/\xC2\x80", "/\xC2\x9F", "/\xFF",   "/\xC0\xAF"}) {
    EXPECT_FALSE(is_valid_path(path)) << path;
  }
  EXPECT_FALSE(is_valid_path(std::string_view("/a\0b", 4)));
}

TEST(Path, EveryCodePointIsAcceptedOrRejectedAsInJava) {
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == '/' || c == '.') continue;
    const bool legal =
        !(c <= 0x1F || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) || c >= 0xFFF0);
    EXPECT_EQ(is_valid_path("/x" + utf8(c) + "y"), legal) << std::hex << c;
  }
}

TEST(Path, WithinComparesWholeComponents) {
  EXPECT_TRUE(is_within("/a/b", "/a"));
  EXPECT_TRUE(is_within("/a", "/a"));
  EXPECT_TRUE(is_within("/a", "/"));
  EXPECT_FALSE(is_within("/ab", "/a"));
}

}  // namespace
}  // namespace drover

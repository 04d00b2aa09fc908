// SPDX-License-Identifier: Apache-2.0
#include "tools/text.h"

#include <gtest/gtest.h>

#include "tools/json.h"

namespace drover::tools {
namespace {

TEST(Text, TimesAreIsoInUtcAndInvalidOnesStayNumbers) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(1'700'000'000'125), "2023-11-14T22:13:20.125Z");
  EXPECT_EQ(time_text(-1), "-1 ms");
  EXPECT_EQ(time_text(INT64_MAX), "9223372036854775807 ms");
}

TEST(Text, EscapeSequencesFromFilesAreNeutralised) {
  EXPECT_EQ(printable("/a\x1b[31m"), "/a\\x1b[31m");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // the one-character CSI
  EXPECT_EQ(printable("日本\xff"), "日本\\xff");
  EXPECT_EQ(data_text(wire::Nullable{}), "null");
  EXPECT_EQ(data_text("0123456789", 4), "\"0123\"… of 10 bytes");
}

TEST(Text, NumbersAreHexWith0xOtherwiseDecimal) {
  EXPECT_EQ(parse_id("0x1F"), 31);
  EXPECT_EQ(parse_id("31"), 31);
  EXPECT_EQ(parse_id("0xffffffffffffffff"), -1);
  for (const char* wrong : {"", "0x", "1f", "-1", "0x10000000000000000", " 1"}) {
    EXPECT_EQ(parse_id(wrong), std::nullopt) << wrong;
  }
}

TEST(Text, EveryOpNameCanBeParsed) {
  for (const auto op :
       {wire::OpCode::kCreate, wire::OpCode::kCreateTtl, wire::OpCode::kMulti, wire::OpCode::kError}) {
    EXPECT_EQ(op_of_name(op_name(op)), op);
  }
  EXPECT_EQ(op_of_name("nosuch"), std::nullopt);
}

TEST(Json, AnyNodeNameGivesValidJson) {
  std::string line;
  JsonObject json(line);
  json.text("a", "\"\\\n\x01é\xff").number("b", -1).zxid("c", Zxid{31}).boolean("d", true).end();
  EXPECT_EQ(line, "{\"a\":\"\\\"\\\\\\n\\u0001é\xEF\xBF\xBD\",\"b\":-1,\"c\":\"0x1f\",\"d\":true}");
}

TEST(Json, DataIsTextOrBase64OrNull) {
  std::string line;
  JsonObject json(line);
  json.data("x", "text").data("y", std::string_view("\0\1", 2)).data("z", wire::Nullable{}).end();
  EXPECT_EQ(line, R"({"x":"text","yBase64":"AAE=","z":null})");
}

}  // namespace
}  // namespace drover::tools

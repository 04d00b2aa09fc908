// SPDX-License-Identifier: Apache-2.0
#include "http/pretty_json.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

TEST(PrettyJson, IndentsObjectsAndKeepsArraysOnOneLine) {
  PrettyJson json;
  json.begin_object();
  json.field("number", 12).field("half", 0.5).field("yes", true).key("none").null();
  json.key("empty").begin_array().end_array().key("nothing").begin_object().end_object();
  json.key("list").begin_array().value("a").value(2).end_array();
  json.key("objects").begin_array();
  json.begin_object().field("x", 1).end_object().begin_object().field("y", "z").end_object();
  json.end_array().end_object();
  EXPECT_EQ(json.take(), R"({
  "number" : 12,
  "half" : 0.5,
  "yes" : true,
  "none" : null,
  "empty" : [ ],
  "nothing" : { },
  "list" : [ "a", 2 ],
  "objects" : [ {
    "x" : 1
  }, {
    "y" : "z"
  } ]
})");
}

TEST(JsonText, EscapesCharactersThatJsonDoesNotAllow) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\t\x01/<é€😀"), "\"a\\\"b\\\\c\\n\\t\\u0001/<é€😀\"");
}

TEST(JsonText, IsAlwaysUtf8) {
  EXPECT_EQ(json_quoted("a\xff"
                        "b\xc3"),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
#include "http/text.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

TEST(HttpTarget, HasAPathAndDecodedParameters) {
  const auto target = parse_target("/commands/stmk?traceMask=12&name=a+b%20c&name=second&flag&=x#part");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/commands/stmk");
  EXPECT_EQ(target->query.at("traceMask"), "12");
  EXPECT_EQ(target->query.at("name"), "a b c");
  EXPECT_EQ(target->query.at("flag"), "");
  EXPECT_EQ(target->query.at(""), "x");
}

TEST(HttpTarget, KeepsAPlusInThePath) { EXPECT_EQ(parse_target("/a+b%2Fc")->path, "/a+b/c"); }

TEST(HttpTarget, IsRefusedWhenItCannotBeDecoded) {
  for (const char* wrong : {"", "commands", "*", "http://x/", "/%", "/%4", "/%zz", "/%00", "/?a=%f", "/?%00"})
    EXPECT_FALSE(parse_target(wrong)) << wrong;
}

TEST(HttpTarget, HasALimitedNumberOfParameters) {
  std::string target = "/?";
  for (int i = 0; i < 101; ++i) target += "k" + std::to_string(i) + "&";
  EXPECT_FALSE(parse_target(target));
}

TEST(HttpAuthorization, IsASchemeAndOneWord) {
  const auto credentials = parse_authorization("digest root:pw:x");
  ASSERT_TRUE(credentials);
  EXPECT_EQ(credentials->scheme, "digest");
  EXPECT_EQ(credentials->auth, "root:pw:x");
  for (const char* wrong : {"", "digest", "digest ", " digest a:b", "digest a:b c", "digest  a:b"})
    EXPECT_FALSE(parse_authorization(wrong)) << wrong;
}

TEST(JsonNumber, IsFoundInAFlatObjectOnly) {
  EXPECT_EQ(number_in_json(R"({"percentage": 25})", "percentage"), 25);
  EXPECT_EQ(number_in_json(R"({"a":"b","percentage":-1})", "percentage"), -1);
  for (const char* wrong : {"", "25", "[]", "{", R"({"percentage":"25"})", R"({"percentage":2.5})", "{}",
                            R"({"percentage":99999999999999999999})", "[[[[[[[[1]]]]]]]]"})
    EXPECT_FALSE(number_in_json(wrong, "percentage")) << wrong;
}

TEST(ForwardedFor, TheFirstItemIsTheClient) {
  EXPECT_EQ(forwarded_client("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(forwarded_client(" 10.1.2.3 , 192.168.0.1"), "10.1.2.3");
  EXPECT_EQ(forwarded_client(",::1,x"), "::1");
  EXPECT_EQ(forwarded_client(""), "");
  EXPECT_EQ(forwarded_client(","), "");
}

}  // namespace
}  // namespace drover::server

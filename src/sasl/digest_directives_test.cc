// SPDX-License-Identifier: Apache-2.0
#include "sasl/digest_directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace drover::sasl {
namespace {

using testing::HasSubstr;

constexpr DigestService kService = {.service = "zookeeper/zk-sasl-md5", .realm = "zk-sasl-md5"};

// As Java's client writes it.
constexpr std::string_view kResponse =
    R"(charset=utf-8,username="bob",realm="zk-sasl-md5",nonce="n",nc=00000001,cnonce="c",)"
    R"(digest-uri="zookeeper/zk-sasl-md5",maxbuf=65536,response=0123456789abcdef,qop=auth,authzid="bob")";

// What is wrong with Java's response after a change; empty: nothing.
std::string flaw_after(std::string_view old_text, std::string_view new_text) {
  std::string response(kResponse);
  const std::size_t place = response.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  response.replace(place, old_text.size(), new_text);
  const auto fine = check_digest_response(response, kService);
  return fine ? "" : fine.error();
}

TEST(DigestDirectives, AreReadWithQuotesEscapesBlanksAndEmptyElements) {
  const auto read = parse_directives(" , A=b ,\t,c = \"d, \\\"e\\\" \\\\\" ,, F=\"\"");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ(*find_directive(*read, "a"), "b");
  EXPECT_EQ(*find_directive(*read, "c"), "d, \"e\" \\");
  EXPECT_EQ(*find_directive(*read, "f"), "");
  EXPECT_EQ(find_directive(*read, "d"), nullptr);
}

TEST(DigestDirectives, MistakesAreFound) {
  for (const std::string& text : {std::string("a"), std::string("=b"), std::string("a=\"b"),
                                  std::string("a=\"b\\"), std::string("a=b c=d"), std::string("a=\"b\"c"),
                                  std::string("a=b\0", 4), std::string("\xc3\xa4=b")}) {
    EXPECT_FALSE(parse_directives(text)) << text;
  }
}

TEST(DigestDirectives, TheirNumberIsBounded) {
  std::string text;
  for (int i = 0; i < 33; ++i) text += "a=b,";
  EXPECT_FALSE(parse_directives(text));
}

TEST(DigestResponse, JavasIsFine) { EXPECT_TRUE(check_digest_response(kResponse, kService)); }

TEST(DigestResponse, EachDirectiveThatJavaWantsMustBeThere) {
  for (const char* name : {"username", "nonce", "cnonce", "nc", "digest-uri", "response", "realm"}) {
    // "cnonce=" contains "nonce=".
    EXPECT_NE(flaw_after("," + std::string(name) + "=", ",x-" + std::string(name) + "="), "") << name;
  }
}

TEST(DigestResponse, OnlyThisServicesResponsesAreFine) {
  EXPECT_THAT(flaw_after("realm=\"zk-sasl-md5\"", "realm=\"other\""), HasSubstr("realm"));
  EXPECT_THAT(flaw_after("\"zookeeper/zk-sasl-md5\"", "\"zookeeper/other\""), HasSubstr("digest-uri"));
  EXPECT_THAT(flaw_after("\"zookeeper/zk-sasl-md5\"", "\"zookeeper-quorum/zk-sasl-md5\""),
              HasSubstr("digest-uri"));
  EXPECT_EQ(flaw_after("\"zookeeper/zk-sasl-md5\"", "\"ZooKeeper/zk-sasl-md5\""), "");
}

TEST(DigestResponse, OnlyTheFirstUseOfANonceIsFine) {
  EXPECT_THAT(flaw_after("nc=00000001", "nc=00000002"), HasSubstr("nonce count"));
  EXPECT_THAT(flaw_after("nc=00000001", "nc=1"), HasSubstr("nonce count"));
}

TEST(DigestResponse, ASecurityLayerIsRefused) {
  EXPECT_THAT(flaw_after("qop=auth", "qop=auth-int"), HasSubstr("qop"));
  EXPECT_EQ(flaw_after(",qop=auth", ""), "");
}

TEST(DigestResponse, ARepeatedDirectiveIsRefused) {
  EXPECT_THAT(flaw_after("authzid=\"bob\"", "USERNAME=\"bob\""), HasSubstr("twice"));
}

TEST(DigestResponse, ItsLengthIsBounded) {
  EXPECT_THAT(flaw_after("\"c\"", "\"" + std::string(4096, 'c') + "\""), HasSubstr("4096"));
}

TEST(DigestChallenge, OnlyARealmMayOccurSeveralTimes) {
  EXPECT_TRUE(check_digest_challenge(R"(realm="a",realm="b",nonce="n",algorithm=md5-sess)"));
  EXPECT_FALSE(check_digest_challenge(R"(realm="a",nonce="n",nonce="n",algorithm=md5-sess)"));
}

TEST(DigestChallenge, AProofIsNone) {
  EXPECT_FALSE(check_digest_challenge("rspauth=0123"));
  EXPECT_FALSE(check_digest_challenge("rspauth=0123,nonce=n,algorithm=md5-sess"));
  EXPECT_FALSE(check_digest_challenge(R"(nonce="n")"));
  EXPECT_FALSE(check_digest_challenge("nonce=n,algorithm=md5-sess,x=" + std::string(2048, 'x')));
}

}  // namespace
}  // namespace drover::sasl

// SPDX-License-Identifier: Apache-2.0
#include "cli/common/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "cli/commands/quota_text.h"
#include "cli/common/json.h"
#include "cli/common/progress.h"
#include "cli/ensemble/config_text.h"

namespace drover::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, StatIsElevenLines) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  Stat stat;
  stat.czxid = Zxid{2};
  stat.mzxid = Zxid{0x1'0000'0003};
  stat.ctime_ms = 1'794'724'364'999;
  stat.ephemeral_owner = SessionId{-1};
  stat.data_length = 5;
  EXPECT_EQ(stat_text(stat),
            "cZxid = 0x2\nctime = Sun Nov 15 06:32:44 UTC 2026\nmZxid = 0x100000003\n"
            "mtime = Thu Jan 01 00:00:00 UTC 1970\npZxid = 0x0\ncversion = 0\ndataVersion = 0\n"
            "aclVersion = 0\nephemeralOwner = 0xffffffffffffffff\ndataLength = 5\nnumChildren = 0\n");
}

TEST(Text, AclIsPrintedAsInJavasShell) {
  EXPECT_EQ(acl_text(open_acl()), "'world,'anyone\n: cdrwa\n");
  EXPECT_EQ(acl_text({{Permission::kAll, "digest", "bob\033]0;x\a\n'world,'anyone:\u009b1m"}}),
            "'digest,'bob?]0;x?"
            "?'world,'anyone:?1m\n: cdrwa\n")
      << "an id cannot write to the terminal, nor a line of its own";
  EXPECT_EQ(permissions_text(Permission::kAdmin | Permission::kRead), "ra");
}

TEST(Text, AclIsParsedAndMalformedEntriesAreReported) {
  std::vector<std::string> complaints;
  EXPECT_THAT(parse_acl("world:anyone:r,digest:bob:a:b=:cw", complaints),
              ElementsAre(Acl{Permission::kRead, "world", "anyone"},
                          Acl{Permission::kCreate | Permission::kWrite, "digest", "bob:a:b="}));
  EXPECT_THAT(complaints, IsEmpty());
  EXPECT_THAT(parse_acl(",,", complaints), IsEmpty());
  EXPECT_THAT(parse_acl("world", complaints), IsEmpty());
  EXPECT_EQ(parse_acl("world:anyone:rx,", complaints).size(), 1u);
  EXPECT_THAT(complaints, ElementsAre("world does not have the form scheme:id:perm", "Unknown perm type: x"));
}

TEST(Text, BadPathErrorNamesThePosition) {
  EXPECT_FALSE(path_problem("/"));
  EXPECT_FALSE(path_problem("/a/b.c/..d/日本"));
  EXPECT_EQ(path_problem(""), "Path length must be > 0");
  EXPECT_EQ(path_problem("a"), "Path must start with / character");
  EXPECT_EQ(path_problem("/a/"), "Path must not end with / character");
  EXPECT_EQ(path_problem("/a//b"), "Invalid path string \"/a//b\" caused by empty node name specified @3");
  EXPECT_EQ(path_problem("/a/./b"), "Invalid path string \"/a/./b\" caused by relative paths not allowed @3");
  EXPECT_EQ(path_problem("/a/.."), "Invalid path string \"/a/..\" caused by relative paths not allowed @4");
  EXPECT_EQ(path_problem("/日\x01"), "Invalid path string \"/日\x01\" caused by invalid character @2");
  EXPECT_TRUE(path_problem("/\xff"));
}

TEST(Text, NumbersAreWholeAndInRange) {
  EXPECT_EQ(parse_int("-5"), -5);
  EXPECT_EQ(parse_int("+5"), 5);
  EXPECT_FALSE(parse_int("5x") || parse_int("") || parse_int("2147483648") || parse_int("+-5"));
  EXPECT_EQ(parse_long("ff", 16), 255);
}

// As Netty 4.1.48 prints them.
TEST(Text, BytesAreDumpedAsZooKeeperDoes) {
  EXPECT_EQ(hex_dump(""), "");
  EXPECT_EQ(hex_dump("\x1c%.7@IR[dmv\x7f\x88\x91\x9a ~"),
            "         +-------------------------------------------------+\n"
            "         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |\n"
            "+--------+-------------------------------------------------+----------------+\n"
            "|00000000| 1c 25 2e 37 40 49 52 5b 64 6d 76 7f 88 91 9a 20 |.%.7@IR[dmv.... |\n"
            "|00000010| 7e                                              |~               |\n"
            "+--------+-------------------------------------------------+----------------+");
  const std::string large = hex_dump(std::string(0x10'0010, '\0'));
  EXPECT_NE(large.find("\n|00100000| 00 00 "), std::string::npos);
}

TEST(Text, ControlCharactersAreRemovedForATerminal) {
  EXPECT_EQ(printable("a\tb\nс\033[0m\xff"), "a\tb\nс\xEF\xBF\xBD[0m\xEF\xBF\xBD");
}

TEST(Json, EscapesOnlyWhatMustBeEscaped) {
  EXPECT_EQ(json_string("a\"\\\n\x01я\xff"), "\"a\\\"\\\\\\n\\u0001я\xEF\xBF\xBD\"");
  NodeData node;
  node.data = "\xff";
  EXPECT_EQ(JsonObject().text("path", "/a").data(node).str(), R"({"path":"/a","data_base64":"/w=="})");
  node.is_without_data = true;
  EXPECT_EQ(JsonObject().data(node).boolean("ok", true).str(), R"({"data":null,"ok":true})");
}

TEST(Quotas, AreParsedAndWrittenInZooKeepersFormat) {
  const auto quota = Quota::parse("count=3,bytes=-1=;byteHardLimit=100;countHardLimit=5");
  ASSERT_TRUE(quota);
  EXPECT_EQ(quota->get(Quota::kCount), 3);
  EXPECT_EQ(quota->get(Quota::kBytesHard), 100);
  EXPECT_EQ(quota->text(), "count=3,bytes=-1=;byteHardLimit=100;countHardLimit=5");
  EXPECT_EQ(Quota::parse("count=3,bytes=7")->text(), "count=3,bytes=7");
  EXPECT_FALSE(Quota::parse("count"));
}

TEST(Members, AreFoundInAConfiguration) {
  const std::string config =
      "server.10=c:1:2:participant;[::1]:2183\nserver.2=b:1:2;2182\n# x\nversion=100000000\n";
  EXPECT_EQ(client_addresses(config), "100000000 [::1]:2183,0.0.0.0:2182");
  EXPECT_EQ(member_lines(config).value(), "server.10=c:1:2:participant;[::1]:2183\nserver.2=b:1:2;2182\n");
}

TEST(Members, AreListedInTheOrderOfJavasHashTable) {
  EXPECT_EQ(client_addresses("server.1=a:1:2;h:1\nserver.2=a:1:2;h:2\nserver.3=a:1:2;h:3\nversion=1"),
            "1 h:2,h:1,h:3");
}

TEST(Members, FileWithOtherLinesIsRefused) {
  EXPECT_EQ(member_lines("server.1=a:1:2\ninitLimit=5").error(), "Unrecognised parameter: initLimit");
  EXPECT_TRUE(member_lines("server.1=foo").error().starts_with("foo does not have the form server_config"));
}

TEST(ProgressText, IsABarOnlyIfTheTotalIsKnown) {
  EXPECT_EQ(progress_text("listing", 7, 0), "listing 7");
  EXPECT_EQ(progress_text("deleting", 1, 2), "deleting [###############---------------]  50 %  1/2");
}

}  // namespace
}  // namespace drover::cli

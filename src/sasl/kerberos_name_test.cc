// SPDX-License-Identifier: Apache-2.0
#include "sasl/kerberos_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace drover::sasl {
namespace {

using testing::HasSubstr;

AuthToLocal rules_of(const std::string& text) {
  auto rules = AuthToLocal::parse(text, "EXAMPLE.COM");
  EXPECT_TRUE(rules) << text << ": " << rules.error();
  return *std::move(rules);
}

std::string id_of(const std::string& principal, const KerberosIdOptions& options = {},
                  const std::string& rules = "DEFAULT") {
  const auto id = client_port_rule(rules_of(rules), options)({principal, principal});
  return id ? *id : "refused: " + id.error();
}

struct Row {
  const char* rules;
  const char* name;
  const char* short_name;  // null: Java throws NoMatchingRule
};

// What KerberosName.getShortName() of ZooKeeper 3.8.0 returns, with EXAMPLE.COM as the default realm.
const Row kJava[] = {
    {"DEFAULT", "bob", "bob"},
    {"DEFAULT", "bob@EXAMPLE.COM", "bob"},
    {"DEFAULT", "bob@OTHER.COM", nullptr},
    {"DEFAULT", "hbase/node1@EXAMPLE.COM", "hbase"},
    {"DEFAULT", "hbase/node1@OTHER.COM", nullptr},
    {"DEFAULT", "bob/admin@EXAMPLE.COM", "bob"},
    {"DEFAULT", "hbase/node1", "hbase/node1"},
    {"DEFAULT", "@EXAMPLE.COM", ""},
    {"DEFAULT", "bob@", nullptr},
    {"DEFAULT", "/host@EXAMPLE.COM", ""},
    {"DEFAULT", "bob/@EXAMPLE.COM", "bob"},
    {"DEFAULT", "", ""},
    {"DEFAULT", "super", "super"},
    {"DEFAULT", "@", nullptr},
    {"DEFAULT", "a/b/c", "a/b/c"},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "bob@EXAMPLE.COM", "bob"},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "bob@OTHER.COM", nullptr},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "hbase/node1@EXAMPLE.COM", "hbase"},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "bob/admin@EXAMPLE.COM", "bob"},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "@EXAMPLE.COM", ""},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "/host@EXAMPLE.COM", ""},
    {"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*// DEFAULT", "bob/@EXAMPLE.COM", "bob"},
    {"RULE:[2:$1]", "bob@EXAMPLE.COM", nullptr},
    {"RULE:[2:$1]", "bob@OTHER.COM", nullptr},
    {"RULE:[2:$1]", "hbase/node1@EXAMPLE.COM", "hbase"},
    {"RULE:[2:$1]", "hbase/node1@OTHER.COM", "hbase"},
    {"RULE:[2:$1]", "bob/admin@EXAMPLE.COM", "bob"},
    {"RULE:[2:$1]", "@EXAMPLE.COM", nullptr},
    {"RULE:[2:$1]", "/host@EXAMPLE.COM", ""},
    {"RULE:[2:$1]", "bob/@EXAMPLE.COM", "bob"},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "bob@EXAMPLE.COM", "xox"},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "bob@OTHER.COM", "xox"},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "hbase/node1@EXAMPLE.COM",
     "hb"},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "hbase/node1@OTHER.COM",
     nullptr},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "bob/admin@EXAMPLE.COM",
     "bob"},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "@EXAMPLE.COM", ""},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "/host@EXAMPLE.COM", ""},
    {"RULE:[2:$1@$0](hbase@EXAMPLE.COM)s/.*/hb/\nRULE:[1:$1](b.*)s/b/x/g\nDEFAULT", "bob/@EXAMPLE.COM",
     "bob"},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "bob@EXAMPLE.COM", nullptr},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "bob@OTHER.COM", nullptr},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "bob/admin@EXAMPLE.COM", "bob"},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "@EXAMPLE.COM", nullptr},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1@$0]", "bob@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1@$0]", "bob@OTHER.COM", nullptr},
    {"RULE:[1:$1@$0]", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1@$0]", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1@$0]", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1@$0]", "@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1@$0]", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1@$0]", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:a$0b$1c]s/[.]//g", "bob@EXAMPLE.COM", "aEXAMPLECOMbbobc"},
    {"RULE:[1:a$0b$1c]s/[.]//g", "bob@OTHER.COM", "aOTHERCOMbbobc"},
    {"RULE:[1:a$0b$1c]s/[.]//g", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:a$0b$1c]s/[.]//g", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:a$0b$1c]s/[.]//g", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:a$0b$1c]s/[.]//g", "@EXAMPLE.COM", "aEXAMPLECOMbc"},
    {"RULE:[1:a$0b$1c]s/[.]//g", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:a$0b$1c]s/[.]//g", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "bob@EXAMPLE.COM", "obb"},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "bob@OTHER.COM", "obb"},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](bob|alice)s/(.)(.)/$2$1/", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/o*/-/g", "bob@EXAMPLE.COM", "-b--b-"},
    {"RULE:[1:$1]s/o*/-/g", "bob@OTHER.COM", "-b--b-"},
    {"RULE:[1:$1]s/o*/-/g", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/o*/-/g", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1]s/o*/-/g", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/o*/-/g", "@EXAMPLE.COM", "-"},
    {"RULE:[1:$1]s/o*/-/g", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/o*/-/g", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b/\\$/", "bob@EXAMPLE.COM", "$ob"},
    {"RULE:[1:$1]s/b/\\$/", "bob@OTHER.COM", "$ob"},
    {"RULE:[1:$1]s/b/\\$/", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b/\\$/", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1]s/b/\\$/", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b/\\$/", "@EXAMPLE.COM", ""},
    {"RULE:[1:$1]s/b/\\$/", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b/\\$/", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](BOB)", "bob@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](BOB)", "bob@OTHER.COM", nullptr},
    {"RULE:[1:$1](BOB)", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](BOB)", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1](BOB)", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](BOB)", "@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](BOB)", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1](BOB)", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "bob@EXAMPLE.COM", "bob"},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "bob@OTHER.COM", "bob"},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "hbase/node1@EXAMPLE.COM", "node1"},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "hbase/node1@OTHER.COM", "node1"},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "bob/admin@EXAMPLE.COM", "admin"},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "@EXAMPLE.COM", ""},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "/host@EXAMPLE.COM", "host"},
    {"RULE:[1:$1]s/x/y/RULE:[2:$2]DEFAULT", "bob/@EXAMPLE.COM", ""},
    {"RULE:[1:$1]()", "bob@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]()", "bob@OTHER.COM", nullptr},
    {"RULE:[1:$1]()", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]()", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1]()", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]()", "@EXAMPLE.COM", ""},
    {"RULE:[1:$1]()", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]()", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:]", "bob@EXAMPLE.COM", ""},
    {"RULE:[1:]", "bob@OTHER.COM", ""},
    {"RULE:[1:]", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:]", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:]", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:]", "@EXAMPLE.COM", ""},
    {"RULE:[1:]", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:]", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b//g", "bob@EXAMPLE.COM", "o"},
    {"RULE:[1:$1]s/b//g", "bob@OTHER.COM", "o"},
    {"RULE:[1:$1]s/b//g", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b//g", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1]s/b//g", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b//g", "@EXAMPLE.COM", ""},
    {"RULE:[1:$1]s/b//g", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/b//g", "bob/@EXAMPLE.COM", nullptr},
    {"  DEFAULT  ", "bob@EXAMPLE.COM", "bob"},
    {"  DEFAULT  ", "bob@OTHER.COM", nullptr},
    {"  DEFAULT  ", "hbase/node1@EXAMPLE.COM", "hbase"},
    {"  DEFAULT  ", "hbase/node1@OTHER.COM", nullptr},
    {"  DEFAULT  ", "bob/admin@EXAMPLE.COM", "bob"},
    {"  DEFAULT  ", "@EXAMPLE.COM", ""},
    {"  DEFAULT  ", "/host@EXAMPLE.COM", ""},
    {"  DEFAULT  ", "bob/@EXAMPLE.COM", "bob"},
    {"", "bob@EXAMPLE.COM", nullptr},
    {"", "bob@OTHER.COM", nullptr},
    {"", "hbase/node1@EXAMPLE.COM", nullptr},
    {"", "hbase/node1@OTHER.COM", nullptr},
    {"", "bob/admin@EXAMPLE.COM", nullptr},
    {"", "@EXAMPLE.COM", nullptr},
    {"", "/host@EXAMPLE.COM", nullptr},
    {"", "bob/@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/(b)/$12/", "bob@EXAMPLE.COM", "b2ob"},
    {"RULE:[1:$1]s/(b)/$12/", "bob@OTHER.COM", "b2ob"},
    {"RULE:[1:$1]s/(b)/$12/", "hbase/node1@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/(b)/$12/", "hbase/node1@OTHER.COM", nullptr},
    {"RULE:[1:$1]s/(b)/$12/", "bob/admin@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/(b)/$12/", "@EXAMPLE.COM", ""},
    {"RULE:[1:$1]s/(b)/$12/", "/host@EXAMPLE.COM", nullptr},
    {"RULE:[1:$1]s/(b)/$12/", "bob/@EXAMPLE.COM", nullptr},
};

TEST(AuthToLocal, GivesJavasShortNames) {
  for (const Row& row : kJava) {
    const auto name = parse_kerberos_name(row.name);
    ASSERT_TRUE(name) << row.name;
    const auto short_name = rules_of(row.rules).short_name(*name);
    if (row.short_name == nullptr) {
      EXPECT_EQ(short_name, std::nullopt) << row.rules << " " << row.name;
    } else {
      EXPECT_EQ(short_name, row.short_name) << row.rules << " " << row.name;
    }
  }
}

TEST(AuthToLocal, RulesThatJavaRefusesAreRefused) {
  for (const char* rules : {
           "RULE:[:$1]",
           "RULE:[1:$1",
           "NONSENSE",
           "RULE:[1:$1](a",
           "DEFAULTx",
           "RULE:[1:$1]s/b/c",
           "RULE:[1:$1](*)",
           "RULE:[99999999999:$1]",
           "RULE:[1:$1] s/b/c/",
       }) {
    EXPECT_FALSE(AuthToLocal::parse(rules, "EXAMPLE.COM")) << rules;
  }
}

TEST(AuthToLocal, RulesThatCouldNeverGiveANameAreRefused) {
  // Java throws when a name comes that they are tried on.
  for (const char* rules : {"RULE:[1:$2]", "RULE:[1:$9]", "RULE:[1:$]", "RULE:[1:$1]s/b/$1/",
                            "RULE:[1:$1]s/b/$x/", "RULE:[1:$1]s/b/x\\/"}) {
    EXPECT_FALSE(AuthToLocal::parse(rules, "EXAMPLE.COM")) << rules;
  }
}

TEST(AuthToLocal, PatternsThatMeanSomethingElseInJavaAreRefused) {
  for (const char* pattern : {"(?i)bob", "\\p{L}+", "a++", "[a&&b]", "[a[b]]", "\\Qa", "(?<n>a)", "(a)\\1",
                              "[]a]", "a{2", "[a", "\\"}) {
    const auto rules = AuthToLocal::parse("RULE:[1:$1]s/" + std::string(pattern) + "/x/", "EXAMPLE.COM");
    ASSERT_FALSE(rules) << pattern;
    EXPECT_THAT(rules.error(), HasSubstr("not supported"));
  }
}

TEST(AuthToLocal, SearchesThatNeverEndAreRefused) {
  for (const char* pattern : {"(a*)*b", "(a|a)+b", "((ab)?c)*d", "(a+){9}b"}) {
    EXPECT_FALSE(AuthToLocal::parse("RULE:[1:$1]s/" + std::string(pattern) + "/x/", "R")) << pattern;
  }
  EXPECT_TRUE(AuthToLocal::parse("RULE:[1:$1]s/(-.*)?x[ab]*(a|b)/x/", "R"));
}

TEST(AuthToLocal, ALongNameIsNotSearched) {
  const auto rules = rules_of("RULE:[1:$1$1$1](.*)s/x*$/y/");
  EXPECT_EQ(rules.short_name({.service = std::string(512, 'a'), .realm = "EXAMPLE.COM"}), std::nullopt);
}

TEST(KerberosName, MalformedNamesAreRefused) {
  for (const std::string& name :
       {std::string("a/b/c@EXAMPLE.COM"), std::string("a@b@EXAMPLE.COM"), std::string("a@b/c"),
        std::string("a\0b@R", 5), std::string("a\nb"), std::string(513, 'a')}) {
    EXPECT_FALSE(parse_kerberos_name(name)) << name;
  }
}

TEST(KerberosName, WithoutAnAtTheWholeTextIsTheName) {
  const auto name = parse_kerberos_name("a/b/c");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->service, "a/b/c");
  EXPECT_FALSE(name->host);
  EXPECT_FALSE(name->realm);
}

TEST(ClientPortRule, HostAndRealmAreRemovedOnDemand) {
  const std::string name = "hbase/node1@EXAMPLE.COM";
  EXPECT_EQ(id_of(name), "hbase/node1@EXAMPLE.COM");
  EXPECT_EQ(id_of(name, {.remove_host = true}), "hbase@EXAMPLE.COM");
  EXPECT_EQ(id_of(name, {.remove_realm = true}), "hbase/node1");
  EXPECT_EQ(id_of(name, {.remove_host = true, .remove_realm = true}), "hbase");
  EXPECT_EQ(id_of("bob@EXAMPLE.COM", {.remove_host = true}), "bob@EXAMPLE.COM");
}

TEST(ClientPortRule, TheShortNameComesFromTheRules) {
  EXPECT_EQ(id_of("hbase/node1@EXAMPLE.COM", {}, "RULE:[2:$1]s/base/b/ DEFAULT"), "hb/node1@EXAMPLE.COM");
}

TEST(ClientPortRule, AUserOfDigestMd5KeepsTheName) {
  EXPECT_EQ(id_of("bob"), "bob");
  EXPECT_EQ(id_of("bob", {.remove_host = true, .remove_realm = true}, "RULE:[1:$1]s/b/x/"), "bob");
}

TEST(ClientPortRule, WhatThePeerAsksForHasNoInfluence) {
  const auto rule = client_port_rule(rules_of("DEFAULT"), {});
  EXPECT_EQ(rule({.authentication_id = "bob@EXAMPLE.COM", .requested_id = "super"}), "bob@EXAMPLE.COM");
}

TEST(ClientPortRule, WithoutARuleThatAppliesThePeerIsWhomItHasProvenToBe) {
  const auto rule = client_port_rule(rules_of("DEFAULT"), {.remove_host = true, .remove_realm = true});
  EXPECT_EQ(rule({.authentication_id = "bob@OTHER.COM", .requested_id = "bob@OTHER.COM"}), "bob@OTHER.COM");
  EXPECT_FALSE(rule({.authentication_id = "bob@OTHER.COM", .requested_id = "super"}));
}

TEST(ClientPortRule, NoOneGetsAnEmptyId) {
  EXPECT_THAT(id_of("@EXAMPLE.COM", {.remove_realm = true}), HasSubstr("refused"));
  EXPECT_THAT(id_of(""), HasSubstr("refused"));
}

QuorumNames of_two_nodes() {
  return {.realm = "EXAMPLE.COM",
          .is_member = [](std::string_view host) { return host == "node1" || host == "node2"; }};
}

TEST(QuorumRule, ThePrincipalNamesAHostOfTheEnsemble) {
  const auto rule = quorum_rule(of_two_nodes());
  for (const char* name : {"zookeeper/node2@EXAMPLE.COM", "learner/node1@EXAMPLE.COM"}) {
    EXPECT_EQ(rule({.authentication_id = name, .requested_id = name}), name);
  }
}

// CVE-2023-44981: without an instance, Java 3.8.2 checked nothing. The others are what else a KDC may know.
TEST(QuorumRule, EveryOtherPrincipalOfTheRealmIsRefused) {
  const auto rule = quorum_rule(of_two_nodes());
  for (const char* name : {"eve@EXAMPLE.COM",
                           "eve",
                           "node1@EXAMPLE.COM",
                           "node1",
                           "zookeeper@EXAMPLE.COM",
                           "zookeeper",
                           "zookeeper/node3@EXAMPLE.COM",
                           "zookeeper/@EXAMPLE.COM",
                           "/node1@EXAMPLE.COM",
                           "zookeeper/node1",
                           "zookeeper/node1@",
                           "zookeeper/NODE1@EXAMPLE.COM",
                           "zookeeper/node1.@EXAMPLE.COM",
                           "zookeeper/node1.evil.org@EXAMPLE.COM",
                           "zookeeper/ node1@EXAMPLE.COM",
                           "a/b/node1@EXAMPLE.COM",
                           "a/node1/b@EXAMPLE.COM",
                           "zookeeper/node1@EVIL.ORG@EXAMPLE.COM",
                           "zookeeper/@node1",
                           "zookeeper/eve@node1",
                           "zookeeper/127.0.0.1@EXAMPLE.COM",
                           "zookeeper\\/node1@EXAMPLE.COM",
                           "zookeeper/node1\\@EXAMPLE.COM@EXAMPLE.COM",
                           "",
                           "/",
                           "@",
                           "/@",
                           "//@@"}) {
    EXPECT_FALSE(rule({.authentication_id = name, .requested_id = name})) << name;
  }
}

// A realm that ours trusts has a "zookeeper/node1" of its own.
TEST(QuorumRule, ThePrincipalIsOfTheRealmOfTheServers) {
  const auto rule = quorum_rule(of_two_nodes());
  for (const char* name : {"zookeeper/node1@EVIL.ORG", "zookeeper/node1@example.com"}) {
    EXPECT_FALSE(rule({.authentication_id = name, .requested_id = name})) << name;
  }
}

TEST(QuorumRule, MembersMayChange) {
  std::set<std::string, std::less<>> members = {"node1"};
  const auto rule =
      quorum_rule({.realm = "R", .is_member = [&](std::string_view host) { return members.contains(host); }});
  const ProvenPeer node2{.authentication_id = "zk/node2@R", .requested_id = "zk/node2@R"};
  EXPECT_FALSE(rule(node2));
  members.insert("node2");
  EXPECT_TRUE(rule(node2));
}

TEST(QuorumRule, NobodyActsAsAnother) {
  const auto rule = quorum_rule(of_two_nodes());
  for (const char* wanted : {"zookeeper/node2@EXAMPLE.COM", "zookeeper/node1", "node1", ""}) {
    EXPECT_FALSE(rule({.authentication_id = "zookeeper/node1@EXAMPLE.COM", .requested_id = wanted}));
    EXPECT_FALSE(
        rule({.authentication_id = "eve@EXAMPLE.COM", .requested_id = "zookeeper/node1@EXAMPLE.COM"}));
  }
}

}  // namespace
}  // namespace drover::sasl

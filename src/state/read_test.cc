// SPDX-License-Identifier: Apache-2.0
//
// Read operations (docs/client-protocol.md, "Operations").
#include "state/read.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "state/read_testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::acl_bytes;
using wire::testing::from_hex;
using wire::testing::multi_body;
using wire::testing::path_body;
using wire::testing::path_type_body;
using wire::testing::path_watch_body;
using wire::testing::to_hex;

class Read : public ::testing::Test {
 protected:
  void SetUp() override {
    leader_.create("/a", {.data = "hello"});
    leader_.create("/a/x");
    leader_.create("/a/y", {.data = std::nullopt});
    leader_.create("/secret", {.acl = acl_bytes({{31, {"digest", "bob:hash"}}})});
  }

  Leader leader_;
  Connection c_{leader_.machine};
};

const OpCode kPathReads[] = {OpCode::kExists,       OpCode::kGetData, OpCode::kGetChildren,
                             OpCode::kGetChildren2, OpCode::kGetAcl,  OpCode::kGetAllChildrenNumber};

TEST_F(Read, ExistsShowsTheStat) {
  const Reply reply = c_.ask(OpCode::kExists, path_watch_body("/a"));
  wire::Reader r(reply.body);
  EXPECT_EQ(wire::decode_stat(r), leader_.stat("/a"));
  EXPECT_TRUE(r.ok() && r.at_end());
}

TEST_F(Read, GetDataShowsDataAndStatAndKeepsNull) {
  const Reply reply = c_.ask(OpCode::kGetData, path_watch_body("/a"));
  wire::Reader r(reply.body);
  EXPECT_EQ(r.buffer(), "hello");
  EXPECT_EQ(wire::decode_stat(r), leader_.stat("/a"));
  EXPECT_TRUE(r.at_end());
  EXPECT_EQ(to_hex(c_.ask(OpCode::kGetData, path_watch_body("/a/y")).body).substr(0, 8), "ffffffff");
}

TEST_F(Read, GetChildrenReturnsNamesAndGetChildren2AlsoTheStat) {
  for (const OpCode op : {OpCode::kGetChildren, OpCode::kGetChildren2}) {
    const Reply reply = c_.ask(op, path_watch_body("/a"));
    wire::Reader r(reply.body);
    EXPECT_EQ(r.i32(), 2);
    std::set<std::string> names;
    for (int i = 0; i < 2; ++i) names.emplace(r.string());
    EXPECT_EQ(names, (std::set<std::string>{"x", "y"}));
    if (op == OpCode::kGetChildren2) {
      EXPECT_EQ(wire::decode_stat(r), leader_.stat("/a"));
    }
    EXPECT_TRUE(r.ok() && r.at_end());
  }
}

TEST_F(Read, InvalidPathsAreReportedAsMissing) {
  for (const OpCode op : kPathReads) {
    for (const std::string_view path : {"a", "//", "/x/", "/none", "\xFF\xFE"}) {
      EXPECT_EQ(c_.error(op, path_watch_body(path)), ErrorCode::kNoNode)
          << static_cast<int>(op) << " " << path;
    }
    const ErrorCode nul = c_.error(op, path_watch_body(std::string_view("/\0", 2)));
    EXPECT_EQ(nul, op == OpCode::kExists ? ErrorCode::kBadArguments : ErrorCode::kNoNode)
        << static_cast<int>(op);
    EXPECT_EQ(c_.error(op, path_watch_body(std::nullopt)), ErrorCode::kMarshallingError)
        << static_cast<int>(op);
    EXPECT_EQ(c_.error(op, ""), ErrorCode::kMarshallingError) << static_cast<int>(op);
    EXPECT_EQ(c_.error(op, path_watch_body("")), ErrorCode::kOk) << "the root, op " << static_cast<int>(op);
  }
}

TEST_F(Read, EveryReadNeedsReadPermission) {
  for (const OpCode op : kPathReads) {
    EXPECT_EQ(c_.error(op, path_watch_body("/secret", true)), ErrorCode::kNoAuth) << static_cast<int>(op);
  }
  EXPECT_TRUE(c_.watches.empty()) << "and no watch is left behind";
  c_.who.push_back({"digest", "bob:hash"});
  for (const OpCode op : kPathReads) EXPECT_EQ(c_.error(op, path_watch_body("/secret")), ErrorCode::kOk);
}

TEST_F(Read, GetAclMasksPasswordsWithoutAdminPermission) {
  leader_.create("/half", {.acl = acl_bytes({{1, {"world", "anyone"}}, {31, {"digest", "bob:hash"}}})});
  const std::string masked = acl_bytes({{1, {"world", "anyone"}}, {31, {"digest", "bob:x"}}});
  const std::string shown = c_.ask(OpCode::kGetAcl, path_body("/half")).body;
  EXPECT_EQ(to_hex(shown.substr(0, masked.size())), to_hex(masked));
  wire::Reader r(std::string_view(shown).substr(masked.size()));
  EXPECT_EQ(wire::decode_stat(r), leader_.stat("/half"));

  c_.who.push_back({"digest", "bob:hash"});
  const std::string full = acl_bytes({{1, {"world", "anyone"}}, {31, {"digest", "bob:hash"}}});
  EXPECT_EQ(c_.ask(OpCode::kGetAcl, path_body("/half")).body.substr(0, full.size()), full);
}

TEST_F(Read, GetAclNeedsReadOrAdmin) {
  leader_.create("/admin", {.acl = acl_bytes({{wire::kAdmin, {"world", "anyone"}}})});
  leader_.create("/write", {.acl = acl_bytes({{wire::kWrite, {"world", "anyone"}}})});
  EXPECT_EQ(c_.error(OpCode::kGetAcl, path_body("/admin")), ErrorCode::kOk);
  EXPECT_EQ(c_.error(OpCode::kGetAcl, path_body("/write")), ErrorCode::kNoAuth);
}

TEST_F(Read, GetAllChildrenNumberCountsDescendants) {
  leader_.create("/a/x/deep");
  const auto number = [&](std::string_view path) {
    return to_hex(c_.ask(OpCode::kGetAllChildrenNumber, path_body(path)).body);
  };
  EXPECT_EQ(number("/a"), "00000003");
  EXPECT_EQ(number("/a/y"), "00000000");
  EXPECT_EQ(number("/"), "00000008");  // our 5, /zookeeper and its two children
  EXPECT_EQ(number(""), "00000009") << "Java's table holds the root twice";
}

TEST_F(Read, GetEphemeralsListsTheSessionsNodesByPrefix) {
  const Who mine{.session = SessionId{42}};
  leader_.create("/a/e1", {.flags = wire::kEphemeral}, mine);
  leader_.create("/b", {.flags = wire::kEphemeral}, mine);
  leader_.create("/others", {.flags = wire::kEphemeral}, {.session = SessionId{43}});
  c_.session = SessionId{42};
  const auto paths = [&](const wire::Nullable& prefix) {
    const Reply reply = c_.ask(OpCode::kGetEphemerals, path_body(prefix));
    wire::Reader r(reply.body);
    std::set<std::string> set;
    for (std::int32_t n = r.i32(); n > 0; --n) set.emplace(r.string());
    EXPECT_TRUE(r.ok() && r.at_end());
    return set;
  };
  const std::set<std::string> all{"/a/e1", "/b"};
  for (const wire::Nullable prefix : {wire::Nullable(std::nullopt), wire::Nullable(""), wire::Nullable("/"),
                                      wire::Nullable("  "), wire::Nullable(std::string_view("/\0", 2))}) {
    EXPECT_EQ(paths(prefix), all);
  }
  EXPECT_EQ(paths("/a"), std::set<std::string>{"/a/e1"});
  EXPECT_EQ(paths("/a/e"), std::set<std::string>{"/a/e1"}) << "a prefix of text, not of components";
  EXPECT_EQ(paths("/none"), std::set<std::string>{});
  c_.session = SessionId{44};
  EXPECT_EQ(paths("/"), std::set<std::string>{});
}

TEST_F(Read, SyncEchoesAnyPath) {
  EXPECT_EQ(to_hex(c_.ask(OpCode::kSync, path_body("/none")).body), "000000052f6e6f6e65");
  EXPECT_EQ(to_hex(c_.ask(OpCode::kSync, path_body("")).body), "00000000");
  EXPECT_EQ(to_hex(c_.ask(OpCode::kSync, path_body(std::nullopt)).body), "ffffffff");
  EXPECT_EQ(to_hex(c_.ask(OpCode::kSync, path_body("/\xFF")).body), "000000042fefbfbd");
}

TEST_F(Read, WhoAmIListsTheIdentitiesByUser) {
  c_.who.push_back({"digest", "bob:hash"});
  c_.who.push_back({"super", ""});
  const Reply reply = c_.ask(OpCode::kWhoAmI, "");
  wire::Reader r(reply.body);
  EXPECT_EQ(r.i32(), 3);
  for (const char* text : {"ip", "127.0.0.1", "digest", "bob", "super", ""}) EXPECT_EQ(r.string(), text);
  EXPECT_TRUE(r.ok() && r.at_end());
}

TEST_F(Read, PingHasNoBody) { EXPECT_EQ(c_.ask(OpCode::kPing, "").body, ""); }

// ---- multiRead ----

TEST_F(Read, MultiReadAnswersEachPartSeparately) {
  const std::string body = multi_body({{OpCode::kGetData, path_watch_body("/a/x", true)},
                                       {OpCode::kGetData, path_watch_body("/none")},
                                       {OpCode::kGetChildren, path_watch_body("/a/x")},
                                       {OpCode::kGetChildren, path_watch_body("/secret")}});
  const std::string expected =
      from_hex("00000004 00 00000000 00000000") +
      wire::testing::written([&](wire::Writer& w) { wire::encode(w, leader_.stat("/a/x")); }) +
      from_hex(
          "ffffffff 00 ffffff9b ffffff9b | 00000008 00 00000000 00000000 | ffffffff 00 ffffff9a ffffff9a |"
          "ffffffff 01 ffffffff");
  EXPECT_EQ(to_hex(c_.ask(OpCode::kMultiRead, body).body), to_hex(expected));
  EXPECT_TRUE(c_.watches.empty()) << "the watch flag is ignored";
}

TEST_F(Read, AnEmptyMultiReadReturnsOnlyTheEndMarker) {
  EXPECT_EQ(to_hex(c_.ask(OpCode::kMultiRead, multi_body({})).body), "ffffffff01ffffffff");
}

TEST_F(Read, MultiReadAcceptsOnlyReads) {
  const std::string bodies[] = {multi_body({{OpCode::kExists, path_watch_body("/a")}}),
                                multi_body({{OpCode::kDelete, wire::testing::path_version_body("/a")}}),
                                multi_body({{OpCode::kGetData, path_watch_body("/a")},
                                            {OpCode::kCheck, wire::testing::path_version_body("/a")}}),
                                "junk"};
  for (const std::string& body : bodies)
    EXPECT_EQ(c_.error(OpCode::kMultiRead, body), ErrorCode::kMarshallingError);
}

TEST_F(Read, WritesAreNotAnswered) {
  for (const OpCode op :
       {OpCode::kCreate, OpCode::kMulti, OpCode::kCloseSession, OpCode::kCheck, OpCode::kAuth}) {
    EXPECT_FALSE(is_read(op)) << static_cast<int>(op);
  }
  EXPECT_EQ(c_.error(OpCode::kCreate, ""), ErrorCode::kUnimplemented);
}

}  // namespace
}  // namespace drover::state

// SPDX-License-Identifier: Apache-2.0
//
// delete, setData, setACL, deleteContainer and sessions: which error wins, and what changes.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "state/prepare.h"
#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::acl_bytes;
using wire::testing::create_body;
using wire::testing::from_hex;
using wire::testing::path_body;
using wire::testing::path_version_body;
using wire::testing::set_acl_body;
using wire::testing::set_data_body;

struct Case {
  const char* what;
  std::string body;
  ErrorCode expected;
  bool session_expired = false;
};

class Changes : public ::testing::Test {
 protected:
  void SetUp() override {
    leader_.create("/p");
    leader_.create("/p/c", {.data = "old"});
    leader_.create("/locked");
    leader_.create("/locked/c");
    leader_.run(OpCode::kSetAcl, set_acl_body("/locked", acl_bytes({{wire::kRead, {"world", "anyone"}}})));
  }
  void expect(OpCode op, const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      Who who;
      if (c.session_expired) who.session_error = ErrorCode::kSessionExpired;
      EXPECT_EQ(leader_.run(op, c.body, who), c.expected) << c.what;
    }
  }

  Leader leader_{with_extended_types()};
};

TEST_F(Changes, DeleteReportsTheFirstFailedCheck) {
  expect(OpCode::kDelete,
         {{"session, before the path", path_version_body("/"), ErrorCode::kSessionExpired, true},
          {"null path", path_version_body(std::nullopt), ErrorCode::kMarshallingError},
          {"empty", path_version_body(""), ErrorCode::kBadArguments},
          {"no slash", path_version_body("a"), ErrorCode::kBadArguments},
          {"root", path_version_body("/"), ErrorCode::kBadArguments},
          {"special", path_version_body("/zookeeper"), ErrorCode::kBadArguments},
          {"special", path_version_body("/zookeeper/quota"), ErrorCode::kBadArguments},
          {"special", path_version_body("/zookeeper/config"), ErrorCode::kBadArguments},
          {"NUL", path_version_body(std::string_view("/p\0", 3)), ErrorCode::kBadArguments},
          {"odd paths are simply not there", path_version_body("//"), ErrorCode::kNoNode},
          {"odd paths are simply not there", path_version_body("/zookeeper/"), ErrorCode::kNoNode},
          {"no parent", path_version_body("/none/x", 99), ErrorCode::kNoNode},
          {"permission, before the node", path_version_body("/locked/none"), ErrorCode::kNoAuth},
          {"no node", path_version_body("/p/none", 99), ErrorCode::kNoNode},
          {"version, before children", path_version_body("/p", 99), ErrorCode::kBadVersion},
          {"children", path_version_body("/p", 0), ErrorCode::kNotEmpty},
          {"undecodable", "x", ErrorCode::kMarshallingError},
          {"any version", path_version_body("/p/c", -1), ErrorCode::kOk}});
  EXPECT_EQ(leader_.get("/p/c"), nullptr);
}

TEST_F(Changes, ADeleteChangesOnlyThePzxidOfTheParent) {
  const wire::Stat before = leader_.stat("/p");
  leader_.run(OpCode::kDelete, path_version_body("/p/c"));
  const wire::Stat after = leader_.stat("/p");
  EXPECT_EQ(after.pzxid, leader_.machine.last_zxid);
  EXPECT_EQ(leader_.get("/p")->cversion, 1) << "the stored counter counts creates";
  EXPECT_EQ(after.cversion, before.cversion + 1) << "the shown one counts both";
  EXPECT_EQ(after.version, before.version);
  EXPECT_EQ(after.mzxid, before.mzxid);
}

TEST_F(Changes, SetDataReportsTheFirstFailedCheck) {
  leader_.create("/readable", {.acl = acl_bytes({{wire::kRead, {"world", "anyone"}}})});
  std::vector<Case> cases = {
      {"session, before the path", set_data_body("", "x"), ErrorCode::kSessionExpired, true},
      {"no node", set_data_body("/none", "x", 99), ErrorCode::kNoNode},
      {"permission, before the version", set_data_body("/readable", "x", 99), ErrorCode::kNoAuth},
      {"config is for super", set_data_body("/zookeeper/config", "x"), ErrorCode::kNoAuth},
      {"version", set_data_body("/p", "x", 99), ErrorCode::kBadVersion},
      {"undecodable", "x", ErrorCode::kMarshallingError},
      {"the root has data too", set_data_body("/", "x", 0), ErrorCode::kOk},
      {"right version", set_data_body("/p", "x", 0), ErrorCode::kOk}};
  for (const wire::Nullable path :
       {wire::Nullable(std::nullopt), wire::Nullable(""), wire::Nullable("a"), wire::Nullable("//"),
        wire::Nullable("/x/"), wire::Nullable(std::string_view("/\0", 2))}) {
    cases.push_back({"invalid path", set_data_body(path, "x"), ErrorCode::kBadArguments});
  }
  expect(OpCode::kSetData, cases);
}

TEST_F(Changes, SetDataIncrementsOnlyTheDataVersion) {
  const wire::Stat before = leader_.stat("/p/c");
  leader_.now = WallTime{99};
  leader_.run(OpCode::kSetData, set_data_body("/p/c", std::nullopt, 0));
  wire::Stat expected = before;
  expected.version = 1;
  expected.mtime = 99;
  expected.mzxid = leader_.machine.last_zxid;
  expected.data_length = 0;
  EXPECT_EQ(leader_.stat("/p/c"), expected);
  EXPECT_EQ(leader_.get("/p/c")->data(), std::nullopt);
  EXPECT_EQ(leader_.run(OpCode::kSetData, set_data_body("/p/c", "x", 0)), ErrorCode::kBadVersion);
}

TEST_F(Changes, VersionsWrapAndSkipMinusOne) {
  Tree& tree = leader_.machine.tree;
  const auto start_at = [&](std::int32_t version) {
    wire::StatPersisted stat = persisted_stat(*leader_.get("/p/c"));
    stat.version = version;
    tree.set_data(tree.find("/p/c"), "/p/c", "", stat);
  };
  start_at(std::numeric_limits<std::int32_t>::max());
  leader_.run(OpCode::kSetData, set_data_body("/p/c", "x"));
  EXPECT_EQ(leader_.stat("/p/c").version, std::numeric_limits<std::int32_t>::min());
  start_at(-2);
  leader_.run(OpCode::kSetData, set_data_body("/p/c", "x", -2));
  EXPECT_EQ(leader_.stat("/p/c").version, 0) << "-1 would mean any version";
}

TEST_F(Changes, SetAclReportsTheFirstFailedCheck) {
  const std::string open = wire::open_acl_bytes();
  const std::string bad = acl_bytes({{31, {"nosuch", "x"}}});
  expect(OpCode::kSetAcl,
         {{"session, before the path", set_acl_body("", bad), ErrorCode::kSessionExpired, true},
          {"null path", set_acl_body(std::nullopt, bad), ErrorCode::kBadArguments},
          {"invalid path, before the ACL", set_acl_body("/x/", bad), ErrorCode::kBadArguments},
          {"ACL, before the node", set_acl_body("/none", bad), ErrorCode::kInvalidAcl},
          {"empty ACL", set_acl_body("/p", from_hex("00000000")), ErrorCode::kInvalidAcl},
          {"null ACL", set_acl_body("/p", from_hex("ffffffff")), ErrorCode::kInvalidAcl},
          {"no node", set_acl_body("/none", open, 99), ErrorCode::kNoNode},
          {"permission, before the version", set_acl_body("/locked", open, 99), ErrorCode::kNoAuth},
          {"version", set_acl_body("/p", open, 99), ErrorCode::kBadVersion},
          {"undecodable", "x", ErrorCode::kMarshallingError},
          {"root", set_acl_body("/", open, 0), ErrorCode::kOk},
          {"special nodes too", set_acl_body("/zookeeper", open), ErrorCode::kOk}});
}

TEST_F(Changes, SetAclIncrementsOnlyTheAclVersion) {
  const wire::Stat before = leader_.stat("/p");
  const std::string acl = acl_bytes({{31, {"ip", "1.2.3.4"}}, {31, {"ip", "1.2.3.4"}}});
  ASSERT_EQ(leader_.run(OpCode::kSetAcl, set_acl_body("/p", acl, 0)), ErrorCode::kOk);
  wire::Stat expected = before;
  expected.aversion = 1;
  EXPECT_EQ(leader_.stat("/p"), expected);
  EXPECT_EQ(leader_.machine.tree.acl(*leader_.get("/p"))->bytes, acl_bytes({{31, {"ip", "1.2.3.4"}}}));
}

TEST_F(Changes, TheConfigNodesFirstAclVersionIsZero) {
  const Who super{.identities = {{"super", ""}}};
  ASSERT_EQ(leader_.run(OpCode::kSetAcl, set_acl_body("/zookeeper/config", wire::open_acl_bytes()), super),
            ErrorCode::kOk);
  EXPECT_EQ(leader_.stat("/zookeeper/config").aversion, 0);
}

// ---- containers ----

TEST_F(Changes, OnlyTheServerItselfDeletesContainers) {
  leader_.run(OpCode::kCreateContainer, create_body("/box", {.flags = wire::kContainer}));
  EXPECT_EQ(leader_.run(OpCode::kDeleteContainer, path_body("/box")), ErrorCode::kBadArguments) << "a client";
  const Who server{.session = SessionId{0}};
  const auto remove = [&](std::string_view path) {
    return leader_.run(OpCode::kDeleteContainer, path_body(path), server);
  };
  EXPECT_EQ(remove("/none"), ErrorCode::kNoNode);
  EXPECT_EQ(remove("/zookeeper"), ErrorCode::kBadArguments);
  leader_.create("/box/c");
  EXPECT_EQ(remove("/box"), ErrorCode::kNotEmpty);
  leader_.run(OpCode::kDelete, path_version_body("/box/c"));
  EXPECT_EQ(remove("/box"), ErrorCode::kOk);
  EXPECT_EQ(leader_.get("/box"), nullptr);
}

TEST_F(Changes, AContainerThatWasRecreatedAsAnotherKindIsNotDeleted) {
  leader_.run(OpCode::kCreateContainer, create_body("/box", {.flags = wire::kContainer}));
  const Who server{.session = SessionId{0}};
  for (const std::int32_t flags : {wire::kEphemeral, wire::kPersistent}) {
    // Both are in flight when the server decides to delete the container, which it still sees.
    leader_.prepare(OpCode::kDelete, path_version_body("/box"));
    leader_.prepare(OpCode::kCreate, create_body("/box", {.flags = flags}));
    EXPECT_EQ(leader_.prepare(OpCode::kDeleteContainer, path_body("/box"), server), ErrorCode::kBadVersion)
        << flags;
    leader_.apply_all();
    EXPECT_NE(leader_.get("/box"), nullptr);
  }
}

// ---- sessions ----

TEST_F(Changes, CloseSessionDeletesExistingAndPendingEphemerals) {
  const Who mine{.session = SessionId{5}};
  const Who other{.session = SessionId{6}};
  const wire::testing::CreateArgs ephemeral{.flags = wire::kEphemeral};
  leader_.create("/now", ephemeral, mine);
  leader_.create("/doomed", ephemeral, mine);
  leader_.create("/moved", ephemeral, mine);
  leader_.create("/others", ephemeral, other);
  leader_.prepare(OpCode::kCreate, create_body("/p/soon", ephemeral), mine);
  leader_.prepare(OpCode::kDelete, path_version_body("/doomed"), other);
  leader_.prepare(OpCode::kDelete, path_version_body("/moved"), other);
  leader_.prepare(OpCode::kCreate, create_body("/moved", ephemeral), other);
  ASSERT_EQ(leader_.prepare(OpCode::kCloseSession, "", mine), ErrorCode::kOk);
  leader_.apply_all();

  const auto txn = wire::decode_entry(leader_.applied.back());
  const auto& paths = std::get<wire::CloseSessionTxn>(txn->record).paths;
  EXPECT_EQ(std::set<std::string_view>(paths.begin(), paths.end()),
            (std::set<std::string_view>{"/now", "/p/soon"}));
  EXPECT_EQ(leader_.get("/now"), nullptr);
  EXPECT_EQ(leader_.get("/p/soon"), nullptr);
  EXPECT_EQ(leader_.get("/p")->pzxid, leader_.machine.last_zxid);
  EXPECT_NE(leader_.get("/others"), nullptr);
  EXPECT_EQ(leader_.get("/moved")->ephemeral_owner, 6);
  EXPECT_EQ(broken_invariant(leader_.machine.tree), "");
}

void expect_close_session_without_paths(bool digest) {
  Options options;
  options.close_session_paths = false;
  options.digest_enabled = digest;
  Leader leader(options);
  const Who mine{.session = SessionId{5}};
  leader.create("/a", {.flags = wire::kEphemeral}, mine);
  leader.create("/b", {.flags = wire::kEphemeral}, mine);
  leader.run(OpCode::kCloseSession, "", mine);
  EXPECT_EQ(leader.applied.back().size(), wire::kTxnHeaderBytes + (digest ? 12 : 0));
  EXPECT_EQ(leader.get("/a"), nullptr);
  EXPECT_EQ(leader.get("/b"), nullptr);
  EXPECT_EQ(leader.events.list.size(), 4u);
}

TEST_F(Changes, CloseSessionWithoutPathsFindsTheNodesWhenApplied) {
  expect_close_session_without_paths(/*digest=*/false);
  expect_close_session_without_paths(/*digest=*/true);
}

TEST_F(Changes, CreateSessionAddsTheSessionAndCloseSessionRemovesIt) {
  const Who mine{.session = SessionId{5}};
  EXPECT_EQ(leader_.run(OpCode::kCreateSession, from_hex("00007530"), mine), ErrorCode::kOk);
  ASSERT_TRUE(leader_.machine.sessions.contains(SessionId{5}));
  EXPECT_EQ(leader_.machine.sessions.at(SessionId{5}), 30000);
  EXPECT_EQ(leader_.run(OpCode::kCreateSession, "", mine), ErrorCode::kMarshallingError);
  leader_.run(OpCode::kCloseSession, "", mine);
  EXPECT_FALSE(leader_.machine.sessions.contains(SessionId{5}));
}

TEST_F(Changes, ReconfigMustBeEnabledAndNeedsAnEnsemble) {
  const std::string body = from_hex("ffffffff ffffffff ffffffff 0000000000000000");
  EXPECT_EQ(leader_.run(OpCode::kReconfig, body), ErrorCode::kReconfigDisabled);
  Options options;
  options.reconfig_enabled = true;
  Leader enabled(options);
  EXPECT_EQ(enabled.run(OpCode::kReconfig, body), ErrorCode::kUnimplemented);
}

}  // namespace
}  // namespace drover::state

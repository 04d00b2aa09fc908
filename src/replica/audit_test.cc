// SPDX-License-Identifier: Apache-2.0
//
// The lines of the audit log. tests/compat/audit_test.py compares them with a Java server's.
#include "replica/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "replica/pair_testing.h"
#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::create_ttl_body;
using wire::testing::multi_body;
using wire::testing::path_version_body;
using wire::testing::set_acl_body;
using wire::testing::set_data_body;

using Lines = std::vector<std::string>;

HarnessConfig audited() {
  HarnessConfig config;
  config.replica.audit_user = "keeper";
  config.state.extended_types = true;
  return config;
}

// The lines since the last call, with blanks instead of tabs and without the fields that all of them have.
Lines lines_of(Harness& h) {
  Lines lines;
  for (AuditLine& line : h.replica->take_audit_lines()) {
    std::string text = line.text;
    std::replace(text.begin(), text.end(), '\t', ' ');
    EXPECT_EQ(line.failure, text.ends_with("result=failure")) << text;
    constexpr std::string_view kClient = "session=0x100000000000000 user=127.0.0.1 ip=127.0.0.1 operation=";
    lines.push_back(text.starts_with(kClient) ? text.substr(kClient.size()) : text);
  }
  return lines;
}

TEST(Audit, ALineSaysWhoDidWhatFromWhere) {
  Harness h(audited());
  Client c = connected(h);
  EXPECT_EQ(c.create("/a"), ErrorCode::kOk);
  const auto lines = h.replica->take_audit_lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].text,
            "session=0x100000000000000\tuser=127.0.0.1\tip=127.0.0.1\toperation=create\tznode=/a\t"
            "znode_type=persistent\tresult=success");
}

TEST(Audit, EveryChangeHasALineAndNoReadHasOne) {
  Harness h(audited());
  Client c = connected(h);
  EXPECT_EQ(lines_of(h), Lines{}) << "sessions are not audited";
  c.create("/a");
  c.create("/s-", {.flags = wire::kPersistentSequential});
  c.error(OpCode::kCreate2, create_body("/e", {.flags = wire::kEphemeral}));
  c.error(OpCode::kCreateTtl, create_ttl_body("/t", 5000));
  c.error(OpCode::kCreateContainer, create_body("/c", {.flags = wire::kContainer}));
  c.error(OpCode::kSetData, set_data_body("/a", "x"));
  c.error(OpCode::kSetAcl, set_acl_body("/a", wire::open_acl_bytes()));
  c.error(OpCode::kGetData, wire::testing::path_watch_body("/a"));
  c.error(OpCode::kSync, wire::testing::path_body("/a"));
  c.error(OpCode::kDelete, path_version_body("/a"));
  EXPECT_EQ(
      lines_of(h),
      (Lines{"create znode=/a znode_type=persistent result=success",
             "create znode=/s-0000000001 znode_type=persistent_sequential result=success",
             "create znode=/e znode_type=ephemeral result=success",
             "create znode=/t znode_type=persistent_with_ttl result=success",
             "create znode=/c znode_type=container result=success", "setData znode=/a result=success",
             "setAcl znode=/a acl=world:anyone:cdrwa result=success", "delete znode=/a result=success"}));
}

TEST(Audit, AFailureHasTheRequestedPath) {
  Harness h(audited());
  Client c = connected(h);
  c.create("/no/parent");
  c.error(OpCode::kDelete, path_version_body("/no"));
  c.error(OpCode::kSetData, set_data_body("/no", "x"));
  c.error(OpCode::kSetAcl, set_acl_body("/no", wire::open_acl_bytes()));
  c.error(OpCode::kReconfig, {});
  EXPECT_EQ(lines_of(h),
            (Lines{"create znode=/no/parent znode_type=persistent result=failure",
                   "delete znode=/no result=failure", "setData znode=/no result=failure",
                   "setAcl znode=/no acl=world:anyone:cdrwa result=failure", "reconfig result=failure"}));
}

TEST(Audit, AMultiHasALineForEachChangeOrOneForItsFailure) {
  Harness h(audited());
  Client c = connected(h);
  c.error(OpCode::kMulti,
          multi_body({{OpCode::kCreate, create_body("/a")},
                      {OpCode::kCreate, create_body("/s-", {.flags = wire::kPersistentSequential})},
                      {OpCode::kCheck, path_version_body("/a")},
                      {OpCode::kSetData, set_data_body("/a", "x")},
                      {OpCode::kDelete, path_version_body("/a")}}));
  c.error(OpCode::kMulti,
          multi_body({{OpCode::kCreate, create_body("/b")}, {OpCode::kDelete, path_version_body("/no")}}));
  EXPECT_EQ(lines_of(h),
            (Lines{"create znode=/a znode_type=persistent result=success",
                   "create znode=/s-0000000001 result=success", "setData znode=/a result=success",
                   "delete znode=/a result=success", "multiOperation result=failure"}));
}

TEST(Audit, TheEndOfASessionHasALineForEachOfItsNodes) {
  Harness h(audited());
  Client c = connected(h);
  c.create("/e", {.flags = wire::kEphemeral});
  lines_of(h);
  c.error(OpCode::kCloseSession);
  EXPECT_EQ(lines_of(h),
            Lines{"session=0x100000000000000 user=keeper "
                  "operation=ephemeralZNodeDeletionOnSessionCloseOrExpire znode=/e result=success"});
}

TEST(Audit, AClientCannotHideByClosingItsConnection) {
  HarnessConfig config = audited();
  config.durable_at_once = false;
  Harness h(config);
  Client c = connected_durably(h);
  c.send(OpCode::kCreate, create_body("/a"));
  c.vanish();
  h.durable();
  EXPECT_EQ(lines_of(h), Lines{"create znode=/a znode_type=persistent result=success"});
}

TEST(Audit, ARequestThatIsRefusedWithoutATransactionHasALine) {
  Harness h(audited());
  Client c = connected(h);
  h.replica->set_disk_full(true);
  EXPECT_EQ(c.create("/a"), ErrorCode::kSystemError);
  EXPECT_EQ(lines_of(h), Lines{"create znode=/a znode_type=persistent result=failure"});
}

TEST(Audit, ARequestThatCannotBeReadHasALineWithWhatCouldBeRead) {
  Harness h(audited());
  Client c = connected(h);
  EXPECT_EQ(c.error(OpCode::kCreate, "x"), ErrorCode::kMarshallingError);
  EXPECT_EQ(c.error(OpCode::kDelete, wire::testing::path_body("/a")), ErrorCode::kMarshallingError);
  EXPECT_EQ(c.error(OpCode::kMulti, "x"), ErrorCode::kMarshallingError);
  EXPECT_EQ(lines_of(h), (Lines{"create znode_type=persistent result=failure",
                                "delete znode=/a result=failure", "multiOperation result=failure"}));
  EXPECT_NE(c.error(OpCode::kCreate, create_body("/a", {.flags = 77})), ErrorCode::kOk);
  EXPECT_EQ(lines_of(h), Lines{}) << "Java has no word for such a node";
}

TEST(Audit, AllUsersOfAConnectionAreNamed) {
  Harness h(audited());
  Client c = connected(h);
  c.send_frame(Client::request(-4, OpCode::kAuth, wire::testing::written([](wire::Writer& w) {
    w.i32(0);
    w.string("digest");
    w.string("bob:secret");
  })));
  c.take();
  c.create("/a");
  EXPECT_EQ(lines_of(h), Lines{"session=0x100000000000000 user=127.0.0.1,bob ip=127.0.0.1 operation=create "
                               "znode=/a znode_type=persistent result=success"});
}

TEST(Audit, OnlyTheServerOfTheClientLogsARequestAndAllLogTheEndOfASession) {
  ReplicaConfig config;
  config.audit_user = "keeper";
  Pair pair(config);
  Client c(pair.learner);
  c.send_hello({});
  pair.settle();
  c.take_hello();
  c.send(OpCode::kCreate, create_body("/e", {.flags = wire::kEphemeral}));
  pair.settle();
  EXPECT_EQ(lines_of(pair.leader), Lines{});
  EXPECT_EQ(pair.learner.replica->take_audit_lines().size(), 1u);
  c.send(OpCode::kCloseSession);
  pair.settle();
  EXPECT_EQ(pair.leader.replica->take_audit_lines().size(), 1u);
  EXPECT_EQ(pair.learner.replica->take_audit_lines().size(), 1u);
}

TEST(Audit, HostileNamesStayInsideTheirField) {
  Harness h(audited());
  Client c = connected(h);
  c.create("/a\nsession=0x1\tuser=root\xff\xe2\x80\xa8\x1b[2J\\");
  EXPECT_EQ(lines_of(h), Lines{"create znode=/a\\nsession=0x1\\tuser=root\\xff\\xe2\\x80\\xa8\\x1b[2J\\\\ "
                               "znode_type=persistent result=failure"});
  EXPECT_EQ(audit_escaped("/grün=ok, fine"), "/grün=ok, fine");
}

TEST(Audit, NothingIsKeptWithoutAnAuditLog) {
  Harness h;
  Client c = connected(h);
  c.create("/a");
  EXPECT_TRUE(h.replica->take_audit_lines().empty());
}

TEST(Audit, LinesOfTheServer) {
  EXPECT_EQ(server_audit_line("keeper", "serverStart", AuditResult::kSuccess).text,
            "user=keeper\toperation=serverStart\tresult=success");
  EXPECT_EQ(server_audit_line("keeper", "serverStop", AuditResult::kInvoked).text,
            "user=keeper\toperation=serverStop\tresult=invoked");
  EXPECT_TRUE(server_audit_line("keeper", "serverStart", AuditResult::kFailure).failure);
}

}  // namespace
}  // namespace drover::replica

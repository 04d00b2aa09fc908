// SPDX-License-Identifier: Apache-2.0
//
// enableEagerACLCheck: a server refuses by its own state what the leader would refuse.
#include <gtest/gtest.h>

#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::acl_bytes;
using wire::testing::create_body;
using wire::testing::create_ttl_body;
using wire::testing::path_version_body;
using wire::testing::set_acl_body;
using wire::testing::set_data_body;

const std::string kReadOnly = acl_bytes({{wire::kRead, {"world", "anyone"}}});
const std::string kInvalid = acl_bytes({{wire::kAll, {"ip", "nonsense"}}});

HarnessConfig eager() {
  HarnessConfig config;
  config.front.eager_acl = true;
  config.replica.audit_user = "keeper";
  return config;
}

TEST(EagerAcl, ARefusedWriteTakesNoZxid) {
  Harness h(eager());
  Client c = connected(h);
  EXPECT_EQ(c.create("/a", {.acl = kReadOnly}), ErrorCode::kOk);
  const Zxid before = h.replica->last_proposed();
  const Reply reply = c.ask(OpCode::kCreate, create_body("/a/b"));
  EXPECT_EQ(reply.header.error, ErrorCode::kNoAuth);
  EXPECT_EQ(reply.header.zxid, Zxid{0}) << "as Java's";
  EXPECT_EQ(c.error(OpCode::kCreate2, create_body("/a/b")), ErrorCode::kNoAuth);
  EXPECT_EQ(c.error(OpCode::kDelete, path_version_body("/a/b")), ErrorCode::kNoAuth);
  EXPECT_EQ(c.error(OpCode::kSetData, set_data_body("/a", "x")), ErrorCode::kNoAuth);
  EXPECT_EQ(c.error(OpCode::kSetAcl, set_acl_body("/a", kReadOnly)), ErrorCode::kNoAuth);
  EXPECT_EQ(c.create("/c", {.acl = kInvalid}), ErrorCode::kInvalidAcl);
  EXPECT_EQ(h.replica->last_proposed(), before);
  EXPECT_EQ(h.replica->take_audit_lines().size(), 7u) << "an attempt is audited, whoever refuses it";
}

TEST(EagerAcl, WhatCannotBeJudgedIsLeftToTheLeader) {
  Harness h(eager());
  Client c = connected(h);
  EXPECT_EQ(c.create("/no/parent"), ErrorCode::kNoNode);
  EXPECT_EQ(c.create("no path"), ErrorCode::kBadArguments);
  EXPECT_EQ(c.error(OpCode::kDelete, path_version_body("/zookeeper")), ErrorCode::kBadArguments);
  EXPECT_EQ(c.error(OpCode::kCreate, "x"), ErrorCode::kMarshallingError);
  EXPECT_EQ(c.create("/a"), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kSetData, set_data_body("/a", "x")), ErrorCode::kOk);
}

TEST(EagerAcl, ARequestBehindAnUnansweredOneIsLeftToTheLeader) {
  HarnessConfig config = eager();
  config.durable_at_once = false;
  Harness h(config);
  Client c = connected_durably(h);
  c.send(OpCode::kCreate, create_body("/a", {.acl = kReadOnly}));
  h.durable();
  c.take();
  c.send(OpCode::kCreate, create_body("/b"));
  c.send(OpCode::kSetData, set_data_body("/a", "x"));
  EXPECT_EQ(story(c.take()), Story{}) << "no reply overtakes another";
  h.durable();
  EXPECT_EQ(story(c.take()), (Story{"2 Ok", "3 NoAuth"}));
}

}  // namespace
}  // namespace drover::replica

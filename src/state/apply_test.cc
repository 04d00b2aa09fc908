// SPDX-License-Identifier: Apache-2.0
//
// Effects of a transaction: changes of the tree, results, and events.
#include "state/apply.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::EventType;
using wire::testing::acl_bytes;
using wire::testing::create_body;
using wire::testing::multi_body;
using wire::testing::path_version_body;
using wire::testing::set_acl_body;
using wire::testing::set_data_body;
using wire::testing::written;

// "created /a" and so on, in the order in which watches fire.
std::vector<std::string> told(const TreeEvents& events) {
  std::vector<std::string> list;
  for (const TreeEvent& event : events.list) {
    const char* const names[] = {"", "created ", "deleted ", "changed ", "children "};
    list.push_back(names[static_cast<int>(event.type)] + std::string(event.path));
  }
  return list;
}

using Told = std::vector<std::string>;

// docs/client-protocol.md, "Watches".
TEST(ApplyEvents, FollowTheTriggerMatrix) {
  Leader leader;
  leader.create("/p");
  EXPECT_EQ(told(leader.events), (Told{"created /p", "children /"}));
  leader.create("/p/n");
  EXPECT_EQ(told(leader.events), (Told{"created /p/n", "children /p"}));
  leader.run(OpCode::kSetData, set_data_body("/p/n", "x"));
  EXPECT_EQ(told(leader.events), (Told{"changed /p/n"}));
  leader.run(OpCode::kSetAcl, set_acl_body("/p/n", wire::open_acl_bytes()));
  EXPECT_EQ(told(leader.events), Told{});
  leader.run(OpCode::kDelete, path_version_body("/p/n"));
  EXPECT_EQ(told(leader.events), (Told{"deleted /p/n", "children /p"}));
  leader.run(OpCode::kDelete, path_version_body("/none"));
  EXPECT_EQ(told(leader.events), Told{}) << "an error fires no event";
}

TEST(ApplyEvents, AMultiFiresEventsPartByPart) {
  Leader leader;
  leader.run(OpCode::kMulti, multi_body({{OpCode::kCreate, create_body("/a")},
                                         {OpCode::kSetData, set_data_body("/a", "x")},
                                         {OpCode::kCheck, path_version_body("/a", 1)},
                                         {OpCode::kDelete, path_version_body("/a")}}));
  EXPECT_EQ(told(leader.events),
            (Told{"created /a", "children /", "changed /a", "deleted /a", "children /"}));
}

TEST(ApplyEvents, ACloseSessionFiresTheEventsOfItsDeletes) {
  Leader leader;
  const Who mine{.session = SessionId{9}};
  leader.create("/p");
  leader.create("/p/e", {.flags = wire::kEphemeral}, mine);
  leader.run(OpCode::kCloseSession, "", mine);
  EXPECT_EQ(told(leader.events), (Told{"deleted /p/e", "children /p"}));
}

// docs/client-protocol.md, "Watches": events are dropped for clients that may not read the node.
TEST(ApplyEvents, CarryTheAclThatDecidesWhoIsNotified) {
  Leader leader;
  const std::string of_node = acl_bytes({{31, {"ip", "1.1.1.1"}}, {31, {"world", "anyone"}}});
  const std::string of_parent = acl_bytes({{31, {"ip", "2.2.2.2"}}, {31, {"world", "anyone"}}});
  leader.create("/p", {.acl = of_parent});
  EXPECT_EQ(leader.events.list.at(1).acl, nullptr) << "the root is open";
  leader.create("/p/n", {.acl = of_node});
  ASSERT_EQ(leader.events.list.size(), 2u);
  EXPECT_EQ(leader.events.list[0].acl->bytes, of_node);
  EXPECT_EQ(leader.events.list[1].acl->bytes, of_parent);
  leader.run(OpCode::kSetData, set_data_body("/p/n", "x"));
  EXPECT_EQ(leader.events.list[0].acl->bytes, of_node);
  leader.run(OpCode::kDelete, path_version_body("/p/n"));
  EXPECT_EQ(leader.events.list[0].acl->bytes, of_node) << "the ACL of the deleted node";
  EXPECT_EQ(leader.events.list[1].acl->bytes, of_parent);
}

TEST(ApplyResult, HoldsWhatTheReplyNeeds) {
  Leader leader;
  leader.prepare(OpCode::kCreate, create_body("/s-", {.data = "x", .flags = wire::kPersistentSequential}));
  const ApplyResult created = leader.apply_next();
  EXPECT_EQ(created.type, OpCode::kCreate);
  EXPECT_EQ(created.path, "/s-0000000000");
  EXPECT_EQ(created.stat, leader.stat("/s-0000000000"));

  leader.prepare(OpCode::kSetData, set_data_body("/s-0000000000", "new"));
  EXPECT_EQ(leader.apply_next().stat.version, 1);

  leader.prepare(OpCode::kDelete, path_version_body("/none"));
  const ApplyResult failed = leader.apply_next();
  EXPECT_EQ(failed.type, OpCode::kError);
  EXPECT_EQ(failed.error, ErrorCode::kNoNode);
}

TEST(ApplyResult, AnInvalidPathIsAnError) {
  Leader leader;
  leader.create("/a");
  const std::size_t nodes = leader.machine.tree.node_count();
  std::int64_t zxid = raw(leader.machine.last_zxid);
  for (const std::string_view path : {"//b", "//", "b", "", "/none/b"}) {
    wire::TxnEntry txn;
    txn.header = {.zxid = Zxid{++zxid}, .type = OpCode::kCreate};
    const std::string acl = wire::open_acl_bytes();
    txn.record = wire::CreateTxn{.path = path, .data = "x", .acl = acl};
    TreeEvents events;
    EXPECT_EQ(apply(leader.machine, txn, events).error, ErrorCode::kNoNode) << path;
    EXPECT_EQ(leader.machine.tree.node_count(), nodes) << path;
  }
}

TEST(ApplyResult, AMultiHasOneResultPerPart) {
  Leader leader;
  leader.prepare(OpCode::kMulti, multi_body({{OpCode::kCreate2, create_body("/a")},
                                             {OpCode::kCheck, path_version_body("/a", 0)}}));
  const ApplyResult done = leader.apply_next();
  EXPECT_EQ(done.error, ErrorCode::kOk);
  ASSERT_EQ(done.multi.size(), 2u);
  EXPECT_EQ(done.multi[0].type, OpCode::kCreate);  // the type that 3.8 servers know inside a multi
  EXPECT_EQ(done.multi[0].stat, leader.stat("/a"));
  EXPECT_EQ(done.multi[1].type, OpCode::kCheck);

  leader.prepare(OpCode::kMulti, multi_body({{OpCode::kCreate, create_body("/b")},
                                             {OpCode::kDelete, path_version_body("/zzz")},
                                             {OpCode::kSetData, set_data_body("/a", "")}}));
  const ApplyResult failed = leader.apply_next();
  ASSERT_EQ(failed.multi.size(), 3u);
  const ErrorCode expected[] = {ErrorCode::kOk, ErrorCode::kNoNode, ErrorCode::kRuntimeInconsistency};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(failed.multi[i].type, OpCode::kError);
    EXPECT_EQ(failed.multi[i].error, expected[i]) << i;
  }
}

// ---- old logs and damaged ones ----

ApplyResult apply_record(Machine& machine, OpCode type, std::int64_t zxid, const std::string& record) {
  const std::string entry = written([&](wire::Writer& w) {
                              wire::encode(w, wire::TxnHeader{SessionId{5}, 0, Zxid{zxid}, 1000, type});
                            }) +
                            record;
  const auto txn = wire::decode_entry(entry);
  EXPECT_TRUE(txn);
  TreeEvents events;
  return apply(machine, *txn, events);
}

TEST(ApplyOld, ACreateFromBefore34IncrementsTheParentsCversion) {
  Machine machine({});
  const std::string record = written([](wire::Writer& w) {
    w.string("/a");
    w.string("x");
    w.raw(wire::open_acl_bytes());
    w.boolean(true);
  });
  apply_record(machine, OpCode::kCreate, 3, record);
  EXPECT_EQ(machine.tree.get("/")->cversion, 1);
  EXPECT_EQ(machine.tree.get("/")->pzxid, Zxid{3});
  EXPECT_EQ(machine.tree.get("/a")->ephemeral_owner, 5);
}

TEST(ApplyOld, ACloseSessionWithoutPathsDeletesTheSessionsEphemerals) {
  Machine machine({});
  machine.sessions[SessionId{5}] = 4000;
  const wire::CreateTxn create{"/a", "x", wire::open_acl_bytes(), true, 1, 0};
  apply_record(machine, OpCode::kCreate, 3,
               written([&](wire::Writer& w) { wire::encode(w, OpCode::kCreate, create); }));
  ASSERT_NE(machine.tree.get("/a"), nullptr);
  apply_record(machine, OpCode::kCloseSession, 4, "");
  EXPECT_EQ(machine.tree.get("/a"), nullptr);
  EXPECT_TRUE(machine.sessions.empty());
  EXPECT_EQ(machine.tree.get("/")->pzxid, Zxid{4});
}

TEST(ApplyOld, ACreateOfAnExistingNodeRaisesButNeverLowersTheParentsCversion) {
  Machine machine({});
  const auto create = [&](std::int64_t zxid, std::int32_t parent_cversion) {
    const wire::CreateTxn txn{"/a", "x", wire::open_acl_bytes(), false, parent_cversion, 0};
    return apply_record(machine, OpCode::kCreate, zxid,
                        written([&](wire::Writer& w) { wire::encode(w, OpCode::kCreate, txn); }));
  };
  create(3, 1);
  EXPECT_EQ(create(5, 4).error, ErrorCode::kNodeExists);
  EXPECT_EQ(machine.tree.get("/")->cversion, 4);
  EXPECT_EQ(machine.tree.get("/")->pzxid, Zxid{5});
  EXPECT_EQ(machine.tree.get("/a")->czxid, Zxid{3});
  create(6, 2);
  EXPECT_EQ(machine.tree.get("/")->cversion, 4);
  EXPECT_EQ(machine.tree.get("/")->pzxid, Zxid{5});
  EXPECT_EQ(broken_invariant(machine.tree), "");
}

TEST(ApplyOdd, InvalidPathsDoNoHarm) {
  Machine machine({});
  const std::uint64_t digest = machine.tree.digest();
  std::int64_t zxid = 0;
  for (const char* path : {"", "a", "a/b", "/", "/none/x"}) {
    const wire::CreateTxn create{path, "x", wire::open_acl_bytes(), false, 0, 0};
    apply_record(machine, OpCode::kCreate, ++zxid,
                 written([&](wire::Writer& w) { wire::encode(w, OpCode::kCreate, create); }));
    apply_record(machine, OpCode::kDelete, ++zxid,
                 written([&](wire::Writer& w) { wire::encode(w, wire::DeleteTxn{path}); }));
    EXPECT_EQ(broken_invariant(machine.tree), "") << path;
  }
  EXPECT_EQ(machine.tree.node_count(), 5u);
  EXPECT_EQ(machine.tree.digest() != digest, machine.tree.get("/")->pzxid != Zxid{0});
}

TEST(Apply, TheLastZxidNeverGoesBack) {
  Machine machine({});
  apply_record(machine, OpCode::kError, 9, written([](wire::Writer& w) { w.i32(-101); }));
  apply_record(machine, OpCode::kError, 7, written([](wire::Writer& w) { w.i32(-101); }));
  EXPECT_EQ(machine.last_zxid, Zxid{9});
}

}  // namespace
}  // namespace drover::state

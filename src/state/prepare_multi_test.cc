// SPDX-License-Identifier: Apache-2.0
//
// multi: all or nothing, one transaction, one zxid (docs/client-protocol.md, "multi").
#include <gtest/gtest.h>

#include <string>

#include "state/prepare.h"
#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::create_ttl_body;
using wire::testing::multi_body;
using wire::testing::MultiPart;
using wire::testing::path_version_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;

MultiPart create(std::string_view path) { return {OpCode::kCreate, create_body(path)}; }
MultiPart remove(std::string_view path, std::int32_t version = -1) {
  return {OpCode::kDelete, path_version_body(path, version)};
}
MultiPart set(std::string_view path, std::string_view data, std::int32_t version = -1) {
  return {OpCode::kSetData, set_data_body(path, data, version)};
}
MultiPart check(std::string_view path, std::int32_t version) {
  return {OpCode::kCheck, path_version_body(path, version)};
}

ErrorCode multi(Leader& leader, const std::vector<MultiPart>& parts, const Who& who = {}) {
  return leader.run(OpCode::kMulti, multi_body(parts), who);
}

TEST(PrepareMulti, PartsSeeTheEffectsOfEarlierParts) {
  Leader leader;
  ASSERT_EQ(multi(leader, {create("/a"), create("/a/b"), set("/a", "x", 0), set("/a", "y", 1), check("/a", 2),
                           remove("/a/b"), create("/a/b"), check("/a/b", 0)}),
            ErrorCode::kOk);
  EXPECT_EQ(leader.get("/a")->data(), "y");
  EXPECT_EQ(leader.stat("/a").version, 2);
  EXPECT_EQ(leader.stat("/a").cversion, 3);
  EXPECT_EQ(leader.stat("/a/b").czxid, leader.machine.last_zxid);
  EXPECT_EQ(raw(leader.machine.last_zxid), 1) << "one zxid for all of it";
}

TEST(PrepareMulti, OneFailingPartUndoesAll) {
  Leader leader;
  leader.create("/a");
  const TreePicture before = picture_of(leader.machine.tree);
  EXPECT_EQ(multi(leader, {create("/m9"), set("/a", "x"), remove("/zzz"), create("/n")}), ErrorCode::kNoNode);
  EXPECT_EQ(picture_of(leader.machine.tree), before);
  EXPECT_TRUE(leader.events.list.empty()) << "and no event is fired";
}

TEST(PrepareMulti, AFailureIsLoggedWithOneResultPerPart) {
  Leader leader;
  multi(leader, {create("/m9"), remove("/zzz"), set("/a", "x")});
  const auto txn = wire::decode_entry(leader.applied.back());
  EXPECT_EQ(txn->header.type, OpCode::kMulti);
  const auto& parts = std::get<wire::MultiTxn>(txn->record).txns;
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].type, OpCode::kCreate) << "what came before the failure keeps its own record";
  EXPECT_EQ(parts[1].type, OpCode::kError);
  EXPECT_EQ(wire::testing::to_hex(parts[1].record), "ffffff9b");
  EXPECT_EQ(parts[2].type, OpCode::kError);
  EXPECT_EQ(wire::testing::to_hex(parts[2].record), "fffffffe");
}

TEST(PrepareMulti, AFailedMultiLeavesNoPendingChanges) {
  Leader leader;
  leader.prepare(OpCode::kCreate, create_body("/first"));
  leader.prepare(OpCode::kMulti,
                 multi_body({create("/a"), set("/first", "x"), remove("/first"), remove("/zzz")}));
  EXPECT_EQ(leader.prepare(OpCode::kCreate, create_body("/a")), ErrorCode::kOk);
  EXPECT_EQ(leader.prepare(OpCode::kSetData, set_data_body("/first", "y", 0)), ErrorCode::kOk);
  leader.apply_all();
  EXPECT_EQ(leader.get("/first")->data(), "y");
  EXPECT_EQ(broken_invariant(leader.machine.tree), "");
}

TEST(PrepareMulti, AnEmptyMultiSucceedsAndUsesAZxid) {
  Leader leader;
  EXPECT_EQ(multi(leader, {}), ErrorCode::kOk);
  EXPECT_EQ(raw(leader.machine.last_zxid), 1);
}

TEST(PrepareMulti, AnUndecodableMultiFailsAsAWhole) {
  Leader leader(with_extended_types());
  const std::vector<MultiPart> refused[] = {
      {{OpCode::kGetData, path_watch_body("/a")}},
      {create("/a"), {OpCode::kSetAcl, ""}},
      {{OpCode::kCreate, create_body("/a", {.flags = wire::kPersistentTtl})}},
      {{OpCode::kCreate, create_body("/a", {.flags = 9})}},
      {create("/a"), {OpCode::kDelete, path_version_body(std::nullopt)}}};
  for (const auto& parts : refused) {
    EXPECT_EQ(multi(leader, parts), ErrorCode::kMarshallingError);
    EXPECT_EQ(wire::decode_entry(leader.applied.back())->header.type, OpCode::kError);
  }
  EXPECT_EQ(leader.run(OpCode::kMulti, "junk"), ErrorCode::kMarshallingError);
  EXPECT_EQ(leader.get("/a"), nullptr);
}

TEST(PrepareMulti, EveryPartIsCheckedLikeASingleRequest) {
  Leader leader(with_extended_types());
  leader.create("/a");
  const struct {
    MultiPart part;
    ErrorCode expected;
  } cases[] = {{create("/a"), ErrorCode::kNodeExists},
               {create("/none/x"), ErrorCode::kNoNode},
               {create("abc"), ErrorCode::kBadArguments},
               {{OpCode::kCreateTtl, create_ttl_body("/t", 0)}, ErrorCode::kBadArguments},
               {set("/a", "x", 7), ErrorCode::kBadVersion},
               {set("bad", "x"), ErrorCode::kBadArguments},
               {remove("/"), ErrorCode::kBadArguments},
               {check("/a", 7), ErrorCode::kBadVersion},
               {check("/none", 0), ErrorCode::kNoNode},
               {check("//", 0), ErrorCode::kBadArguments},
               {check("/a", 0), ErrorCode::kOk},
               {check("/a", -1), ErrorCode::kOk}};
  for (const auto& c : cases)
    EXPECT_EQ(multi(leader, {c.part}), c.expected) << static_cast<int>(c.part.first);
  EXPECT_EQ(multi(leader, {check("/a", 0)}, {.session_error = ErrorCode::kSessionExpired}),
            ErrorCode::kSessionExpired);
}

TEST(PrepareMulti, AMovedSessionCannotSendEvenAnEmptyMulti) {
  // Otherwise a late copy of the request would be answered after the session's own later requests.
  Leader leader;
  EXPECT_EQ(multi(leader, {}), ErrorCode::kOk);
  EXPECT_EQ(multi(leader, {}, {.session_error = ErrorCode::kSessionMoved}), ErrorCode::kSessionMoved);
}

TEST(PrepareMulti, CheckNeedsReadPermission) {
  Leader leader;
  leader.create("/secret", {.acl = wire::testing::acl_bytes({{wire::kWrite, {"world", "anyone"}}})});
  EXPECT_EQ(multi(leader, {check("/secret", 0)}), ErrorCode::kNoAuth);
}

TEST(PrepareMulti, CreateFlagsDecideTheKind) {
  Leader leader(with_extended_types());
  ASSERT_EQ(multi(leader,
                  {{OpCode::kCreate, create_body("/box", {.flags = wire::kContainer})},
                   {OpCode::kCreateTtl, create_ttl_body("/ttl", 9)},
                   {OpCode::kCreateTtl, create_ttl_body("/plain", -7, wire::kPersistent)},
                   {OpCode::kCreate2, create_body("/eph", {.flags = wire::kEphemeral})}},
                  {.session = SessionId{3}}),
            ErrorCode::kOk);
  EXPECT_EQ(leader.get("/box")->ephemeral_owner, kContainerOwner);
  EXPECT_EQ(leader.get("/ttl")->ephemeral_owner, owner_of_ttl(9));
  EXPECT_EQ(leader.get("/plain")->ephemeral_owner, 0);
  EXPECT_EQ(leader.get("/eph")->ephemeral_owner, 3);
}

TEST(PrepareMulti, ATransactionTooLargeForFollowersIsRefused) {
  Options options;
  options.txn_bytes_max = 1000;
  Leader leader(options);
  leader.create("/first");
  const std::string large(300, 'x');
  EXPECT_EQ(multi(leader, {set("/first", large), set("/first", large)}), ErrorCode::kOk);
  const std::vector<MultiPart> too_many(4, set("/first", large));
  EXPECT_EQ(multi(leader, too_many), ErrorCode::kMarshallingError);
  EXPECT_EQ(leader.stat("/first").version, 2);
  EXPECT_EQ(leader.create("/next"), ErrorCode::kOk) << "nothing of it is left behind";
}

}  // namespace
}  // namespace drover::state

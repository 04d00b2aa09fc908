// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads that are impossible (I5-I7, I10, I11).
#include <gtest/gtest.h>

#include "sim/oracle_testing.h"

namespace drover::sim {
namespace {

using testing::kLeader;
using testing::Reply;
using testing::Story;
using wire::OpCode;
namespace t = wire::testing;

struct CallsTest : ::testing::Test {
  Story s;
  Story::Client a = s.join();
  Story::Client b = s.join();

  Reply set(Story::Client& client, std::string_view path = "/a", std::int32_t version = -1) {
    return s.write(client, OpCode::kSetData, t::set_data_body(path, "x", version));
  }
};

TEST_F(CallsTest, CorrectHistoryIsAccepted) {
  s.create(a, "/a");
  s.create(b, "/a/e", wire::kEphemeral);
  s.do_write(a, OpCode::kCreate2, t::create_body("/a/s-", {.flags = wire::kPersistentSequential}));
  s.set(b, "/a");
  s.do_write(b, OpCode::kSetData, t::set_data_body("/a", "z", 7));
  s.do_write(a, OpCode::kDelete, t::path_version_body("/a"));
  s.do_write(a, OpCode::kSetAcl, t::set_acl_body("/a", t::acl_bytes({{wire::kRead, {"world", "anyone"}}})));
  s.do_write(a, OpCode::kSetData, t::set_data_body("/a", "z"));
  s.do_write(a, OpCode::kMulti,
             t::multi_body(
                 {{OpCode::kCreate, t::create_body("/m")}, {OpCode::kSetData, t::set_data_body("/m", "1")}}));
  s.do_write(a, OpCode::kMulti,
             t::multi_body(
                 {{OpCode::kCreate, t::create_body("/n")}, {OpCode::kDelete, t::path_version_body("/zz")}}));
  for (const OpCode op : {OpCode::kGetData, OpCode::kExists, OpCode::kGetChildren, OpCode::kGetChildren2}) {
    s.do_read(a, op, t::path_watch_body("/a"));
    s.do_read(b, op, t::path_watch_body("/"));
    s.do_read(b, op, t::path_watch_body("/missing"));
  }
  s.do_read(a, OpCode::kGetAcl, t::path_body("/a"));
  s.do_read(a, OpCode::kMultiRead,
            t::multi_body({{OpCode::kGetData, t::path_watch_body("/a")},
                           {OpCode::kGetChildren, t::path_watch_body("/zz")},
                           {OpCode::kGetChildren, t::path_watch_body("/a")}}));
  s.sync(a);
  EXPECT_ACCEPTED(s);
}

// --- writes ---

TEST_F(CallsTest, AnAcknowledgedWriteThatIsNotInTheHistoryIsFound) {
  const std::int32_t xid = s.ask(a, OpCode::kSetData, t::set_data_body("/a", "x"));
  s.tell(a, {{xid, s.last, ErrorCode::kNoNode}, ""});
  EXPECT_REJECTED(s, "I3: client 0 was told NoNode at 0x500000002 for xid 1, but it is not in the history");
}

TEST_F(CallsTest, ALeaderWithoutSpaceMayRefuseWithoutATransaction) {
  const std::int32_t xid = s.ask(a, OpCode::kSetData, t::set_data_body("/a", "x"));
  s.tell(a, {{xid, s.last, ErrorCode::kSystemError}, ""});
  EXPECT_ACCEPTED(s);
}

TEST_F(CallsTest, AWrongErrorCodeIsFound) {
  Reply reply = set(a);
  reply.header.error = ErrorCode::kBadVersion;
  s.tell(a, reply);
  EXPECT_REJECTED(s, "I5: client 0 was told BadVersion for xid 1 at 0x500000003 instead of NoNode");
}

TEST_F(CallsTest, AWrongVersionInTheStatIsFound) {
  s.create(a, "/a");
  Reply reply = set(a);
  reply.body[35] += 1;  // the version comes after two zxids and two times
  s.tell(a, reply);
  EXPECT_REJECTED(s, "I5: client 0 was told something else for xid 2");
}

TEST_F(CallsTest, AWrongSequentialNameIsFound) {
  Reply reply = s.write(a, OpCode::kCreate, t::create_body("/s-", {.flags = wire::kPersistentSequential}));
  reply.body.back() += 1;
  s.tell(a, reply);
  EXPECT_REJECTED(s, "I5: client 0 was told something else");
}

TEST_F(CallsTest, AWrongPartOfAMultiIsFound) {
  Reply reply = s.write(a, OpCode::kMulti,
                        t::multi_body({{OpCode::kCreate, t::create_body("/m")},
                                       {OpCode::kCheck, t::path_version_body("/zz", 3)}}));
  const std::string before = reply.body;
  reply.body.replace(5, 4, t::from_hex("ffffff9b"));
  ASSERT_NE(reply.body, before);
  s.tell(a, reply);
  EXPECT_REJECTED(s, "I5: client 0 was told something else");
}

TEST_F(CallsTest, WrongZxidInAReplyIsFound) {
  Reply reply = set(a);
  set(b);
  reply.header.zxid = s.last;
  s.tell(a, reply);
  EXPECT_REJECTED(s, "I6: client 0 was told that xid 1 is 0x500000004, but it is 0x500000003");
}

TEST_F(CallsTest, WriteBelowAZxidSeenBeforeItsRequestIsFound) {
  const std::string body = t::set_data_body("/a", "x");
  const std::int32_t of_b = s.ask(b, OpCode::kSetData, body);
  s.oracle.on_known(s.decide(a.session, 1, OpCode::kSetData, body));
  s.oracle.on_known(s.decide(b.session, of_b, OpCode::kSetData, body));
  s.tell(b, s.reply_of_last(OpCode::kSetData, of_b));
  s.ask(a, OpCode::kSetData, body);  // b had its answer before a asked; and yet a's write is the earlier one
  EXPECT_REJECTED(s, "I11: 0x500000003 of session 0x701, xid 1, which nobody asked for");
}

TEST_F(CallsTest, TransactionWithoutARequestIsFound) {
  s.commit_next(a.session, 9, OpCode::kDelete, t::path_version_body("/a"));
  EXPECT_REJECTED(s, "I11: 0x500000003 of session 0x701, xid 9, which nobody asked for");
}

TEST_F(CallsTest, WriteThatIsAppliedTwiceIsFound) {
  const std::string body = t::set_data_body("/a", "1");
  const std::int32_t xid = s.ask(a, OpCode::kSetData, body);
  s.commit_next(a.session, xid, OpCode::kSetData, body);
  s.commit_next(a.session, xid, OpCode::kSetData, body);
  EXPECT_REJECTED(s, "I11: xid 1 of session 0x701 is in the history at 0x500000003 and at 0x500000004");
}

TEST_F(CallsTest, WriteWithALostReplyMayBeAppliedOnce) {
  const std::string body = t::set_data_body("/a", "1");
  const std::int32_t lost = s.ask(a, OpCode::kSetData, body);
  s.oracle.on_disconnected(a.id);
  s.oracle.on_lost(a.id, lost);
  s.commit_next(a.session, lost, OpCode::kSetData, body);
  EXPECT_ACCEPTED(s);
  s.commit_next(a.session, lost, OpCode::kSetData, body);
  EXPECT_REJECTED(s, "I11: xid 1");
}

TEST_F(CallsTest, UnsentWriteThatIsAppliedIsFound) {
  const std::string body = t::set_data_body("/a", "1");
  const std::int32_t xid = s.ask(a, OpCode::kSetData, body);
  s.oracle.on_not_applied(a.id, xid);
  s.commit_next(a.session, xid, OpCode::kSetData, body);
  EXPECT_REJECTED(s, "which its client says it never sent");
}

TEST_F(CallsTest, AWriteThatOvertakesAnEarlierOneOfItsSessionIsFound) {
  const std::string body = t::set_data_body("/a", "1");
  const std::int32_t first = s.ask(a, OpCode::kSetData, body);
  const std::int32_t second = s.ask(a, OpCode::kSetData, body);
  s.commit_next(a.session, second, OpCode::kSetData, body);
  s.commit_next(a.session, first, OpCode::kSetData, body);
  EXPECT_REJECTED(s, "I6: 0x500000004 is xid 1 of session 0x701, behind its xid 2");
}

TEST_F(CallsTest, WriteAfterTheReplyToALaterSyncIsFound) {
  const std::string body = t::set_data_body("/a", "1");
  const std::int32_t lost = s.ask(a, OpCode::kSetData, body);
  s.oracle.on_disconnected(a.id);
  s.oracle.on_lost(a.id, lost);
  s.sync(a);
  s.commit_next(a.session, lost, OpCode::kSetData, body);
  EXPECT_REJECTED(s, "I6: 0x500000003 is xid 1 of session 0x701, which came after the answer to its sync 2");
}

TEST_F(CallsTest, RepliesOutOfOrderAreFound) {
  const Reply first = set(a);
  const Reply second = set(a);
  s.tell(a, second);
  s.tell(a, first);
  EXPECT_REJECTED(s, "I6: client 0 got an answer to xid 2, and waits for xid 1");
}

TEST_F(CallsTest, RepeatedReplyIsFound) {
  const Reply reply = set(a);
  s.tell(a, reply);
  s.tell(a, reply);
  EXPECT_REJECTED(s, "I6: client 0 got an answer to xid 1, and waits for none");
}

TEST_F(CallsTest, AWronglyDecidedWriteIsFound) {
  // The version is right, but the leader says that it is not.
  s.create(a, "/a");
  const std::string body = t::set_data_body("/a", "x", 0);
  const std::int32_t xid = s.ask(a, OpCode::kSetData, body);
  const std::string entry = t::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{a.session, xid, next(s.last), 1, OpCode::kError});
    wire::encode(w, wire::ErrorTxn{ErrorCode::kBadVersion});
  });
  s.apply(entry);
  s.commit(entry);
  EXPECT_REJECTED(
      s, "I5: 0x500000004 is not what its request makes of the state before it: BadVersion instead of Ok");
}

TEST_F(CallsTest, TwoSuccessfulCreatesOfOnePathAreFound) {
  // As if the leader had checked only the tree, and not the changes under way.
  const std::string body = t::create_body("/a", {.data = "x"});
  const std::int32_t of_a = s.ask(a, OpCode::kCreate, body);
  const std::int32_t of_b = s.ask(b, OpCode::kCreate, body);
  s.commit_next(a.session, of_a, OpCode::kCreate, body);
  std::string again = t::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{b.session, of_b, next(s.last), 1, OpCode::kCreate});
    wire::encode(
        w, OpCode::kCreate,
        wire::CreateTxn{.path = "/a", .data = "x", .acl = wire::open_acl_bytes(), .parent_cversion = 2});
  });
  s.apply(again);
  s.commit(again);
  EXPECT_REJECTED(
      s, "I5: 0x500000004 is not what its request makes of the state before it: Ok instead of NodeExists");
}

TEST_F(CallsTest, DeletionOfAContainerInUseIsFound) {
  s.do_write(a, OpCode::kCreateContainer, t::create_body("/c", {.flags = wire::kContainer}));
  s.create(a, "/p");
  const std::string entry = t::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{SessionId{}, 0, next(s.last), 1, OpCode::kDeleteContainer});
    wire::encode(w, wire::DeleteTxn{"/"});
  });
  s.oracle.on_applied(kLeader, next(s.last), entry, std::nullopt, true);
  EXPECT_REJECTED(s, "which was not to be deleted");
}

// --- reads ---

TEST_F(CallsTest, AReadOfAnEarlierStateThanSeenIsFound) {
  s.create(a, "/a");
  const Zxid before = s.last;
  const Reply old = s.answer(a, 2, OpCode::kGetData, t::path_watch_body("/a"));
  s.set(a, "/a");
  const std::int32_t xid = s.ask(a, OpCode::kGetData, t::path_watch_body("/a"));
  s.tell(a, {{xid, before, ErrorCode::kOk}, old.body});
  EXPECT_REJECTED(s, "I7: client 0 saw 0x500000004, and then 0x500000003");
}

TEST_F(CallsTest, StaleReadOfAnotherSessionIsAccepted) {
  s.create(a, "/a");
  const Zxid before = s.last;
  const Reply old = s.answer(b, 1, OpCode::kGetData, t::path_watch_body("/a"));
  s.set(a, "/a");
  const std::int32_t xid = s.ask(b, OpCode::kGetData, t::path_watch_body("/a"));
  s.tell(b, {{xid, before, ErrorCode::kOk}, old.body});
  EXPECT_ACCEPTED(s);
}

TEST_F(CallsTest, AStaleValueUnderANewZxidIsFound) {
  s.create(a, "/a");
  const Reply old = s.answer(b, 1, OpCode::kGetData, t::path_watch_body("/a"));
  s.set(a, "/a");
  Reply reply = s.read(b, OpCode::kGetData, t::path_watch_body("/a"));
  reply.body = old.body;
  s.tell(b, reply);
  EXPECT_REJECTED(s, "I7: client 1 was shown another data of /a at 0x500000004");
}

TEST_F(CallsTest, AValueFromTheFutureIsFound) {
  s.create(a, "/a");
  const Zxid before = s.last;
  s.set(a, "/a");
  Reply reply = s.read(b, OpCode::kGetData, t::path_watch_body("/a"));
  reply.header.zxid = before;
  s.tell(b, reply);
  EXPECT_REJECTED(s, "I7: client 1 was shown another data of /a at 0x500000003");
}

TEST_F(CallsTest, AWrongStatIsFound) {
  s.create(a, "/a");
  Reply reply = s.read(b, OpCode::kExists, t::path_watch_body("/a"));
  reply.body[7] ^= 1;
  s.tell(b, reply);
  EXPECT_REJECTED(s, "I7: client 1 was shown another Stat of /a");
}

TEST_F(CallsTest, AMissingChildIsFound) {
  s.create(a, "/a");
  s.create(a, "/a/x");
  const Reply old = s.answer(b, 1, OpCode::kGetChildren, t::path_watch_body("/a"));
  s.create(a, "/a/y");
  Reply reply = s.read(b, OpCode::kGetChildren, t::path_watch_body("/a"));
  reply.body = old.body;
  s.tell(b, reply);
  EXPECT_REJECTED(s, "I7: client 1 was shown another children of /a");
}

TEST_F(CallsTest, ExistingNodeReportedAsMissingIsFound) {
  s.create(a, "/a");
  Reply reply = s.read(b, OpCode::kGetData, t::path_watch_body("/a"));
  s.tell(b, {{reply.header.xid, reply.header.zxid, ErrorCode::kNoNode}, ""});
  EXPECT_REJECTED(s, "I7: client 1 was told NoNode for /a at 0x500000003 by xid 1 instead of Ok");
}

TEST_F(CallsTest, ADeletedNodeThatIsStillShownIsFound) {
  s.create(a, "/a");
  const Reply old = s.answer(b, 1, OpCode::kExists, t::path_watch_body("/a"));
  s.remove(a, "/a");
  const std::int32_t xid = s.ask(b, OpCode::kExists, t::path_watch_body("/a"));
  s.tell(b, {{xid, s.last, ErrorCode::kOk}, old.body});
  EXPECT_REJECTED(s, "I7: client 1 was told Ok for /a at 0x500000004 by xid 1 instead of NoNode");
}

TEST_F(CallsTest, AWrongPartOfAMultiReadIsFound) {
  s.create(a, "/a");
  const std::string body = t::multi_body(
      {{OpCode::kGetChildren, t::path_watch_body("/")}, {OpCode::kGetData, t::path_watch_body("/a")}});
  const Reply old = s.answer(b, 1, OpCode::kMultiRead, body);
  s.set(a, "/a");
  Reply reply = s.read(b, OpCode::kMultiRead, body);
  reply.body = old.body;
  s.tell(b, reply);
  EXPECT_REJECTED(s, "I7: client 1 was shown another data of /a");
}

TEST_F(CallsTest, SyncThatShowsLessThanWasSeenBeforeIsFound) {
  const Zxid before = s.last;
  s.create(a, "/a");
  const std::int32_t xid = s.ask(b, OpCode::kSync, t::path_body("/"));
  s.tell(b, {{xid, before, ErrorCode::kOk}, t::path_body("/")});
  EXPECT_REJECTED(s, "I5: the sync 1 of client 1 shows 0x500000002, but 0x500000003 had been seen");
}

}  // namespace
}  // namespace drover::sim

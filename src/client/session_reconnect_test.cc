// SPDX-License-Identifier: Apache-2.0
//
// Several connections: what is lost with one, what survives it, and when the session itself is over.
#include <gtest/gtest.h>

#include <set>

#include "client/session.h"
#include "client/testing.h"

namespace drover::client {
namespace {

using testing::Bench;
using testing::kPassword;
using testing::kSession;
using wire::EventType;
using wire::OpCode;
namespace t = wire::testing;

TEST(SessionReconnect, SentRequestsAreUnknownAndQueuedOnesWait) {
  Bench b;
  b.open();
  b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  b.lose();
  EXPECT_EQ(b.session.state(), SessionState::kSuspended);
  EXPECT_TRUE(b.ended_with(1, Outcome::kUnknown, ErrorCode::kConnectionLoss));
  b.sent.clear();
  const std::int32_t xid = b.submit(2, OpCode::kDelete, t::path_version_body("/b"));
  EXPECT_EQ(b.sent, "");
  b.reopen();
  const auto request = b.take_request();
  EXPECT_EQ(request.xid, xid);
  EXPECT_EQ(request.body, t::path_version_body("/b"));
  EXPECT_EQ(b.sent, "") << "nothing is sent twice";
}

TEST(SessionReconnect, QueuedRequestsSurviveSilentServers) {
  Bench b({.servers = 3});
  b.open();
  b.lose();
  b.submit(1, OpCode::kDelete, t::path_version_body("/a"));
  for (int i = 0; i < 5; ++i) {
    b.wait_for_dial();
    if (i % 2 == 0) b.connect_socket();
    b.lose();
  }
  EXPECT_TRUE(b.ended.empty());
  b.reopen();
  EXPECT_EQ(b.take_request().body, t::path_version_body("/a"));
}

TEST(SessionReconnect, ResumesWithPasswordAndLastZxidSeen) {
  Bench b;
  b.open();
  const std::int32_t xid = b.submit(1, OpCode::kSync, t::path_body("/"));
  b.hear(Bench::reply(xid, 0x500000002));
  b.lose();
  b.wait_for_dial();
  b.sent.clear();
  b.connect_socket();
  const auto request = b.connect_request();
  EXPECT_EQ(request.session, kSession);
  EXPECT_EQ(request.password, kPassword);
  EXPECT_EQ(request.last_zxid_seen, Zxid{0x500000002});
}

TEST(SessionReconnect, EventCountsAsSeen) {
  // Otherwise a server that is behind the event could answer the read that the event leads to.
  Bench b;
  b.open();
  b.hear(Bench::event(EventType::kNodeCreated, "/a", 0x500000009));
  EXPECT_EQ(b.session.last_zxid_seen(), Zxid{0x500000009});
  b.hear(Bench::event(EventType::kNodeCreated, "/a", -1));
  EXPECT_EQ(b.session.last_zxid_seen(), Zxid{0x500000009});
}

TEST(SessionReconnect, TriesAllServersAndThenWaits) {
  Bench b({.servers = 3});
  b.start();
  std::set<std::size_t> tried{b.wait_for_dial()};
  const Instant begun = b.now;
  for (int i = 0; i < 2; ++i) {
    b.lose();
    tried.insert(b.wait_for_dial());
  }
  EXPECT_EQ(tried.size(), 3u);
  EXPECT_LE(b.now - begun, 2 * kJitterMs);
  const Instant round_over = b.now;
  b.lose();
  b.wait_for_dial();
  EXPECT_GE(b.now - round_over, kRoundDelayMinMs / 2);
  EXPECT_EQ(b.session.state(), SessionState::kConnecting) << "there never was a connection";
}

TEST(SessionReconnect, SilentServerGetsItsShareOfTheTimeout) {
  Bench b({.servers = 3, .timeout_ms = 9000});
  b.start();
  b.wait_for_dial();
  b.connect_socket();
  b.pass(2999);
  EXPECT_EQ(b.hang_ups, 0u);
  b.pass(1);
  EXPECT_EQ(b.hang_ups, 1u);
}

TEST(SessionReconnect, OneSilenceOfTheOnlyServerDoesNotCostTheSession) {
  Bench b({.servers = 1, .timeout_ms = 9000});
  b.open(9000);
  b.lose();
  b.wait_for_dial();
  b.connect_socket();
  b.pass(3000);
  EXPECT_EQ(b.hang_ups, 1u);
  b.lose();
  b.reopen(9000);
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
}

TEST(SessionReconnect, SessionExpiresWhenAServerSaysSo) {
  Bench b;
  b.open();
  b.lose();
  b.submit(1, OpCode::kSync, "");
  b.wait_for_dial();
  b.connect_socket();
  b.hear(Bench::connect_response(0, SessionId{}));
  EXPECT_EQ(b.session.state(), SessionState::kExpired);
  EXPECT_TRUE(b.ended_with(1, Outcome::kNotApplied, ErrorCode::kSessionExpired));
}

TEST(SessionReconnect, DifferentSessionIdMeansExpired) {
  Bench b;
  b.open();
  b.lose();
  b.wait_for_dial();
  b.connect_socket();
  b.hear(Bench::connect_response(9000, SessionId{99}));
  EXPECT_EQ(b.session.state(), SessionState::kExpired);
}

TEST(SessionReconnect, SessionExpiresOneTimeoutAfterTheLastAnsweredRequestWasSent) {
  Bench b({.timeout_ms = 9000});
  b.open(9000);
  b.pass(1000);
  const std::int32_t xid = b.submit(1, OpCode::kSync, t::path_body("/"));
  const Instant sent_at = b.now;
  b.pass(500);
  b.hear(Bench::reply(xid, 5));
  EXPECT_EQ(b.session.valid_until(), sent_at + 9000) << "not from when the answer came";
  b.lose();
  while (b.session.state() == SessionState::kSuspended && b.now < sent_at + 20'000) {
    if (b.dialled) {
      b.dialled.reset();
      b.lose();
    }
    b.pass(9000);
  }
  EXPECT_EQ(b.session.state(), SessionState::kExpired);
  EXPECT_EQ(b.now, sent_at + 9000);
}

TEST(SessionReconnect, WithoutLocalExpiryOnlyAServerEndsTheSession) {
  Bench b({.timeout_ms = 9000, .expire_locally = false});
  b.open(9000);
  b.lose();
  for (int i = 0; i < 50; ++i) {
    b.wait_for_dial();
    b.lose();
  }
  b.now = b.now + 60'000;
  b.reopen();
  EXPECT_EQ(b.session.state(), SessionState::kConnected);
}

TEST(SessionReconnect, CloseIsRepeatedUntilAServerConfirms) {
  Bench b;
  b.open();
  b.session.close(b.now, b.effects);
  b.lose();
  EXPECT_EQ(b.session.state(), SessionState::kSuspended);
  b.sent.clear();
  b.reopen();
  const auto close = b.take_request();
  EXPECT_EQ(close.op, OpCode::kCloseSession);
  b.hear(Bench::reply(close.xid, 7));
  EXPECT_TRUE(b.session.is_close_confirmed());
}

TEST(SessionReconnect, CloseWithALostReplyIsRecognised) {
  Bench b;
  b.open();
  b.session.close(b.now, b.effects);
  b.lose();
  b.wait_for_dial();
  b.connect_socket();
  b.hear(Bench::connect_response(0, SessionId{}));
  EXPECT_EQ(b.session.state(), SessionState::kClosed);
}

TEST(SessionReconnect, AuthenticationIsSentFirst) {
  Bench b;
  b.open();
  b.session.add_auth(Token{9}, "digest", "u:p", b.now, b.effects);
  b.hear(Bench::reply(wire::kAuthXid, 0));
  b.lose();
  b.submit(1, OpCode::kSync, t::path_body("/"));
  b.sent.clear();
  b.reopen();
  EXPECT_EQ(b.take_request().op, OpCode::kAuth);
  EXPECT_EQ(b.take_request().op, OpCode::kSync);
  b.hear(Bench::reply(wire::kAuthXid, 0));
  EXPECT_EQ(b.ended.size(), 1u) << "a second reply is ignored";
}

TEST(SessionReconnect, ReadOnlySessionIsNotResumedElsewhere) {
  Bench b({.read_only_ok = true});
  b.start();
  b.wait_for_dial();
  b.connect_socket();
  EXPECT_TRUE(b.connect_request().read_only);
  b.hear(Bench::connect_response(9000, kSession, /*read_only=*/true));
  EXPECT_EQ(b.session.state(), SessionState::kConnectedReadOnly);
  b.session.move_on(b.now, b.effects);
  b.hear("");
  b.wait_for_dial();
  b.connect_socket();
  EXPECT_EQ(b.connect_request().session, SessionId{});
}

TEST(SessionReconnect, ReadWriteClientLeavesAReadOnlyServer) {
  Bench b;
  b.start();
  b.wait_for_dial();
  b.connect_socket();
  b.hear(Bench::connect_response(9000, kSession, /*read_only=*/true));
  EXPECT_EQ(b.hang_ups, 1u);
  EXPECT_EQ(b.session.state(), SessionState::kConnecting);
}

// --- watches ---

wire::SetWatchesRequest set_watches_of(const testing::Request& request) {
  wire::Reader r(request.body);
  const auto decoded = wire::decode_set_watches(r, request.op);
  EXPECT_TRUE(decoded.has_value());
  return decoded.value_or(wire::SetWatchesRequest{});
}

TEST(SessionWatches, AreSetAgainBeforeWaitingRequests) {
  Bench b;
  b.open();
  const std::string stat(wire::kStatBytes, '\0');
  const auto ask = [&](OpCode op, const std::string& body, ErrorCode error, std::int64_t zxid) {
    const std::int32_t xid = b.submit(1, op, body);
    b.hear(Bench::reply(xid, zxid, error, stat));
  };
  ask(OpCode::kGetData, t::path_watch_body("/data", true), ErrorCode::kOk, 11);
  ask(OpCode::kGetData, t::path_watch_body("/missing", true), ErrorCode::kNoNode, 12);
  ask(OpCode::kGetData, t::path_watch_body("/unwatched", false), ErrorCode::kOk, 12);
  ask(OpCode::kExists, t::path_watch_body("/there", true), ErrorCode::kOk, 13);
  ask(OpCode::kExists, t::path_watch_body("/awaited", true), ErrorCode::kNoNode, 14);
  ask(OpCode::kGetChildren2, t::path_watch_body("/parent", true), ErrorCode::kOk, 15);
  ask(OpCode::kAddWatch, t::path_type_body("/persistent", 0), ErrorCode::kOk, 16);
  ask(OpCode::kAddWatch, t::path_type_body("/recursive", 1), ErrorCode::kOk, 17);
  b.lose();
  b.submit(2, OpCode::kSync, t::path_body("/"));
  b.sent.clear();
  b.reopen();
  const auto request = b.take_request();
  ASSERT_EQ(request.op, OpCode::kSetWatches2);
  EXPECT_EQ(request.xid, kSetWatchesXid);
  const auto set = set_watches_of(request);
  EXPECT_EQ(set.relative_zxid, Zxid{17});
  EXPECT_EQ(set.data, (std::vector<std::string_view>{"/data", "/there"}));
  EXPECT_EQ(set.exist, (std::vector<std::string_view>{"/awaited"}));
  EXPECT_EQ(set.child, (std::vector<std::string_view>{"/parent"}));
  EXPECT_EQ(set.persistent, (std::vector<std::string_view>{"/persistent"}));
  EXPECT_EQ(set.persistent_recursive, (std::vector<std::string_view>{"/recursive"}));
  EXPECT_EQ(b.take_request().op, OpCode::kSync);
}

TEST(SessionWatches, FiredOrRemovedWatchIsNotSetAgain) {
  Bench b;
  b.open();
  const std::string stat(wire::kStatBytes, '\0');
  for (const char* path : {"/fired", "/removed", "/kept"}) {
    const std::int32_t xid = b.submit(1, OpCode::kExists, t::path_watch_body(path, true));
    b.hear(Bench::reply(xid, 5, ErrorCode::kOk, stat));
  }
  b.hear(Bench::event(EventType::kNodeDataChanged, "/fired", 6));
  const std::int32_t xid = b.submit(1, OpCode::kRemoveWatches, t::path_type_body("/removed", kRemoveData));
  b.hear(Bench::reply(xid, 6));
  b.lose();
  b.sent.clear();
  b.reopen();
  const auto request = b.take_request();
  EXPECT_EQ(request.op, OpCode::kSetWatches) << "what every server understands";
  EXPECT_EQ(set_watches_of(request).data, (std::vector<std::string_view>{"/kept"}));
}

TEST(SessionWatches, ManyAreSetAgainInPieces) {
  Bench b({.frame_bytes_max = 1 << 20, .set_watches_piece_bytes = 1000});
  b.open();
  const std::string stat(wire::kStatBytes, '\0');
  for (int i = 0; i < 200; ++i) {
    const std::string path = "/a-rather-long-name-" + std::to_string(i);
    const std::int32_t xid = b.submit(1, OpCode::kExists, t::path_watch_body(path, true));
    b.hear(Bench::reply(xid, 5, ErrorCode::kOk, stat));
  }
  b.lose();
  b.sent.clear();
  b.reopen();
  std::size_t paths = 0;
  std::size_t pieces = 0;
  while (!b.sent.empty()) {
    const auto request = b.take_request();
    EXPECT_LE(request.body.size(), 1000u + 20u);
    paths += set_watches_of(request).data.size();
    ++pieces;
  }
  EXPECT_EQ(paths, 200u);
  EXPECT_GE(pieces, 5u);
}

TEST(SessionWatches, UnansweredPieceIsSentAgainWithTheSameZxid) {
  // The first piece's answer shows zxid 20. If it counted, a change at 15 that only the second piece asks
  // about would be taken for known, and never told.
  Bench b({.set_watches_piece_bytes = 10});
  b.open();
  const std::string stat(wire::kStatBytes, '\0');
  for (const char* path : {"/first", "/second"}) {
    const std::int32_t xid = b.submit(1, OpCode::kExists, t::path_watch_body(path, true));
    b.hear(Bench::reply(xid, 10, ErrorCode::kOk, stat));
  }
  b.lose();
  b.reopen();
  b.hear(Bench::reply(kSetWatchesXid, 20));
  b.lose();
  b.sent.clear();
  b.reopen();
  EXPECT_EQ(set_watches_of(b.take_request()).relative_zxid, Zxid{10});
  EXPECT_EQ(set_watches_of(b.take_request()).relative_zxid, Zxid{10});
  b.hear(Bench::reply(kSetWatchesXid, 30) + Bench::reply(kSetWatchesXid, 30));
  b.lose();
  b.sent.clear();
  b.reopen();
  EXPECT_EQ(set_watches_of(b.take_request()).relative_zxid, Zxid{30});
}

TEST(SessionWatches, ServerThatDoesNotSetThemIsLeft) {
  Bench b;
  b.open();
  const std::int32_t xid = b.submit(1, OpCode::kAddWatch, t::path_type_body("/", 1));
  b.hear(Bench::reply(xid, 10, ErrorCode::kOk, std::string(4, '\0')));
  b.lose();
  b.reopen();
  b.hear(Bench::reply(kSetWatchesXid, 20, ErrorCode::kQuotaExceeded));
  EXPECT_EQ(b.hang_ups, 1u);
}

}  // namespace
}  // namespace drover::client

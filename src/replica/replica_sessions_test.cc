// SPDX-License-Identifier: Apache-2.0
//
// The life of a session: created, moved, expired, closed (docs/client-protocol.md, "Sessions").
#include <gtest/gtest.h>

#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_watch_body;

constexpr std::int64_t kTick = 3000;

ErrorCode create_ephemeral(Client& c, std::string_view path) {
  return c.create(path, {.flags = wire::kEphemeral});
}

TEST(Sessions, HaveIdsThatCountUp) {
  Harness h;
  Client a = connected(h);
  Client b = connected(h);
  EXPECT_EQ(a.session(), kFirstSession);
  EXPECT_EQ(raw(b.session()), raw(kFirstSession) + 1);
  EXPECT_EQ(h.replica->session_count(), 2u);
}

TEST(Sessions, SurviveTheirConnection) {
  Harness h;
  Client c = connected(h);
  create_ephemeral(c, "/e");
  c.vanish();
  h.advance(5000);
  EXPECT_NE(h.machine.tree.get("/e"), nullptr);
  Client again = connected(h, {.session = c.session()});
  EXPECT_EQ(again.session(), c.session());
  EXPECT_EQ(h.replica->stats().reconnects, 1u);
}

TEST(Sessions, ExpireAfterTheirTimeoutAndAtMostATickLater) {
  Harness h;
  Client c = connected(h, {.timeout_ms = 7000});
  create_ephemeral(c, "/e");
  const Instant silent_since = h.now;
  h.advance(1);  // the last request is reported
  while (h.machine.tree.get("/e")) {
    h.advance(500);
    ASSERT_LE(h.now - silent_since, 7000 + kTick + 500);
  }
  EXPECT_GT(h.now - silent_since, 7000);
  EXPECT_TRUE(c.closed()) << "and the connection with it";
  EXPECT_TRUE(c.take().empty()) << "without a word";
  EXPECT_FALSE(h.machine.sessions.contains(c.session()));
  EXPECT_EQ(h.replica->stats().sessions_expired, 1u);
  Client late(h);
  const auto answer = late.connect({.session = c.session()});
  EXPECT_EQ(wire::decode_connect_response(*answer)->timeout_ms, 0) << "it learns so when it comes back";
}

TEST(Sessions, StayAliveWithPings) {
  Harness h;
  Client c = connected(h, {.timeout_ms = 7000});
  for (int i = 0; i < 20; ++i) {
    c.send(OpCode::kPing);
    h.advance(3000);
  }
  EXPECT_FALSE(c.closed());
  EXPECT_TRUE(h.machine.sessions.contains(c.session()));
}

TEST(Sessions, LastRequestBeforeABrokenConnectionExtendsTheSession) {
  Harness h;
  Client c = connected(h, {.timeout_ms = 7000});
  h.advance(6000);
  c.send(OpCode::kPing);
  c.vanish();  // before the front has reported anything
  h.advance(6000);
  EXPECT_TRUE(h.machine.sessions.contains(c.session()));
  h.advance(20'000);
  EXPECT_FALSE(h.machine.sessions.contains(c.session()));
}

TEST(Sessions, AFrontThatReportsLateDelaysExpiryButNeverCausesIt) {
  HarnessConfig config;
  config.fronts = 2;
  Harness h(config);
  Client c = connected(h, {.timeout_ms = 7000}, 1);
  for (int i = 0; i < 10; ++i) h.advance(3000, /*silent=*/{1});
  EXPECT_TRUE(h.machine.sessions.contains(c.session())) << "it may have pinged; front 1 has not said";
  c.send(OpCode::kPing);
  h.advance(1000);
  EXPECT_TRUE(h.machine.sessions.contains(c.session()));
  h.advance(20'000);
  EXPECT_FALSE(h.machine.sessions.contains(c.session()));
}

TEST(Sessions, MoveToTheNewConnectionAndTheOldOneIsClosed) {
  HarnessConfig config;
  config.fronts = 2;
  Harness h(config);
  Client old = connected(h, {}, 0);
  old.ask(OpCode::kExists, path_watch_body("/a", true));
  Client fresh = connected(h, {.session = old.session()}, 1);
  EXPECT_EQ(fresh.session(), old.session());
  EXPECT_TRUE(old.closed());
  EXPECT_EQ(fresh.create("/a"), ErrorCode::kOk);
  EXPECT_FALSE(fresh.closed());
}

TEST(Sessions, RequestsOfTheOldConnectionDoNotExtendAMovedSession) {
  HarnessConfig config;
  config.fronts = 2;
  Harness h(config);
  Client old = connected(h, {}, 0);
  // The old connection's write reaches the replica after the move.
  old.queue(OpCode::kCreate, create_body("/stale"));
  old.flush();
  ToReplica late = std::exchange(h.front(0).outbox(), ToReplica{});
  Client fresh = connected(h, {.session = old.session()}, 1);
  Effects effects;
  h.replica->on_front(FrontId{0}, late, h.now, h.wall, effects);
  h.carry_out(effects);
  h.settle();
  EXPECT_EQ(h.machine.tree.get("/stale"), nullptr);
  EXPECT_TRUE(old.closed());
  EXPECT_FALSE(fresh.closed());
}

TEST(Sessions, AReconnectRenegotiatesTheTimeout) {
  Harness h;
  Client c = connected(h, {.timeout_ms = 60'000});
  c.vanish();
  Client again(h);
  const auto answer = again.connect({.timeout_ms = 8000, .session = c.session()});
  EXPECT_EQ(wire::decode_connect_response(*answer)->timeout_ms, 8000);
  again.vanish();
  for (int i = 0; i < 4; ++i) h.advance(3000);
  EXPECT_FALSE(h.machine.sessions.contains(c.session())) << "which counts from now on";
}

TEST(Sessions, CloseDeletesTheirEphemerals) {
  Harness h;
  Client c = connected(h);
  Client watcher = connected(h);
  create_ephemeral(c, "/e");
  watcher.ask(OpCode::kExists, path_watch_body("/e", true));
  const Reply reply = c.ask(OpCode::kCloseSession);
  EXPECT_EQ(reply.header.error, ErrorCode::kOk);
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.machine.tree.get("/e"), nullptr);
  EXPECT_EQ(story(watcher.take()), Story{"deleted /e"});
  EXPECT_EQ(h.replica->stats().sessions_closed, 1u);
  EXPECT_EQ(h.replica->stats().sessions_expired, 0u);
  EXPECT_EQ(h.replica->expiry().size(), 1u);
}

TEST(Sessions, WritesAfterTheirEndFail) {
  HarnessConfig config;
  config.durable_at_once = false;
  Harness h(config);
  Client c(h);
  c.send_hello({.timeout_ms = 7000});
  h.durable();
  c.take_hello();
  for (int i = 0; i < 5; ++i) h.advance(3000);  // expired; its end is not durable yet
  c.send(OpCode::kCreate, create_body("/ghost", {.flags = wire::kEphemeral}));
  h.durable();
  EXPECT_EQ(h.machine.tree.get("/ghost"), nullptr);
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.machine.tree.ephemeral_count(), 0u);
}

TEST(Sessions, AReconnectWhileTheSessionEndsIsRefused) {
  HarnessConfig config;
  config.durable_at_once = false;
  Harness h(config);
  Client c(h);
  c.send_hello({.timeout_ms = 7000});
  h.durable();
  c.take_hello();
  c.vanish();
  for (int i = 0; i < 5; ++i) h.advance(3000);
  Client late(h);
  late.send_hello({.session = c.session()});
  const auto answer = late.take_hello();
  ASSERT_TRUE(answer);
  EXPECT_EQ(wire::decode_connect_response(*answer)->timeout_ms, 0);
  EXPECT_EQ(h.replica->stats().reconnects_refused, 1u);
}

// ---- restarts ----

TEST(Restart, EverySessionGetsAFullTimeout) {
  Harness h;
  Client c = connected(h, {.timeout_ms = 10'000});
  create_ephemeral(c, "/e");
  h.now = h.now + 50'000;  // the server was down for longer than the timeout
  h.restart();
  h.advance(9000);
  EXPECT_NE(h.machine.tree.get("/e"), nullptr);
  Client again = connected(h, {.session = c.session()});
  EXPECT_EQ(again.session(), c.session());
  EXPECT_EQ(again.error(OpCode::kExists, path_watch_body("/e")), ErrorCode::kOk);
}

TEST(Restart, IdsOfLiveSessionsAreNotReused) {
  Harness h;
  Client a = connected(h);
  h.restart();
  Client b = connected(h);
  EXPECT_NE(b.session(), a.session());
}

TEST(Restart, EphemeralsOfMissingSessionsAreDeleted) {
  Harness h;
  Client alive = connected(h);
  Client gone = connected(h);
  create_ephemeral(alive, "/alive");
  create_ephemeral(gone, "/orphan");
  h.machine.sessions.erase(gone.session());
  h.restart();
  h.settle();
  EXPECT_EQ(h.machine.tree.get("/orphan"), nullptr);
  EXPECT_NE(h.machine.tree.get("/alive"), nullptr);
}

// ---- throttling ----

TEST(NewSessions, AreLimitedInRate) {
  HarnessConfig config;
  config.replica.session_rate.per_second = 5;
  Harness h(config);
  const auto accepted = [&](int asked) {
    int n = 0;
    for (int i = 0; i < asked; ++i) n += Client(h).connect().has_value();
    return n;
  };
  EXPECT_EQ(accepted(20), 5) << "a bucket of one second";
  h.advance(1000);
  EXPECT_EQ(accepted(20), 5);
  h.advance(400);
  EXPECT_EQ(accepted(20), 2);
  h.advance(3'600'000);
  EXPECT_EQ(accepted(20), 5) << "idle hours do not pile up";
  EXPECT_EQ(h.replica->stats().sessions_throttled, 80u - 17u);
}

TEST(NewSessions, AreLimitedInRatePerAddress) {
  HarnessConfig config;
  config.replica.session_rate = {.per_second = 100, .per_second_per_address = 3};
  Harness h(config);
  int accepted = 0;
  for (int i = 0; i < 20; ++i) accepted += Client(h).connect().has_value();
  EXPECT_EQ(accepted, 3) << "all clients here have one address";
  EXPECT_EQ(h.replica->stats().sessions_throttled, 17u);
}

TEST(NewSessions, ReconnectsAreNotThrottled) {
  HarnessConfig config;
  config.replica.session_rate.per_second = 1;
  Harness h(config);
  Client c = connected(h);
  for (int i = 0; i < 5; ++i) {
    Client again(h);
    EXPECT_TRUE(again.connect({.session = c.session()}));
  }
}

}  // namespace
}  // namespace drover::replica

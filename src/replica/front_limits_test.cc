// SPDX-License-Identifier: Apache-2.0
//
// Refused handshakes, bad frames, and limits (docs/client-protocol.md, "Frames" and "Handshake").
#include <gtest/gtest.h>

#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::from_hex;
using wire::testing::path_type_body;
using wire::testing::path_version_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;
using wire::testing::to_hex;

// ---- handshake ----

TEST(Connect, ANewSessionGetsItsIdPasswordAndTimeout) {
  Harness h;
  Client c(h);
  const auto frame = c.connect({.timeout_ms = 7000});
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->size(), 37u);
  const auto response = wire::decode_connect_response(*frame);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->timeout_ms, 7000);
  EXPECT_EQ(response->session, kFirstSession);
  EXPECT_EQ(to_hex(response->password), "f22acd4a97e69d6d20a49bb638eadb38");
  EXPECT_TRUE(h.machine.sessions.contains(kFirstSession));
  EXPECT_TRUE(c.reading());
}

TEST(Connect, AnOldClientGetsNoReadOnlyByte) {
  Harness h;
  Client c(h);
  EXPECT_EQ(c.connect({.read_only_byte = false})->size(), 36u);
}

TEST(Connect, TheTimeoutIsClampedToTheServersLimits) {
  Harness h;
  for (const auto& [asked, given] : {std::pair{0, 6000}, {-1, 6000}, {2147483647, 60'000}, {6001, 6001}}) {
    Client c(h);
    const auto frame = c.connect({.timeout_ms = asked});
    EXPECT_EQ(wire::decode_connect_response(*frame)->timeout_ms, given);
  }
}

TEST(Connect, AClientThatHasSeenALaterZxidIsDisconnected) {
  Harness h;
  Client c(h);
  EXPECT_FALSE(c.connect({.last_zxid_seen = Zxid{1}}));
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.front().stats().zxid_ahead, 1u);
  EXPECT_TRUE(h.machine.sessions.empty());
}

constexpr const char* kInvalid =
    "00000000 00000000 0000000000000000 00000010 00000000000000000000000000000000 00";

TEST(Connect, AWrongPasswordAndAnUnknownSessionGetTheInvalidResponse) {
  Harness h;
  Client alive = connected(h);
  for (const Hello& hello :
       {Hello{.session = alive.session(), .password = std::string(16, 'x')},
        Hello{.session = alive.session(), .password = ""}, Hello{.session = SessionId{0x777}}}) {
    Client c(h);
    const auto frame = c.connect(hello);
    ASSERT_TRUE(frame);
    EXPECT_EQ(to_hex(*frame), to_hex(from_hex(kInvalid)));
    EXPECT_TRUE(c.closed());
  }
  EXPECT_TRUE(h.machine.sessions.contains(alive.session()));
}

TEST(Connect, AnInvalidConnectRequestIsDisconnected) {
  Harness h;
  for (const char* hex :
       {"", "00000000", "00000000 0000000000000000 00007530 0000000000000000 fffffffe 00"}) {
    Client c(h);
    c.send_frame(from_hex(hex));
    EXPECT_TRUE(c.output().empty()) << hex;
    EXPECT_TRUE(c.closed()) << hex;
  }
}

TEST(Connect, RequestsPipelinedAfterTheHandshakeWaitForTheSession) {
  HarnessConfig config;
  config.durable_at_once = false;
  Harness h(config);
  Client c(h);
  c.send_hello({});
  EXPECT_FALSE(c.reading());
  c.send(OpCode::kExists, path_watch_body("/"));
  EXPECT_GT(c.unsent(), 0u);
  h.durable();
  EXPECT_TRUE(c.take_hello());
  c.flush();
  EXPECT_EQ(story(c.take()), Story{"1 Ok"});
}

// ---- frames ----

TEST(Frames, MayArriveInAnyPieces) {
  Harness h;
  Client c = connected(h);
  const std::string frame = Client::request(5, OpCode::kCreate, create_body("/a"));
  const std::string bytes = wire::testing::written([&](wire::Writer& w) { w.string(frame); });
  for (const char byte : bytes) {
    EXPECT_EQ(h.machine.tree.get("/a"), nullptr);
    c.send_bytes(std::string_view(&byte, 1));
  }
  EXPECT_EQ(story(c.take()), Story{"5 Ok"});
}

TEST(Frames, TooLargeOrNegativeLengthsCloseTheConnection) {
  Harness h;
  for (const char* length : {"00100000", "80000000", "ffffffff", "7fffffff"}) {
    Client c = connected(h);
    c.send_bytes(from_hex(length));
    EXPECT_TRUE(c.closed()) << length;
    EXPECT_TRUE(c.output().empty());
    EXPECT_EQ(c.unsent(), 0u) << "nothing more is waited for";
  }
  Client largest = connected(h);
  largest.send_bytes(from_hex("000fffff"));
  EXPECT_FALSE(largest.closed());
}

TEST(Frames, TooShortForAHeaderCloseTheConnection) {
  Harness h;
  for (std::size_t length = 0; length < 8; ++length) {
    Client c = connected(h);
    c.send_frame(std::string(length, '\0'));
    EXPECT_TRUE(c.closed()) << length;
    EXPECT_TRUE(c.output().empty());
  }
}

TEST(Frames, AnUnknownOpIsAnsweredAndClosesTheConnection) {
  Harness h;
  for (const int op : {0, -1, -2, 10, 13, 23, 99, 108}) {
    Client c = connected(h);
    const Reply reply = c.ask(static_cast<OpCode>(op));
    EXPECT_EQ(reply.header.error, ErrorCode::kUnimplemented) << op;
    EXPECT_EQ(reply.header.zxid, Zxid{-1}) << op;
    EXPECT_TRUE(c.closed()) << op;
  }
}

TEST(Frames, RequestsAfterCloseSessionAreIgnored) {
  Harness h;
  Client c = connected(h);
  c.create("/e", {.flags = wire::kEphemeral});
  c.queue(OpCode::kCloseSession);
  c.queue(OpCode::kCreate, create_body("/never"));
  c.send(OpCode::kExists, path_watch_body("/"));
  const auto replies = c.take();
  EXPECT_EQ(story(replies), Story{"2 Ok"});
  EXPECT_EQ(replies[0].header.zxid, h.machine.last_zxid) << "not even an error was logged";
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.machine.tree.get("/never"), nullptr);
  EXPECT_EQ(h.machine.tree.get("/e"), nullptr);
}

// ---- limits ----

TEST(Limits, AConnectionWithTooManyOutstandingRequestsIsNotRead) {
  HarnessConfig config;
  config.durable_at_once = false;
  config.front.outstanding_max = 3;
  Harness h(config);
  Client c = connected_durably(h);
  for (int i = 0; i < 5; ++i) c.queue(OpCode::kCreate, create_body("/" + std::to_string(i)));
  c.flush();
  h.settle();
  EXPECT_FALSE(c.reading());
  EXPECT_GT(c.unsent(), 0u);
  EXPECT_EQ(h.front().outstanding(), 3u);
  h.durable(1);
  EXPECT_TRUE(c.reading());
  c.flush();
  h.settle();
  EXPECT_FALSE(c.reading());
  h.durable();
  c.flush();
  h.durable();
  EXPECT_EQ(c.take().size(), 5u);
  EXPECT_EQ(h.front().outstanding(), 0u);
}

TEST(Limits, OutstandingRequestsAreLimitedInBytes) {
  HarnessConfig config;
  config.durable_at_once = false;
  config.front.outstanding_bytes_max = 10'000;
  Harness h(config);
  Client c = connected_durably(h);
  const std::string large(6000, 'x');
  c.queue(OpCode::kCreate, create_body("/a", {.data = large}));
  c.queue(OpCode::kSync, wire::testing::path_body(large));
  c.queue(OpCode::kSync, wire::testing::path_body(large));
  c.flush();
  h.settle();
  EXPECT_FALSE(c.reading());
  EXPECT_EQ(h.front().outstanding(), 2u);
  h.durable();
  EXPECT_TRUE(c.reading());
  c.flush();
  h.settle();
  EXPECT_EQ(c.take().size(), 3u);
}

TEST(Limits, AtTheGlobalLimitOnlyIdleConnectionsAreRead) {
  HarnessConfig config;
  config.durable_at_once = false;
  config.front.outstanding_total_max = 4;
  Harness h(config);
  Client greedy(h);
  Client modest(h);
  for (Client* c : {&greedy, &modest}) {
    c->send_hello({});
    h.durable();
    c->take_hello();
  }
  for (int i = 0; i < 6; ++i) greedy.queue(OpCode::kCreate, create_body("/" + std::to_string(i)));
  greedy.flush();
  h.settle();
  EXPECT_FALSE(greedy.reading());
  EXPECT_TRUE(modest.reading());
  modest.send(OpCode::kExists, path_watch_body("/"));
  EXPECT_EQ(modest.take().size(), 1u);
  h.durable(3);
  EXPECT_TRUE(greedy.reading()) << "below half of the limit";
}

TEST(Limits, AConnectionThatDoesNotReadItsRepliesIsNotRead) {
  HarnessConfig config;
  config.front.output_high_water_bytes = 1000;
  Harness h(config);
  Client c = connected(h);
  c.create("/a", {.data = std::string(600, 'x')});
  for (int i = 0; i < 10; ++i) c.queue(OpCode::kGetData, path_watch_body("/a"));
  c.flush();
  EXPECT_FALSE(c.reading());
  EXPECT_EQ(c.take().size(), 2u);
  EXPECT_TRUE(c.reading());
  c.flush();
  EXPECT_EQ(c.take().size(), 2u);
}

TEST(Limits, TooManyUnreadEventsCloseTheConnection) {
  HarnessConfig config;
  config.front.output_max_bytes = 2000;
  Harness h(config);
  Client writer = connected(h);
  Client sleeper = connected(h);
  sleeper.ask(OpCode::kAddWatch, path_type_body("/", 1));
  writer.create("/a");
  for (int i = 0; i < 200 && !sleeper.closed(); ++i) writer.error(OpCode::kSetData, set_data_body("/a", "x"));
  EXPECT_TRUE(sleeper.closed());
  EXPECT_TRUE(sleeper.output().empty());
  EXPECT_EQ(h.front().stats().output_overflows, 1u);
  EXPECT_FALSE(writer.closed());
}

// A client whose node /a holds `bytes` of data; the test says what is durable.
class LargeAnswers : public ::testing::Test {
 protected:
  static HarnessConfig config() {
    HarnessConfig c;
    c.durable_at_once = false;
    c.front.output_high_water_bytes = 200'000;
    c.front.output_max_bytes = 1'000'000;
    return c;
  }
  void SetUp() override {
    c_.send_hello({});
    h_.durable();
    c_.take_hello();
  }
  void create_a(std::size_t bytes) {
    c_.send(OpCode::kCreate, create_body("/a", {.data = std::string(bytes, 'x')}));
    h_.durable();
    c_.take();
  }
  Harness h_{config()};
  Client c_{h_};
};

TEST_F(LargeAnswers, AfterAWriteAreRequestedOnlyIfTheyFitTheOutput) {
  create_a(50'000);
  c_.queue(OpCode::kSetData, set_data_body("/a", std::string(50'000, 'y')));
  for (int i = 0; i < 100; ++i) c_.queue(OpCode::kGetData, path_watch_body("/a"));
  c_.flush();
  std::size_t answered = 0;
  while (answered < 101) {
    h_.durable();
    EXPECT_LT(c_.output().size(), 400'000u);
    const std::size_t n = c_.take().size();
    ASSERT_GT(n, 0u) << "it goes on once the client has read";
    answered += n;
    c_.flush();
  }
  EXPECT_FALSE(c_.closed());
}

TEST_F(LargeAnswers, ThatExceedTheOutputCloseTheConnection) {
  // The node is still small when the reads are sent.
  create_a(1);
  c_.queue(OpCode::kSetData, set_data_body("/a", std::string(50'000, 'y')));
  for (int i = 0; i < 900; ++i) c_.queue(OpCode::kGetData, path_watch_body("/a"));
  c_.queue(OpCode::kDelete, path_version_body("/a"));
  c_.flush();
  h_.durable();
  EXPECT_TRUE(c_.closed());
  EXPECT_LT(c_.output().size(), 1'200'000u);
  EXPECT_EQ(h_.machine.tree.get("/a"), nullptr) << "what was proposed happens all the same";
  EXPECT_EQ(h_.front().outstanding(), 0u);
  EXPECT_EQ(h_.front().stats().output_overflows, 1u);
}

TEST(Limits, AClosedConnectionReleasesItsOutstandingRequests) {
  HarnessConfig config;
  config.durable_at_once = false;
  Harness h(config);
  Client c = connected_durably(h);
  c.send(OpCode::kCreate, create_body("/a"));
  c.send(OpCode::kExists, path_watch_body("/a", true));
  c.vanish();
  EXPECT_EQ(h.front().outstanding(), 0u);
  Client successor(h);  // gets the same slot
  EXPECT_EQ(successor.conn().slot, c.conn().slot);
  h.durable();
  EXPECT_TRUE(successor.output().empty()) << "the reply finds nobody";
  EXPECT_NE(h.machine.tree.get("/a"), nullptr);
  EXPECT_EQ(h.front().connection_count(), 1u);
}

}  // namespace
}  // namespace drover::replica

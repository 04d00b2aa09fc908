// SPDX-License-Identifier: Apache-2.0
//
// The order of one connection's stream: replies, reads behind writes, events
// (docs/client-protocol.md, "Headers and order").
#include "replica/front.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::acl_bytes;
using wire::testing::create_body;
using wire::testing::from_hex;
using wire::testing::path_type_body;
using wire::testing::path_version_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;
using wire::testing::written;

HarnessConfig by_hand() {
  HarnessConfig config;
  config.durable_at_once = false;
  return config;
}

std::string auth_body(const wire::Nullable& scheme, const wire::Nullable& auth) {
  return written([&](wire::Writer& w) {
    w.i32(0);
    w.buffer(scheme);
    w.buffer(auth);
  });
}

// A client; the test says what is durable.
class Order : public ::testing::Test {
 protected:
  void SetUp() override {
    c_.send_hello({});
    h_.durable();
    ASSERT_TRUE(c_.take_hello());
  }
  Harness h_{by_hand()};
  Client c_{h_};
};

TEST_F(Order, AReadWaitsForTheConnectionsEarlierWrite) {
  c_.send(OpCode::kCreate, create_body("/a"));
  c_.send(OpCode::kExists, path_watch_body("/a"));
  EXPECT_TRUE(c_.take().empty());
  h_.durable();
  EXPECT_EQ(story(c_.take()), (Story{"1 Ok", "2 Ok"}));
}

TEST_F(Order, AReadIsAnsweredFromTheStateAfterTheEarlierWrites) {
  // All three become durable at once; the reads must still not see the write behind them.
  c_.queue(OpCode::kExists, path_watch_body("/a"));
  c_.queue(OpCode::kCreate, create_body("/a"));
  c_.queue(OpCode::kExists, path_watch_body("/a"));
  c_.queue(OpCode::kDelete, path_version_body("/a"));
  c_.queue(OpCode::kExists, path_watch_body("/a"));
  c_.send(OpCode::kPing);
  h_.durable();
  const auto replies = c_.take();
  EXPECT_EQ(story(replies), (Story{"1 NoNode", "2 Ok", "3 Ok", "4 Ok", "5 NoNode", "-2 Ok"}));
  EXPECT_EQ(replies[1].header.zxid, replies[2].header.zxid) << "and it says so by its zxid";
}

TEST_F(Order, AReadOfAnotherConnectionDoesNotWait) {
  Client other = connected_durably(h_);
  c_.send(OpCode::kCreate, create_body("/a"));
  EXPECT_EQ(other.error(OpCode::kExists, path_watch_body("/a")), ErrorCode::kNoNode)
      << "not durable, so not visible";
  h_.durable();
  EXPECT_EQ(other.error(OpCode::kExists, path_watch_body("/a")), ErrorCode::kOk);
}

TEST_F(Order, RepliesComeAsTheirTransactionsBecomeDurable) {
  for (const char* path : {"/a", "/b", "/c"}) c_.queue(OpCode::kCreate, create_body(path));
  c_.send(OpCode::kGetData, path_watch_body("/c"));
  h_.durable(1);
  EXPECT_EQ(story(c_.take()), Story{"1 Ok"});
  h_.durable(2);
  EXPECT_EQ(story(c_.take()), (Story{"2 Ok", "3 Ok", "4 Ok"}));
}

TEST_F(Order, APingWaitsForAnEarlierWriteAndAlwaysHasItsOwnXid) {
  c_.send(OpCode::kCreate, create_body("/a"));
  c_.send_frame(Client::request(77, OpCode::kPing, ""));
  EXPECT_TRUE(c_.take().empty());
  h_.durable();
  EXPECT_EQ(story(c_.take()), (Story{"1 Ok", "-2 Ok"}));
}

TEST_F(Order, AQueueThatNeverDrainsKeepsTheBytesOfEveryRequest) {
  // Some writes are always under way, each with a read of another size behind it.
  const auto size_of = [](int round) { return static_cast<std::size_t>(round % 41); };
  constexpr int kUnderWay = 5;
  c_.send(OpCode::kCreate, create_body("/a"));
  h_.durable();
  c_.take();
  for (int round = 0; round < 2000; ++round) {
    c_.queue(OpCode::kSetData, set_data_body("/a", "x"));
    c_.send(OpCode::kSync, wire::testing::path_body(std::string(size_of(round), 'x')));
    if (round < kUnderWay) continue;
    h_.durable(1);
    const auto replies = c_.take();
    ASSERT_EQ(replies.size(), 2u);
    const int answered = round - kUnderWay;
    EXPECT_EQ(replies[0].header.xid, 2 + 2 * answered);
    EXPECT_EQ(replies[1].header.xid, 3 + 2 * answered);
    EXPECT_EQ(replies[1].body.size(), 4 + size_of(answered));
  }
  EXPECT_EQ(h_.front().outstanding(), 2u * kUnderWay);
}

// ---- events ----

TEST_F(Order, AnEventComesBeforeTheReplyOfTheWriteThatCausedIt) {
  c_.send(OpCode::kExists, path_watch_body("/a", true));
  c_.send(OpCode::kCreate, create_body("/a"));
  c_.send(OpCode::kExists, path_watch_body("/a"));
  h_.durable();
  const auto replies = c_.take();
  EXPECT_EQ(story(replies), (Story{"1 NoNode", "created /a", "2 Ok", "3 Ok"}));
  EXPECT_EQ(replies[1].header.zxid, h_.machine.last_zxid) << "with the zxid of its transaction";
}

TEST_F(Order, AnEventComesBeforeAnyReadThatShowsTheChange) {
  Client watcher = connected_durably(h_);
  watcher.send(OpCode::kGetChildren, path_watch_body("/", true));
  c_.send(OpCode::kCreate, create_body("/a"));
  h_.replica->on_committed(h_.replica->last_proposed(), h_.now);
  watcher.queue(OpCode::kExists, path_watch_body("/a"));
  h_.front().collect();  // the I/O thread's order: staged output, then new bytes
  watcher.flush();
  EXPECT_EQ(story(watcher.take()), (Story{"1 Ok", "children /", "2 Ok"}));
}

TEST_F(Order, AWatchOfAWaitingReadIsSetWhenTheReadRuns) {
  c_.queue(OpCode::kCreate, create_body("/a"));
  c_.queue(OpCode::kGetData, path_watch_body("/a", true));
  c_.send(OpCode::kSetData, set_data_body("/a", "x"));
  h_.durable();
  EXPECT_EQ(story(c_.take()), (Story{"1 Ok", "2 Ok", "changed /a", "3 Ok"}));
}

TEST(Events, AFailedMultiFiresNothing) {
  Harness h;
  Client c = connected(h);
  c.create("/a");
  c.ask(OpCode::kGetData, path_watch_body("/a", true));
  c.send(OpCode::kMulti, wire::testing::multi_body({{OpCode::kSetData, set_data_body("/a", "x")},
                                                    {OpCode::kDelete, path_version_body("/none")}}));
  EXPECT_EQ(story(c.take()), Story{"3 Ok"});
  c.send(OpCode::kSetData, set_data_body("/a", "x"));
  EXPECT_EQ(story(c.take()), (Story{"changed /a", "4 Ok"})) << "the watch is still there";
}

TEST(Events, AWatcherWithoutReadPermissionGetsNoEventAndLosesItsWatch) {
  Harness h;
  Client writer = connected(h);
  Client watcher = connected(h);
  writer.ask(OpCode::kAuth, auth_body("digest", "bob:pw"));
  watcher.ask(OpCode::kExists, path_watch_body("/a", true));
  writer.create("/a", {.acl = acl_bytes({{31, {"auth", ""}}})});
  EXPECT_EQ(story(watcher.take()), Story{});
  writer.error(OpCode::kDelete, path_version_body("/a"));
  writer.create("/a");
  EXPECT_EQ(story(watcher.take()), Story{});
}

TEST(Events, GoToTheWatchersOfEveryFrontButNotToClosedConnections) {
  HarnessConfig config;
  config.fronts = 3;
  Harness h(config);
  Client writer = connected(h, {}, 0);
  Client near = connected(h, {}, 1);
  Client gone = connected(h, {}, 2);
  near.ask(OpCode::kAddWatch, path_type_body("/", 1));
  gone.ask(OpCode::kAddWatch, path_type_body("/", 1));
  gone.vanish();
  EXPECT_TRUE(h.front(2).watches().empty());
  Client successor = connected(h, {}, 2);  // may get the same slot
  writer.create("/a");
  EXPECT_EQ(story(near.take()), Story{"created /a"});
  EXPECT_EQ(story(successor.take()), Story{});
}

// ---- auth ----

TEST(Totals, CountRepliesAndEvents) {
  Harness h;
  Client writer = connected(h);
  Client watcher = connected(h);
  writer.send(OpCode::kCreate, create_body("/a"));
  h.settle();
  for (Client* c : {&writer, &watcher}) c->send(OpCode::kGetData, path_watch_body("/a", true));
  writer.send(OpCode::kDelete, path_version_body("/a"));
  h.settle();

  const FrontTotals& totals = h.front(0).totals();
  EXPECT_EQ(totals.deleted_watches, (Extremes{1, 2, 2, 2})) << "one change, two watches";
  EXPECT_EQ(totals.changed_watches.count, 0u);
  EXPECT_EQ(totals.writes, 2u);
  EXPECT_EQ(totals.update_latency_ms.extremes().count, 2u);
  EXPECT_EQ(totals.read_latency_ms.extremes().count, 2u);
  EXPECT_EQ(totals.watch_bytes, 2u * (4 + 16 + 4 + 4 + 4 + 2)) << "frame, header, type, state and path";
  EXPECT_EQ(totals.response_bytes, h.front(0).stats().response_bytes.sum);
  EXPECT_EQ(h.front(0).stats().response_bytes.min, 4u + 16u) << "a delete has no body";

  h.front(0).stats() = {};
  EXPECT_EQ(h.front(0).totals().writes, 2u) << "srst leaves them alone";
}

TEST(Auth, IsAnsweredImmediatelyWithTheRequestsXidAndNoZxid) {
  Harness h(by_hand());
  Client c = connected_durably(h);
  c.send(OpCode::kCreate, create_body("/a"));
  c.send(OpCode::kAuth, auth_body("digest", "bob:pw"));
  const auto replies = c.take();
  EXPECT_EQ(story(replies), Story{"2 Ok"}) << "before the write in front of it";
  EXPECT_EQ(replies[0].header.zxid, Zxid{0});
}

TEST(Auth, EchoesAnyXid) {
  // Most clients send -4 and wait for -4; go-zookeeper sends an ordinary xid and waits for that.
  Harness h;
  Client c = connected(h);
  for (const std::int32_t xid : {-4, 0, 7, -1, -2, -8, std::numeric_limits<std::int32_t>::min()}) {
    c.send_frame(Client::request(xid, OpCode::kAuth, auth_body("digest", "bob:pw")));
    const auto replies = c.take();
    ASSERT_EQ(replies.size(), 1u);
    EXPECT_EQ(replies[0].header.xid, xid);
    EXPECT_EQ(replies[0].header.error, ErrorCode::kOk);
  }
  c.send_frame(Client::request(9, OpCode::kAuth, auth_body("nosuch", "x")));
  EXPECT_EQ(story(c.take()), Story{"9 AuthFailed"});
}

TEST(Auth, ARequestHasTheIdentitiesAtItsArrival) {
  Harness h(by_hand());
  Client c = connected_durably(h);
  c.queue(OpCode::kCreate,
          create_body("/a", {.acl = acl_bytes({{31, {"digest", state::digest_identity("bob:pw")}}})}));
  c.queue(OpCode::kGetData, path_watch_body("/a"));
  c.queue(OpCode::kSetData, set_data_body("/a", "x"));
  c.queue(OpCode::kAuth, auth_body("digest", "bob:pw"));
  c.queue(OpCode::kGetData, path_watch_body("/a"));
  c.send(OpCode::kSetData, set_data_body("/a", "x"));
  h.durable();
  EXPECT_EQ(story(c.take()), (Story{"4 Ok", "1 Ok", "2 NoAuth", "3 NoAuth", "5 Ok", "6 Ok"}));
}

TEST(Auth, FailuresAreAnsweredAndCloseTheConnection) {
  Harness h;
  const wire::Nullable none;
  const std::pair<wire::Nullable, wire::Nullable> failing[] = {
      {"world", "x"}, {"super", "x"}, {"", "x"}, {none, "x"}, {"nosuch", ""}, {"digest", none}};
  for (const auto& [scheme, auth] : failing) {
    Client c = connected(h);
    c.send(OpCode::kAuth, auth_body(scheme, auth));
    EXPECT_EQ(story(c.take()), Story{"1 AuthFailed"}) << scheme.value_or("null");
    EXPECT_TRUE(c.closed());
  }
  Client truncated = connected(h);
  truncated.send(OpCode::kAuth, from_hex("0000"));
  EXPECT_EQ(story(truncated.take()), Story{});
  EXPECT_TRUE(truncated.closed()) << "without a word";
}

TEST(Auth, IdentitiesAccumulateUpToALimit) {
  HarnessConfig config;
  config.front.identities_max = 3;
  Harness h(config);
  Client c = connected(h);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("digest", "a:1")), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("digest", "a:1")), ErrorCode::kOk)
      << "the same again adds nothing";
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("ip", std::nullopt)), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("digest", "b:2")), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("digest", "c:3")), ErrorCode::kAuthFailed);
}

TEST(Auth, TheBytesOfIdentitiesAreLimited) {
  Harness h;
  Client c = connected(h);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("digest", std::string(9'000, 'a') + ":1")), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("digest", std::string(9'000, 'b') + ":2")),
            ErrorCode::kAuthFailed);
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.front().totals().identities_refused, 1u);
}

TEST(Auth, ARequiredSchemeMustComeBeforeAnyRequest) {
  HarnessConfig config;
  config.front.required_schemes = {"digest"};
  Harness h(config);
  Client without = connected(h);
  EXPECT_EQ(without.error(OpCode::kExists, path_watch_body("/")), ErrorCode::kSessionClosedRequireSaslAuth);
  EXPECT_TRUE(without.closed());
  Client with = connected(h);
  with.ask(OpCode::kAuth, auth_body("digest", "a:1"));
  EXPECT_EQ(with.error(OpCode::kExists, path_watch_body("/")), ErrorCode::kOk);
}

TEST(Auth, AClientOfAnotherEnsembleIsDisconnected) {
  HarnessConfig config;
  config.state.ensemble_scheme = true;
  config.state.ensemble_names = {"east", "west"};
  Harness h(config);
  Client c = connected(h);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("ensemble", "west")), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("ensemble", "")), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("ensemble", std::nullopt)), ErrorCode::kOk);
  c.send(OpCode::kAuth, auth_body("ensemble", "north"));
  EXPECT_EQ(story(c.take()), Story{}) << "AUTHFAILED would end the client";
  EXPECT_TRUE(c.closed());
  const FrontTotals& totals = h.front().totals();
  EXPECT_EQ(totals.ensemble_names_skipped, 2u);
  EXPECT_EQ(totals.ensemble_names_right, 1u);
  EXPECT_EQ(totals.ensemble_names_wrong, 1u);
}

TEST(Auth, WithoutAConfiguredNameEveryEnsembleNameIsAccepted) {
  HarnessConfig config;
  config.state.ensemble_scheme = true;
  Harness h(config);
  Client c = connected(h);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("ensemble", "north")), ErrorCode::kOk);
}

TEST(Auth, WithoutTheProviderTheSchemeIsUnknown) {
  Harness h;
  Client c = connected(h);
  EXPECT_EQ(c.error(OpCode::kAuth, auth_body("ensemble", "north")), ErrorCode::kAuthFailed);
}

TEST(Requests, DeleteContainerIsRefusedAndClosesTheConnection) {
  Harness h;
  Client c = connected(h);
  const Zxid before = h.replica->last_proposed();
  c.send(OpCode::kDeleteContainer, wire::testing::path_body("/zookeeper"));
  EXPECT_EQ(story(c.take()), Story{});
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.replica->last_proposed(), before);
}

// If a client got OK, it would answer the empty token with another request, and never stop.
TEST(WithoutSasl, ALoginIsRefusedAndTheConnectionIsClosed) {
  for (const char* token : {"00000000", "00000002 6162", "ffffffff"}) {
    Harness h;
    Client c = connected(h);
    const Reply reply = c.ask(OpCode::kSasl, from_hex(token));
    EXPECT_EQ(reply.header.error, ErrorCode::kAuthFailed) << token;
    EXPECT_EQ(reply.header.zxid, Zxid{0});
    EXPECT_EQ(wire::testing::to_hex(reply.body), "ffffffff");
    EXPECT_TRUE(c.closed());
    EXPECT_EQ(h.front(0).stats().auth_failures, 1u);
  }
}

TEST(WithoutSasl, AnInvalidTokenClosesTheConnection) {
  Harness h;
  Client c = connected(h);
  c.send(OpCode::kSasl, "");
  EXPECT_TRUE(c.closed());
}

}  // namespace
}  // namespace drover::replica

// SPDX-License-Identifier: Apache-2.0
//
// Operations, deadlines and sessions of the whole client, on virtual time.
#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "client/client_testing.h"

namespace drover::client::testing {
namespace {

TEST(Client, ReadReturnsDataAndStat) {
  World world;
  world.accept();
  const auto node = world.run(world.client->get("/a"));
  EXPECT_FALSE(*node);
  world.answer_next(OpCode::kGetData, World::node_bytes("hello", 7));
  ASSERT_TRUE(*node && (*node)->has_value());
  EXPECT_EQ((**node)->data, "hello");
  EXPECT_EQ((**node)->stat.version, Version{7});
}

TEST(Client, NullDataDiffersFromEmptyData) {
  World world;
  world.accept();
  const std::string none(4, '\xff');
  const auto node = world.run(world.client->get("/a"));
  world.answer_next(OpCode::kGetData, none + World::stat_bytes());
  ASSERT_TRUE(*node && (*node)->has_value());
  EXPECT_TRUE((**node)->is_without_data);
  CreateOptions options;
  options.without_data = true;
  world.run(world.client->create("/b", "", options));
  EXPECT_EQ(world.take_request().body.substr(6, 4), none);  // behind the length and the path
}

TEST(Client, TaskThatIsNotStartedSendsNothing) {
  World world;
  world.accept();
  {
    const auto task = world.client->get("/a");
  }
  world.driver->settle();
  EXPECT_TRUE(world.sent.empty());
}

TEST(Client, RequestsWaitForAConnectionAndAreSentInOrder) {
  World world;
  const auto first = world.run(world.client->create("/a", "1"));
  const auto second = world.run(world.client->get("/a"));
  world.accept();
  world.answer_next(OpCode::kCreate2, World::created_bytes("/a"));
  EXPECT_TRUE(*first);
  EXPECT_FALSE(*second);
  world.answer_next(OpCode::kGetData, World::node_bytes("1"));
  EXPECT_TRUE(*second);
}

TEST(Client, ServerErrorNamesThePath) {
  World world;
  world.accept();
  const auto node = world.run(world.client->get("/a"));
  world.answer_next(OpCode::kGetData, {}, ErrorCode::kNoNode);
  EXPECT_EQ(code_of(node), Errc::kNoNode);
  EXPECT_EQ((**node).error().path, "/a");
  EXPECT_EQ((**node).error().error_class(), ErrorClass::kState);
}

TEST(Client, ExistsOfAMissingNodeIsNotAnError) {
  World world;
  world.accept();
  const auto stat = world.run(world.client->exists("/a"));
  world.answer_next(OpCode::kExists, {}, ErrorCode::kNoNode);
  ASSERT_TRUE(*stat && (*stat)->has_value());
  EXPECT_FALSE((**stat)->has_value());
}

TEST(Client, ReconfigIsEncodedAsServersReadIt) {
  World world;
  world.accept();
  const auto changed =
      world.run(world.client->reconfig({.joining = "server.4=h:1:2;3", .leaving = "2", .from_version = 7}));
  const Request request = world.answer_next(OpCode::kReconfig, World::node_bytes("server.1=..."));
  wire::Reader body(request.body);
  EXPECT_TRUE(wire::decode_reconfig(body));
  using wire::testing::to_hex;
  EXPECT_EQ(to_hex(request.body), "00000010" + to_hex("server.4=h:1:2;3") + "00000001" + to_hex("2") +
                                      "ffffffff" + "0000000000000007");
  EXPECT_EQ((*changed)->value().data, "server.1=...");
}

TEST(Client, BadPathIsNotSent) {
  World world;
  world.accept();
  EXPECT_EQ(code_of(world.run(world.client->get("a"))), Errc::kBadArguments);
  EXPECT_EQ(code_of(world.run(world.client->get("/a//b"))), Errc::kBadArguments);
  EXPECT_TRUE(world.sent.empty());
}

TEST(Client, QueuedRequestIsNotAppliedAfterItsDeadline) {
  World world;
  const auto made = world.run(world.client->create("/a", {}, {}, world.within(300)));
  world.pass_alone(300);
  EXPECT_EQ(code_of(made), Errc::kDeadline);
  EXPECT_FALSE((**made).error().maybe_applied());
  world.accept();
  EXPECT_TRUE(world.sent.empty());
}

TEST(Client, SentRequestMayBeAppliedAfterItsDeadlineAndTheSessionContinues) {
  World world;
  world.accept();
  const auto made = world.run(world.client->create("/a", {}, {}, world.within(300)));
  const Request request = world.take_request();
  world.pass(300);
  EXPECT_EQ(code_of(made), Errc::kDeadline);
  EXPECT_TRUE((**made).error().maybe_applied());
  world.answer(request, World::created_bytes("/a"));
  EXPECT_EQ(world.client->state(), ConnectionState::kConnected);
  const auto node = world.run(world.client->get("/a"));
  world.answer_next(OpCode::kGetData, World::node_bytes("x"));
  EXPECT_TRUE((*node)->has_value());
}

TEST(Client, StopTokenEndsTheWaitNotTheSession) {
  World world;
  world.accept();
  std::stop_source stop;
  const auto made = world.run(world.client->create("/a", {}, {}, Wait::forever(stop.get_token())));
  const Request request = world.take_request();
  stop.request_stop();
  world.driver->settle();
  EXPECT_EQ(code_of(made), Errc::kStopped);
  EXPECT_TRUE((**made).error().maybe_applied());
  world.answer(request, World::created_bytes("/a"));
  EXPECT_EQ(world.client->state(), ConnectionState::kConnected);
}

TEST(Client, StopBeforeTheCallSendsNothing) {
  World world;
  world.accept();
  std::stop_source stop;
  stop.request_stop();
  const auto made = world.run(world.client->create("/a", {}, {}, Wait::forever(stop.get_token())));
  EXPECT_EQ(code_of(made), Errc::kStopped);
  EXPECT_FALSE((**made).error().maybe_applied());
  EXPECT_TRUE(world.sent.empty());
}

TEST(Client, WriteIsMaybeAppliedAfterALostConnection) {
  World world;
  world.accept();
  const auto made = world.run(world.client->create("/a"));
  world.lose();
  EXPECT_EQ(code_of(made), Errc::kConnectionLoss);
  EXPECT_TRUE((**made).error().maybe_applied());
}

TEST(Client, ReadIsRetriedByPolicy) {
  World world({}, {}, RetryPolicy::times(2));
  world.accept();
  const auto node = world.run(world.client->get("/a"));
  world.lose();
  EXPECT_FALSE(*node);
  world.accept();
  world.answer_next(OpCode::kGetData, World::node_bytes("x"));
  EXPECT_TRUE((*node)->has_value());
  const auto again = world.run(world.client->get("/a"));
  world.lose();
  world.accept();
  world.lose();
  EXPECT_EQ(code_of(again), Errc::kConnectionLoss);
}

TEST(Client, ANewSessionFollowsAnExpiredOne) {
  World world;
  world.accept(kSession, 3000);
  EXPECT_EQ(world.client->session(), kSession);
  EXPECT_EQ(world.client->valid_until(), Clock::time_point(std::chrono::milliseconds(world.now.ms + 3000)));
  world.expire();
  EXPECT_EQ(world.client->valid_until(), Clock::time_point::min());
  const SessionId next{77};
  world.accept(next);
  EXPECT_EQ(world.client->session(), next);
  EXPECT_EQ(world.state_names(), (std::vector{ConnectionState::kConnecting, ConnectionState::kConnected,
                                              ConnectionState::kSuspended, ConnectionState::kExpired,
                                              ConnectionState::kConnected}));
  EXPECT_EQ(world.states.back().session, next);
}

TEST(Client, BoundRequestIsNotSentInAnotherSession) {
  World world;
  world.accept(kSession, 3000);
  const Client bound = world.client->bound();
  world.lose();
  const auto waiting = world.run(bound.create("/a"));
  while (!*waiting) world.pass_alone(100);
  EXPECT_EQ(code_of(waiting), Errc::kSessionExpired);
  EXPECT_FALSE((**waiting).error().maybe_applied());
  world.accept(SessionId{77});
  const auto late = world.run(bound.create("/a"));
  EXPECT_EQ(code_of(late), Errc::kSessionExpired);
  EXPECT_EQ((**late).error().error_class(), ErrorClass::kUnrecoverable);
  EXPECT_TRUE(world.sent.empty());
  world.run(world.client->create("/a"));
  EXPECT_EQ(world.take_request().op, OpCode::kCreate2);
}

TEST(Client, AuthenticationIsRepeatedInTheNextSession) {
  World world;
  world.accept(kSession, 3000);
  const auto proved = world.run(world.client->add_auth({"digest", "me:secret"}));
  const Request auth = world.take_request();
  EXPECT_EQ(auth.op, OpCode::kAuth);
  world.answer(auth);
  EXPECT_TRUE((*proved)->has_value());
  world.expire();
  world.accept(SessionId{77});
  EXPECT_EQ(world.take_request().body, auth.body);
}

TEST(Client, NamespacePrefixesEveryPath) {
  World world({}, "/app");
  world.accept();
  const auto made = world.run(
      world.client->with_namespace("/x").create("/a-", {}, {.mode = CreateMode::kEphemeralSequential}));
  const Request request = world.take_request();
  EXPECT_EQ(request.body.substr(4, 9), "/app/x/a-");
  world.answer(request, World::created_bytes("/app/x/a-0000000003"));
  EXPECT_EQ((**made)->path, "/a-0000000003");
  world.run(world.client->get("/"));
  EXPECT_EQ(world.take_request().body.substr(4, 4), "/app");
}

TEST(Client, MissingParentsAreCreatedAsContainers) {
  World world;
  world.accept();
  const auto made = world.run(world.client->create("/a/b", "x", {.parents = true}));
  world.answer_next(OpCode::kCreate2, {}, ErrorCode::kNoNode);
  world.answer_next(OpCode::kCreateContainer, World::created_bytes("/a"));
  world.answer_next(OpCode::kCreate2, World::created_bytes("/a/b"));
  EXPECT_TRUE((*made)->has_value());
}

TEST(Client, FailedTransactionNamesTheFailedElement) {
  World world;
  world.accept();
  std::vector<Op> ops;
  ops.push_back(Op::check("/a"));
  ops.push_back(Op::remove("/b", Version{3}));
  const auto done = world.run(world.client->multi(std::move(ops)));
  std::string body;
  wire::Writer w(body);
  for (const ErrorCode code : {ErrorCode::kOk, ErrorCode::kBadVersion}) {
    wire::encode(w, wire::MultiHeader{OpCode::kError, false, static_cast<std::int32_t>(code)});
    w.i32(static_cast<std::int32_t>(code));
  }
  wire::encode(w, wire::kMultiEnd);
  world.answer_next(OpCode::kMulti, body);
  EXPECT_EQ(code_of(done), Errc::kBadVersion);
  EXPECT_EQ((**done).error().op_index, 1);
  EXPECT_EQ((**done).error().path, "/b");
}

TEST(Client, MalformedReplyIsAnError) {
  World world;
  world.accept();
  const auto node = world.run(world.client->get("/a"));
  world.answer_next(OpCode::kGetData, "abc");
  EXPECT_EQ(code_of(node), Errc::kBadReply);
}

TEST(Client, CloseWaitsForTheServersConfirmation) {
  World world;
  world.accept();
  const auto closed = world.run(world.client->close());
  const auto late = world.run(world.client->get("/a"));
  EXPECT_EQ(code_of(late), Errc::kClosed);
  EXPECT_FALSE(*closed);
  world.answer_next(OpCode::kCloseSession);
  EXPECT_TRUE((*closed)->has_value());
  EXPECT_EQ(world.client->state(), ConnectionState::kClosed);
  EXPECT_TRUE((*world.run(world.client->close()))->has_value());
}

TEST(Client, LastHandleClosesTheSessionAndEndsWaitingCalls) {
  World world;
  world.accept();
  const auto node = world.run(world.client->get("/a"));
  world.take_request();
  world.client.reset();
  world.driver->settle();
  EXPECT_EQ(world.take_request().op, OpCode::kCloseSession);
  EXPECT_FALSE(*node);
  world.pass(kFarewellMs);  // The server does not answer.
  EXPECT_EQ(code_of(node), Errc::kClosed);
  EXPECT_TRUE(world.driver->is_over());
}

TEST(Client, BlockingOnTheExecutorIsAnError) {
  World world;
  world.accept();
  std::optional<Errc> code;
  world.driver->run([&] { code = sync_wait(world.client->get("/a")).error().code; });
  EXPECT_EQ(code, Errc::kWouldBlock);
}

TEST(Client, StatesStartWithTheCurrentOne) {
  World world;
  world.accept();
  Stream<StateEvent> states = world.client->states();
  const auto first = world.run(states.next());
  EXPECT_EQ((**first)->state, ConnectionState::kConnected);
  const auto second = world.run(states.next());
  EXPECT_FALSE(*second);
  world.lose();
  EXPECT_EQ((**second)->state, ConnectionState::kSuspended);
}

TEST(Client, StateStreamIsRemovedWhenItsReaderIsGone) {
  World world;
  world.accept();
  const std::size_t before = world.driver->listeners();
  for (int i = 0; i < 5; ++i) {
    auto states = world.client->states();
    EXPECT_EQ((*world.run(states.next()))->value().state, ConnectionState::kConnected);
    EXPECT_EQ(world.driver->listeners(), before + 1) << "those before it are gone";
  }
  world.lose();
  EXPECT_EQ(world.driver->listeners(), before);
}

TEST(Client, NextContinuesWithoutItsStream) {
  World world;
  world.accept();
  auto next = [&] {
    auto states = world.client->states();
    world.run(states.next());
    return world.run(states.next());
  }();
  world.lose();
  ASSERT_TRUE(*next);
  EXPECT_EQ((*next)->value().state, ConnectionState::kSuspended);
}

TEST(Client, StatesOfAClosedClientEndAndReleaseIt) {
  World world;
  world.accept();
  const auto closed = world.run(world.client->close());
  world.answer_next(OpCode::kCloseSession);
  ASSERT_TRUE(*closed && (*closed)->has_value());
  {
    auto states = world.client->states();
    EXPECT_EQ((*world.run(states.next()))->value().state, ConnectionState::kClosed);
    EXPECT_EQ(code_of(world.run(states.next())), Errc::kEndOfStream);
    EXPECT_EQ(world.driver->listeners(), 0u);
  }
  world.for_states.reset();
  world.client.reset();
  world.driver->settle();
  EXPECT_TRUE(world.driver->is_retired());
}

TEST(Client, SessionThatEndsDuringCloseIsClosed) {
  World world;
  world.accept();
  auto states = world.client->states();
  const auto asleep = world.run(world.client->scheduler().sleep(Wait{}));
  const auto closed = world.run(world.client->close());
  world.lose();
  world.pass_alone(20'000);
  EXPECT_EQ(world.states.back().state, ConnectionState::kClosed);
  EXPECT_TRUE(*closed && (*closed)->has_value()) << "it is gone, which was the wish";
  EXPECT_EQ(code_of(asleep), Errc::kClosed);
}

TEST(Client, BoundWithoutASessionFailsEverything) {
  World world;
  const Client bound = world.client->bound();
  world.accept();
  EXPECT_EQ(code_of(world.run(bound.get("/a"))), Errc::kSessionExpired);
  EXPECT_TRUE(world.sent.empty());
}

TEST(Client, DestroyedTaskIsAbandonedAndItsReplyIgnored) {
  World world;
  world.accept();
  const auto first = world.run([](Client client) -> Task<Result<std::size_t>> {
    std::vector<Task<Result<NodeData>>> both;
    both.push_back(client.get("/a"));
    both.push_back(client.get("/b"));
    auto any = when_any(std::move(both));
    const First<Result<NodeData>> won = co_await std::move(any);
    co_return won.index;
  }(*world.client));
  const Request a = world.take_request();
  const Request b = world.take_request();
  world.answer(a, World::node_bytes("x"));
  ASSERT_TRUE(*first && (*first)->has_value());
  EXPECT_EQ(**first, 0u);
  world.answer(b, World::node_bytes("y"));
  EXPECT_EQ(world.client->state(), ConnectionState::kConnected);
}

TEST(Client, ConcurrentRequestsAreAnsweredInOrder) {
  World world;
  world.accept();
  std::vector<Task<Result<NodeData>>> tasks;
  tasks.push_back(world.client->get("/a"));
  tasks.push_back(world.client->get("/b"));
  const auto all = world.run(when_all(std::move(tasks)));
  world.answer_next(OpCode::kGetData, World::node_bytes("1"));
  EXPECT_FALSE(*all);
  world.answer_next(OpCode::kGetData, World::node_bytes("2"));
  ASSERT_TRUE(*all);
  EXPECT_EQ((**all)[1]->data, "2");
}

}  // namespace
}  // namespace drover::client::testing

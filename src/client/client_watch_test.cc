// SPDX-License-Identifier: Apache-2.0
//
// Which watches get which events, and when the watch is removed from the server.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/client_testing.h"

namespace drover::client::testing {
namespace {

using wire::EventType;

class Watches : public ::testing::Test {
 protected:
  Watches() { world.accept(); }

  Watch watch(const std::string& name) {
    return Watch([this, name](const drover::WatchEvent& event) {
      told.push_back(name + " " + std::to_string(static_cast<int>(event.type)) + " " + event.path);
    });
  }
  void event(EventType type, std::string_view path) { world.hear(Bench::event(type, path, ++world.zxid)); }
  void get(const Watch& watch, const std::string& path = "/a") {
    world.run(world.client->get(path, watch));
    world.answer_next(OpCode::kGetData, World::node_bytes("x"));
  }
  void end(Watch& watch) {
    world.driver->run([&] { watch.reset(); });
  }

  World world;
  std::vector<std::string> told;
};

TEST_F(Watches, WatchSetByAReadFiresOnceForEveryOwner) {
  const Watch one = watch("one");
  const Watch two = watch("two");
  get(one);
  get(two);
  event(EventType::kNodeDataChanged, "/a");
  EXPECT_EQ(told, (std::vector<std::string>{"one 3 /a", "two 3 /a"}));
  event(EventType::kNodeDataChanged, "/a");
  EXPECT_EQ(told.size(), 2u);
}

TEST_F(Watches, EventPrecedesLaterReplies) {
  const Watch one = watch("one");
  get(one);
  start(world.client->get("/a"), [this](Result<NodeData>) { told.push_back("reply"); });
  world.driver->settle();
  const Request request = world.take_request();
  world.hear(Bench::event(EventType::kNodeDataChanged, "/a", 200) +
             Bench::reply(request.xid, 200, ErrorCode::kOk, World::node_bytes("y")));
  EXPECT_EQ(told, (std::vector<std::string>{"one 3 /a", "reply"}));
}

TEST_F(Watches, MissingNodeIsWatchedForItsCreation) {
  const Watch one = watch("one");
  world.run(world.client->exists("/a", one));
  world.answer_next(OpCode::kExists, {}, ErrorCode::kNoNode);
  event(EventType::kNodeCreated, "/a");
  EXPECT_EQ(told, (std::vector<std::string>{"one 1 /a"}));
}

TEST_F(Watches, FailedReadSetsNoWatch) {
  const Watch one = watch("one");
  world.run(world.client->get("/a", one));
  world.answer_next(OpCode::kGetData, {}, ErrorCode::kNoNode);
  event(EventType::kNodeCreated, "/a");
  EXPECT_TRUE(told.empty());
}

TEST_F(Watches, DeletionIsReportedOnceToAWatchOfDataAndChildren) {
  const Watch one = watch("one");
  get(one);
  world.run(world.client->children("/a", one));
  world.answer_next(OpCode::kGetChildren2, std::string(4, '\0') + World::stat_bytes());
  event(EventType::kNodeDeleted, "/a");
  EXPECT_EQ(told, (std::vector<std::string>{"one 2 /a"}));
}

TEST_F(Watches, PersistentOnesStayAndRecursiveOnesCoverTheSubtree) {
  Watch node = watch("node");
  const Watch tree = watch("tree");
  world.run(world.client->add_watch("/a", WatchMode::kPersistent, node));
  world.answer_next(OpCode::kAddWatch, std::string(4, '\0'));
  world.run(world.client->add_watch("/", WatchMode::kPersistentRecursive, tree));
  world.answer_next(OpCode::kAddWatch, std::string(4, '\0'));
  event(EventType::kNodeDataChanged, "/a");
  event(EventType::kNodeChildrenChanged, "/a");
  event(EventType::kNodeCreated, "/a/b/c");
  EXPECT_EQ(told, (std::vector<std::string>{"node 3 /a", "tree 3 /a", "node 4 /a", "tree 1 /a/b/c"}));
  end(node);
  EXPECT_EQ(world.take_request().op, OpCode::kRemoveWatches);
  event(EventType::kNodeDataChanged, "/a");
  EXPECT_EQ(told.back(), "tree 3 /a");
}

TEST_F(Watches, ServerWatchIsRemovedWithTheLastOwner) {
  Watch one = watch("one");
  Watch two = watch("two");
  get(one);
  get(two);
  end(one);
  EXPECT_TRUE(world.sent.empty());
  end(two);
  const Request removal = world.take_request();
  EXPECT_EQ(removal.op, OpCode::kRemoveWatches);
  EXPECT_EQ(removal.body, path_type_body("/a", kRemoveData));
}

TEST_F(Watches, OneScopeIsRemovedAndTheOthersStay) {
  const Watch one = watch("one");
  get(one);
  get(one, "/b");
  world.driver->run([&] { world.client->unwatch(one, "/a", WatchScope::kData); });
  EXPECT_EQ(world.take_request().body, path_type_body("/a", kRemoveData));
  event(EventType::kNodeDataChanged, "/a");
  event(EventType::kNodeDataChanged, "/b");
  EXPECT_EQ(told, (std::vector<std::string>{"one 3 /b"}));
  world.driver->run([&] { world.client->unwatch(one, "/b", WatchScope::kChildren); });
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(Watches, FiredWatchNeedsNoRemoval) {
  Watch one = watch("one");
  get(one);
  event(EventType::kNodeDataChanged, "/a");
  end(one);
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(Watches, WatchIsKeptIfAReadInProgressWillSetIt) {
  // The server would set the second watch, remove it at once, and the second reader would wait forever.
  Watch one = watch("one");
  const Watch two = watch("two");
  get(one);
  world.run(world.client->get("/a", two));
  const Request second = world.take_request();
  end(one);
  EXPECT_TRUE(world.sent.empty());
  world.answer(second, World::node_bytes("x"));
  event(EventType::kNodeDataChanged, "/a");
  EXPECT_EQ(told, (std::vector<std::string>{"two 3 /a"}));
}

TEST_F(Watches, WatchThatEndsDuringItsReadIsRemovedFromTheServer) {
  Watch one = watch("one");
  world.run(world.client->get("/a", one));
  const Request read = world.take_request();
  end(one);
  EXPECT_TRUE(world.sent.empty());
  world.answer(read, World::node_bytes("x"));
  EXPECT_EQ(world.take_request().op, OpCode::kRemoveWatches);
}

TEST_F(Watches, AbandonedReadSetsNoWatch) {
  const Watch one = watch("one");
  world.run(world.client->get("/a", one, world.within(100)));
  const Request read = world.take_request();
  world.pass(100);
  world.answer(read, World::node_bytes("x"));
  EXPECT_EQ(world.take_request().op, OpCode::kRemoveWatches);
}

TEST_F(Watches, AreSetAgainOnTheNextConnection) {
  const Watch one = watch("one");
  get(one);
  world.lose();
  world.accept();
  EXPECT_EQ(world.take_request().op, OpCode::kSetWatches);
  event(EventType::kNodeDataChanged, "/a");
  EXPECT_EQ(told, (std::vector<std::string>{"one 3 /a"}));
}

TEST_F(Watches, AreNotifiedWhenTheirSessionIsGone) {
  const Watch one = watch("one");
  get(one);
  world.expire();
  EXPECT_EQ(told, (std::vector<std::string>{"one 100 /a"}));
}

TEST(NamespaceWatches, ReportPathsWithoutTheNamespace) {
  World world({}, "/app");
  world.accept();
  std::vector<std::string> told;
  const Watch tree([&](const drover::WatchEvent& event) { told.push_back(event.path); });
  world.run(world.client->add_watch("/", WatchMode::kPersistentRecursive, tree));
  world.answer_next(OpCode::kAddWatch, std::string(4, '\0'));
  world.hear(Bench::event(EventType::kNodeCreated, "/app/x", 200));
  world.hear(Bench::event(EventType::kNodeDataChanged, "/app", 201));
  EXPECT_EQ(told, (std::vector<std::string>{"/x", "/"}));
}

// --- Signal ---

class Signals : public ::testing::Test {
 protected:
  Signals() : signal(world.client->scheduler()) {}
  World world;
  Signal signal;
};

TEST_F(Signals, NotifyBeforeTheWaitIsNotLostAndSeveralCountAsOne) {
  signal.notify();
  signal.notify();
  EXPECT_TRUE((*world.run(signal.wait({})))->has_value());
  EXPECT_FALSE(*world.run(signal.wait({})));
}

TEST_F(Signals, EndWithTheClient) {
  const auto waiting = world.run(signal.wait({}));
  world.accept();
  const auto closed = world.run(world.client->close());
  world.answer(world.take_request());
  ASSERT_TRUE(*closed);
  EXPECT_EQ(code_of(waiting), Errc::kClosed);
  EXPECT_EQ(code_of(world.run(signal.wait({}))), Errc::kClosed) << "and so do later ones";
}

TEST_F(Signals, WakeTheWaiter) {
  const auto woken = world.run(signal.wait(world.within(1000)));
  EXPECT_FALSE(*woken);
  world.driver->run([&] { signal.notify(); });
  EXPECT_TRUE((*woken)->has_value());
}

TEST_F(Signals, EndWithTheDeadlineOrAStop) {
  const auto late = world.run(signal.wait(world.within(200)));
  world.pass_alone(200);
  EXPECT_EQ(code_of(late), Errc::kDeadline);
  std::stop_source stop;
  const auto stopped = world.run(signal.wait(Wait::forever(stop.get_token())));
  stop.request_stop();
  world.driver->settle();
  EXPECT_EQ(code_of(stopped), Errc::kStopped);
}

TEST_F(Signals, MayOutliveTheWaiter) {
  const auto first = world.run([](Client client, Signal& changed) -> Task<Result<std::size_t>> {
    std::vector<Task<Result<void>>> both;
    both.push_back(changed.wait(Wait::within(std::chrono::seconds(5))));
    both.push_back(client.scheduler().sleep(Wait::within(std::chrono::milliseconds(10))));
    auto any = when_any(std::move(both));
    const First<Result<void>> won = co_await std::move(any);
    changed.notify();
    co_return won.index;
  }(*world.client, signal));
  world.pass_alone(10);
  EXPECT_EQ(**first, 1u);
  world.pass_alone(6000);
  EXPECT_TRUE(signal.is_set());
}

}  // namespace
}  // namespace drover::client::testing

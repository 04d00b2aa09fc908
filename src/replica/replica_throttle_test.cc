// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's limits for requests in progress: by number (request_throttle_*), by time in the queue
// (throttled_op_wait_time), and by size (largeRequest*).
#include <gtest/gtest.h>

#include <string>

#include "replica/pair_testing.h"
#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;

HarnessConfig limited(RequestThrottleLimits limits) {
  HarnessConfig config;
  config.durable_at_once = false;
  config.replica.request_throttle = limits;
  return config;
}

TEST(RequestThrottle, OnlySoManyRequestsAreInProgress) {
  Harness h(limited({.requests_max = 2}));
  Client c = connected_durably(h);
  for (const char* path : {"/a", "/b", "/c", "/d", "/e"}) c.send(OpCode::kCreate, create_body(path));
  EXPECT_EQ(raw(h.replica->last_proposed()), 3) << "the session and two nodes";
  EXPECT_EQ(h.replica->in_flight(), 5u) << "a server that stops waits for all of them";
  h.durable(1);
  EXPECT_EQ(story(c.take()), Story{"1 Ok"});
  EXPECT_EQ(raw(h.replica->last_proposed()), 4);
  for (int i = 0; i < 4; ++i) h.durable();
  EXPECT_EQ(story(c.take()), (Story{"2 Ok", "3 Ok", "4 Ok", "5 Ok"}));
  EXPECT_EQ(h.replica->stats().throttled_ms.extremes().count, 5u);
}

TEST(RequestThrottle, ReadsWaitOnlyBehindWritesOfTheirConnection) {
  Harness h(limited({.requests_max = 1}));
  Client writer = connected_durably(h);
  Client reader = connected_durably(h);
  writer.send(OpCode::kCreate, create_body("/a"));
  writer.send(OpCode::kCreate, create_body("/b"));
  writer.send(OpCode::kExists, path_watch_body("/b"));
  reader.send(OpCode::kExists, path_watch_body("/b"));
  EXPECT_EQ(story(reader.take()), Story{"1 NoNode"});
  for (int i = 0; i < 2; ++i) h.durable();
  EXPECT_EQ(story(writer.take()), (Story{"1 Ok", "2 Ok", "3 Ok"}));
}

TEST(RequestThrottle, ARequestThatWaitedTooLongIsThrottledInItsTurn) {
  Harness h(limited({.requests_max = 1, .wait_max_ms = 100}));
  Client c = connected_durably(h);
  c.send(OpCode::kCreate, create_body("/a"));
  c.send(OpCode::kCreate, create_body("/b"));
  c.send(OpCode::kSync, path_body("/"));
  c.send(OpCode::kExists, path_watch_body("/b"));
  c.send(OpCode::kCloseSession);
  h.now = h.now + 101;
  for (int i = 0; i < 3; ++i) h.durable();
  EXPECT_EQ(story(c.take()), (Story{"1 Ok", "2 Op throttled due to high load",
                                    "3 Op throttled due to high load", "4 NoNode", "5 Ok"}))
      << "a closeSession is never throttled";
  EXPECT_EQ(h.replica->stats().throttled_ops, 2u);
}

TEST(RequestThrottle, ALearnerThrottlesWithoutAskingItsLeader) {
  ReplicaConfig config;
  config.request_throttle = {.requests_max = 1, .wait_max_ms = 100};
  Pair pair(config);
  Client c(pair.learner);
  c.send_hello({});
  pair.settle();
  c.take_hello();
  pair.link_holds = false;
  c.send(OpCode::kCreate, create_body("/a"));
  c.send(OpCode::kCreate, create_body("/b"));
  pair.learner.now = pair.learner.now + 101;
  pair.link_holds = true;
  pair.settle();
  EXPECT_EQ(story(c.take()), (Story{"1 Ok", "2 Op throttled due to high load"}));
  EXPECT_EQ(pair.leader.machine.tree.get("/b"), nullptr);
  c.send(OpCode::kCreate, create_body("/b"));
  pair.settle();
  EXPECT_EQ(story(c.take()), Story{"3 Ok"}) << "nothing is in progress any more";
}

TEST(RequestThrottle, RequestsOfAClosedConnectionAreDropped) {
  Harness h(limited({.requests_max = 1}));
  Client busy = connected_durably(h);
  Client gone = connected_durably(h);
  busy.send(OpCode::kCreate, create_body("/a"));
  gone.send(OpCode::kCreate, create_body("/b"));
  gone.vanish();
  for (int i = 0; i < 2; ++i) h.durable();
  EXPECT_EQ(h.machine.tree.get("/b"), nullptr);
  EXPECT_EQ(h.replica->stats().stale_requests_dropped, 1u);
}

TEST(RequestThrottle, StaleRequestsAreCarriedOutIfTheyShould) {
  Harness h(limited({.requests_max = 1, .drop_stale = false}));
  Client busy = connected_durably(h);
  Client gone = connected_durably(h);
  busy.send(OpCode::kCreate, create_body("/a"));
  gone.send(OpCode::kCreate, create_body("/b"));
  gone.vanish();
  for (int i = 0; i < 2; ++i) h.durable();
  EXPECT_NE(h.machine.tree.get("/b"), nullptr);
  EXPECT_EQ(h.replica->stats().stale_requests, 1u);
}

TEST(RequestThrottle, ARequestOlderThanItsSessionsTimeoutEndsItsConnection) {
  Harness h(limited({.requests_max = 1, .stale_by_latency = true}));
  Client busy = connected_durably(h);
  Client late(h);
  late.send_hello({.timeout_ms = 6000});
  h.durable();
  late.take_hello();
  busy.send(OpCode::kCreate, create_body("/a"));
  late.send(OpCode::kCreate, create_body("/b"));
  late.send(OpCode::kCreate, create_body("/c"));
  h.now = h.now + 6001;
  Effects effects;
  h.replica->on_tick(h.now, h.wall, effects);
  h.settle();
  EXPECT_TRUE(late.closed()) << "although there is no room yet";
  h.durable();
  h.durable();
  EXPECT_EQ(h.machine.tree.get("/b"), nullptr);
  EXPECT_EQ(h.machine.tree.get("/c"), nullptr) << "nothing behind a dropped request is carried out";
}

TEST(LargeRequests, AllTogetherHaveALimitInBytes) {
  HarnessConfig config = limited({});
  config.front.large_request_threshold = 1000;
  config.front.large_requests_max_bytes = 2500;
  config.front.large_request_bytes = std::make_shared<std::atomic<std::int64_t>>(0);
  Harness h(config);
  Client first = connected_durably(h);
  Client second = connected_durably(h);
  Client third = connected_durably(h);
  const std::string large(1100, 'x');
  first.send(OpCode::kSetData, set_data_body("/", large));
  second.send(OpCode::kSetData, set_data_body("/", large));
  second.send(OpCode::kSetData, set_data_body("/", "small requests are not counted"));
  third.send(OpCode::kSetData, set_data_body("/", large));
  EXPECT_TRUE(third.closed());
  EXPECT_FALSE(second.closed());
  EXPECT_EQ(h.front().stats().frames_too_large, 1u);
  second.vanish();
  EXPECT_LT(*config.front.large_request_bytes, 1200) << "what is waited for no longer counts";
  h.durable();
  EXPECT_EQ(*config.front.large_request_bytes, 0);
}

}  // namespace
}  // namespace drover::replica

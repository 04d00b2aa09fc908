// SPDX-License-Identifier: Apache-2.0
//
// Durability, refusals, and nodes that the server deletes on its own.
#include "replica/replica.h"

#include <gtest/gtest.h>

#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::create_ttl_body;
using wire::testing::from_hex;
using wire::testing::multi_body;
using wire::testing::MultiPart;
using wire::testing::path_body;
using wire::testing::path_version_body;
using wire::testing::path_watch_body;
using wire::testing::set_acl_body;
using wire::testing::set_data_body;

HarnessConfig by_hand() {
  HarnessConfig config;
  config.durable_at_once = false;
  return config;
}

// For a disk whose syncs the test controls.
void begin_session(Harness& h, Client& c) {
  c.send_hello({});
  h.durable();
  c.take_hello();
}

TEST(Durability, NothingIsVisibleOrAnsweredBeforeItIsDurable) {
  Harness h(by_hand());
  Client c(h);
  c.send_hello({});
  EXPECT_TRUE(c.output().empty()) << "not even the session";
  EXPECT_TRUE(h.machine.sessions.empty());
  h.durable();
  EXPECT_TRUE(c.take_hello());

  c.send(OpCode::kCreate, create_body("/a"));
  EXPECT_TRUE(c.output().empty());
  EXPECT_EQ(h.machine.tree.get("/a"), nullptr);
  EXPECT_EQ(h.replica->in_flight(), 1u);
  h.durable();
  EXPECT_EQ(story(c.take()), Story{"1 Ok"});
  EXPECT_EQ(h.replica->in_flight(), 0u);
}

TEST(TxnAges, ATransactionIsAsOldAsItWaitedForTheDisk) {
  HarnessConfig config = by_hand();
  config.replica.standalone = true;
  Harness h(config);
  Client c(h);
  begin_session(h, c);
  c.send(OpCode::kCreate, create_body("/a"));
  h.advance(70);
  h.durable();
  const TxnAges& ages = h.replica->stats().ages;
  EXPECT_EQ(ages.standalone.extremes(), (Extremes{.count = 2, .sum = 70, .min = 0, .max = 70}));
  EXPECT_EQ(ages.leading.extremes().count + ages.learning.extremes().count, 0u);
  EXPECT_EQ(h.replica->change_counts().queued, h.replica->change_counts().removed);

  // If the clock was set back meanwhile, the age would be negative.
  c.send(OpCode::kDelete, path_version_body("/a"));
  h.wall.ms -= 5000;
  h.advance(1);
  h.durable();
  EXPECT_EQ(ages.standalone.extremes().count, 2u);
}

TEST(Durability, ASyncWaitsForWhatTheSessionsLastConnectionWrote) {
  Harness h(by_hand());
  Client c(h);
  begin_session(h, c);
  c.send(OpCode::kCreate, create_body("/a"));
  c.vanish();
  Client again(h);
  again.send_hello({.session = c.session()});
  ASSERT_TRUE(again.take_hello());
  again.send(OpCode::kSync, path_body("/"));
  EXPECT_TRUE(again.take().empty())
      << "the client could read that its write was lost, and then see it come back";
  h.durable();
  again.send(OpCode::kExists, path_watch_body("/a"));
  EXPECT_EQ(story(again.take()), (Story{"1 Ok", "2 Ok"}));
}

TEST(Durability, TheLogGetsEveryTransactionOnceInOrder) {
  Harness h(by_hand());
  Client c(h);
  begin_session(h, c);
  for (int i = 0; i < 5; ++i) c.queue(OpCode::kCreate, create_body("/" + std::to_string(i)));
  c.flush();
  h.settle();
  c.send(OpCode::kDelete, path_version_body("/none"));
  Zxid last{};
  for (const TxnBatchPtr& batch : h.log) {
    EXPECT_EQ(batch->first, next(last));
    std::uint64_t start = 0;
    for (const std::uint64_t end : batch->ends) {
      const auto txn = wire::decode_entry(std::string_view(batch->bytes).substr(start, end - start));
      ASSERT_TRUE(txn);
      EXPECT_EQ(txn->header.zxid, next(last));
      last = txn->header.zxid;
      start = end;
    }
    EXPECT_EQ(start, batch->bytes.size());
    EXPECT_EQ(batch->last, last);
  }
  EXPECT_EQ(last, h.replica->last_proposed());
  EXPECT_EQ(h.log.back()->ends.size(), 1u);
  EXPECT_EQ(h.log[1]->ends.size(), 5u) << "one hand-over for what came together";
}

TEST(Durability, WritesOfAllFrontsShareOneOrder) {
  HarnessConfig config = by_hand();
  config.fronts = 2;
  Harness h(config);
  Client a(h, 0);
  Client b(h, 1);
  for (Client* c : {&a, &b}) {
    c->send_hello({});
    h.durable();
    c->take_hello();
  }
  a.send(OpCode::kCreate, create_body("/same"));
  b.send(OpCode::kCreate, create_body("/same"));
  h.durable();
  EXPECT_EQ(story(a.take()), Story{"1 Ok"});
  EXPECT_EQ(story(b.take()), Story{"1 NodeExists"});
}

// ---- failed writes and their zxids (facts of the Java server) ----

TEST(Zxids, AFailedWriteTakesOneUnlessItCannotBeDecodedAndReadsTakeNone) {
  Harness h;
  Client c = connected(h);
  const auto zxid_of = [&](OpCode op, const std::string& body) { return raw(c.ask(op, body).header.zxid); };
  const std::int64_t start = raw(h.machine.last_zxid);
  EXPECT_EQ(zxid_of(OpCode::kDelete, path_version_body("/none")), start + 1);
  EXPECT_EQ(zxid_of(OpCode::kDelete, path_version_body(std::nullopt)), start + 2) << "Java can decode it";
  EXPECT_EQ(zxid_of(OpCode::kMulti, "junk"), start + 3) << "which Java reads after it has taken a zxid";
  EXPECT_EQ(zxid_of(OpCode::kMulti, multi_body({})), start + 4);
  EXPECT_EQ(zxid_of(OpCode::kReconfig, from_hex("ffffffff ffffffff ffffffff 0000000000000000")), start + 5);
  for (const OpCode op : {OpCode::kCreate, OpCode::kCreate2, OpCode::kCreateContainer, OpCode::kCreateTtl,
                          OpCode::kDelete, OpCode::kSetData, OpCode::kSetAcl, OpCode::kReconfig}) {
    EXPECT_EQ(zxid_of(op, "junk"), start + 5) << static_cast<int>(op);
  }
  const MultiPart without_acl{OpCode::kCreate2, create_body("/a", {.acl = from_hex("ffffffff")})};
  EXPECT_EQ(zxid_of(OpCode::kMulti, multi_body({without_acl})), start + 5);
  for (const OpCode op :
       {OpCode::kGetData, OpCode::kSync, OpCode::kMultiRead, OpCode::kAddWatch, OpCode::kPing}) {
    EXPECT_EQ(zxid_of(op, "junk"), start + 5) << static_cast<int>(op);
  }
  EXPECT_EQ(h.machine.last_zxid, h.replica->last_proposed());
}

TEST(Zxids, UndecodableWriteIsAnsweredInOrder) {
  HarnessConfig config;
  config.durable_at_once = false;
  Harness h(config);
  Client c = connected_durably(h);
  const Zxid start = h.machine.last_zxid;
  c.queue(OpCode::kCreate, create_body("/a"));
  c.queue(OpCode::kSetData, "junk");
  c.queue(OpCode::kCreate, create_body("/b"));
  c.send(OpCode::kDelete, "junk");
  EXPECT_EQ(story(c.take()), Story{});
  h.durable();
  const auto replies = c.take();
  EXPECT_EQ(story(replies), (Story{"1 Ok", "2 MarshallingError", "3 Ok", "4 MarshallingError"}));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(raw(replies[i].header.zxid), raw(start) + 1 + static_cast<std::int64_t>(i / 2));
  }
}

// ---- a full disk ----

TEST(DiskFull, RefusesWritesThatNeedSpaceAndAcceptsDeletes) {
  Harness h;
  Client c = connected(h);
  c.create("/a");
  c.create("/b");
  h.replica->set_disk_full(true);
  const Zxid before = h.machine.last_zxid;
  EXPECT_EQ(c.create("/c"), ErrorCode::kSystemError);
  EXPECT_EQ(c.error(OpCode::kSetData, set_data_body("/a", "x")), ErrorCode::kSystemError);
  EXPECT_EQ(c.error(OpCode::kSetAcl, set_acl_body("/a", wire::open_acl_bytes())), ErrorCode::kSystemError);
  EXPECT_EQ(c.error(OpCode::kMulti, multi_body({})), ErrorCode::kSystemError);
  EXPECT_EQ(h.machine.last_zxid, before) << "no transaction at all";
  EXPECT_EQ(c.error(OpCode::kExists, path_watch_body("/a")), ErrorCode::kOk);
  EXPECT_EQ(c.error(OpCode::kDelete, path_version_body("/a")), ErrorCode::kOk);
  EXPECT_EQ(h.replica->stats().writes_refused_disk_full, 4u);

  Client late(h);
  EXPECT_FALSE(late.connect()) << "a new session is a write";
  EXPECT_TRUE(late.closed());
  EXPECT_EQ(c.error(OpCode::kCloseSession), ErrorCode::kOk);

  h.replica->set_disk_full(false);
  Client again(h);
  EXPECT_TRUE(again.connect());
  EXPECT_EQ(again.create("/c"), ErrorCode::kOk);
}

TEST(DiskFull, RefusalsAreAnsweredInOrder) {
  Harness h(by_hand());
  Client c(h);
  begin_session(h, c);
  c.send(OpCode::kCreate, create_body("/a"));
  h.replica->set_disk_full(true);
  c.send(OpCode::kCreate, create_body("/b"));
  c.send(OpCode::kExists, path_watch_body("/a"));
  c.send(OpCode::kDelete, path_version_body("/a"));
  c.send(OpCode::kCreate, create_body("/c"));
  EXPECT_EQ(story(c.take()), Story{});
  h.durable();
  EXPECT_EQ(story(c.take()), (Story{"1 Ok", "2 SystemError", "3 Ok", "4 Ok", "5 SystemError"}));
}

// ---- containers and TTL nodes ----

class Reaper : public ::testing::Test {
 protected:
  static HarnessConfig config() {
    HarnessConfig c;
    c.state.extended_types = true;
    c.replica.container_check_ms = 1000;
    c.front.session_timeout_max_ms = 100'000'000;
    return c;
  }
  void container(const std::string& path) {
    c_.ask(OpCode::kCreateContainer, create_body(path, {.flags = wire::kContainer}));
  }
  bool exists(std::string_view path) const { return h_.machine.tree.get(path) != nullptr; }

  Harness h_{config()};
  Client c_{connected(h_, {.timeout_ms = 100'000'000})};
};

TEST_F(Reaper, ContainerIsDeletedAfterItsLastChild) {
  container("/box");
  c_.create("/box/child");
  h_.advance(1000);
  EXPECT_TRUE(exists("/box")) << "it has a child";
  c_.error(OpCode::kDelete, path_version_body("/box/child"));
  h_.advance(999);
  EXPECT_TRUE(exists("/box")) << "not yet time to look";
  h_.advance(1);
  EXPECT_FALSE(exists("/box"));
  EXPECT_EQ(h_.replica->stats().containers_deleted, 1u);
}

TEST_F(Reaper, ContainerThatNeverHadAChildStays) {
  container("/box");
  h_.advance(1'000'000);
  EXPECT_TRUE(exists("/box"));
}

TEST_F(Reaper, ChildlessTtlNodeIsDeletedAfterItsTtl) {
  c_.ask(OpCode::kCreateTtl, create_ttl_body("/t", 5000));
  c_.ask(OpCode::kCreateTtl, create_ttl_body("/p", 5000));
  c_.create("/p/child");
  h_.advance(5000);
  EXPECT_TRUE(exists("/t")) << "not older yet";
  c_.error(OpCode::kSetData, set_data_body("/t", "touch"));
  h_.advance(5000);
  EXPECT_TRUE(exists("/t")) << "a change makes it young again";
  h_.advance(1000);
  EXPECT_FALSE(exists("/t"));
  EXPECT_TRUE(exists("/p"));
}

TEST_F(Reaper, PendingChangeKeepsTheNode) {
  HarnessConfig manual = config();
  manual.durable_at_once = false;
  Harness h(manual);
  Client c(h);
  c.send_hello({.timeout_ms = 100'000'000});
  h.durable();
  c.take_hello();
  c.send(OpCode::kCreateTtl, create_ttl_body("/t", 500));
  h.durable();
  c.send(OpCode::kCreateTtl, create_ttl_body("/young", 500));
  h.durable();
  c.send(OpCode::kDelete, path_version_body("/t"));
  c.send(OpCode::kCreate, create_body("/t"));
  h.now = h.now + 999;
  h.wall.ms += 999;
  c.send(OpCode::kSetData, set_data_body("/young", "touched"));
  h.advance(1);
  h.durable();
  EXPECT_NE(h.machine.tree.get("/t"), nullptr) << "it is somebody's plain node by now";
  ASSERT_NE(h.machine.tree.get("/young"), nullptr);
  EXPECT_EQ(h.machine.tree.get("/young")->data(), "touched")
      << "the change was acknowledged, so it must be there";
}

TEST(ReaperLimits, ShortCheckIntervalDoesNotSlowDeletions) {
  // 20 nodes at 10,000 a minute take 120 ms, however short the interval between checks is.
  HarnessConfig config;
  config.state.extended_types = true;
  config.replica.container_check_ms = 1;
  config.front.session_timeout_max_ms = 100'000'000;
  Harness h(config);
  Client c = connected(h, {.timeout_ms = 100'000'000});
  for (int i = 0; i < 20; ++i) c.ask(OpCode::kCreateTtl, create_ttl_body("/" + std::to_string(i), 5));
  h.advance(6);
  EXPECT_EQ(h.machine.tree.ttl_nodes().size(), 19u);
  for (int ms = 6; ms < 120; ++ms) h.advance(1);
  EXPECT_EQ(h.machine.tree.ttl_nodes().size(), 0u);
}

TEST(ReaperLimits, ManyNodesOfOneCheckAreDeletedBeforeTheNextCheck) {
  HarnessConfig config;
  config.state.extended_types = true;
  config.replica.container_check_ms = 60'000;
  config.replica.container_max_per_minute = 600;
  config.front.session_timeout_max_ms = 100'000'000;
  Harness h(config);
  Client c = connected(h, {.timeout_ms = 100'000'000});
  for (int i = 0; i < 30; ++i) c.ask(OpCode::kCreateTtl, create_ttl_body("/" + std::to_string(i), 5));
  for (int second = 0; second < 59; ++second) h.advance(1000);
  EXPECT_EQ(h.machine.tree.ttl_nodes().size(), 30u) << "not yet time to look";
  h.advance(1000);
  EXPECT_EQ(h.machine.tree.ttl_nodes().size(), 19u) << "ten a second, and one that was saved";
  h.advance(1000);
  EXPECT_EQ(h.machine.tree.ttl_nodes().size(), 9u);
  h.advance(1000);
  EXPECT_EQ(h.machine.tree.ttl_nodes().size(), 0u);
}

TEST(ReaperLimits, DeletesAtMostMaxPerMinute) {
  HarnessConfig config;
  config.replica.container_check_ms = 30'000;
  config.replica.container_max_per_minute = 4;
  config.replica.container_never_used_ms = 10;
  config.front.session_timeout_max_ms = 100'000'000;
  Harness h(config);
  Client c = connected(h, {.timeout_ms = 100'000'000});
  for (int i = 0; i < 5; ++i) {
    c.ask(OpCode::kCreateContainer, create_body("/" + std::to_string(i), {.flags = wire::kContainer}));
  }
  for (const std::size_t left : {3u, 1u, 0u}) {
    h.advance(30'000);
    EXPECT_EQ(h.machine.tree.containers().size(), left);
  }
}

}  // namespace
TEST(Replica, Create2InAMultiIsAnsweredWithItsStat) {
  Harness h;
  Client c = connected(h);
  const Reply reply =
      c.ask(OpCode::kMulti,
            multi_body({{OpCode::kCreate, create_body("/a")}, {OpCode::kCreate2, create_body("/b")}}));
  // type, done, error, path "/a" | the same for "/b" with a Stat | the end
  EXPECT_EQ(reply.body.size(), 15u + 15u + wire::kStatBytes + 9u);
  EXPECT_EQ(wire::load_be<std::int32_t>(reply.body.data() + 15), static_cast<std::int32_t>(OpCode::kCreate2));
}

}  // namespace drover::replica

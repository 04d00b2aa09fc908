// SPDX-License-Identifier: Apache-2.0
//
// getChildren of a large node: others read and write between its pieces, and its client sees one moment.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_version_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;

constexpr int kChildren = 40;

std::set<std::string> names_in(const Reply& reply) {
  wire::Reader r(reply.body);
  std::set<std::string> names;
  for (std::int32_t left = r.i32(); left > 0; --left) names.emplace(r.string());
  EXPECT_TRUE(r.ok());
  return names;
}

std::set<std::string> first_children() {
  std::set<std::string> names;
  for (int i = 0; i < kChildren; ++i) names.insert("c" + std::to_string(i));
  return names;
}

class LongList : public ::testing::Test {
 protected:
  static HarnessConfig config() {
    HarnessConfig c;
    c.front.children_at_once = 4;
    c.front.children_of_piece = 1;
    return c;
  }
  void SetUp() override {
    writer_.create("/large");
    for (const std::string& name : first_children()) writer_.create("/large/" + name);
  }
  void remove(const std::string& path) { writer_.error(OpCode::kDelete, path_version_body(path, -1)); }
  // Rounds until nothing is left to do.
  void finish() {
    while (h_.front().has_resting()) h_.settle();
  }

  Harness h_{config()};
  Client writer_ = connected(h_);
  Client reader_ = connected(h_);
};

TEST_F(LongList, IsThatOfTheMomentWhenItBegan) {
  reader_.send(OpCode::kGetChildren2, path_watch_body("/large"));
  const Zxid begun = h_.machine.last_zxid;
  const wire::Stat stat = h_.machine.tree.stat(*h_.machine.tree.get("/large"));
  EXPECT_EQ(reader_.output(), "");
  remove("/large/c0");
  remove("/large/c11");
  writer_.create("/large/c0");
  writer_.create("/large/later");
  EXPECT_GT(h_.machine.last_zxid, begun) << "writes do not wait for the list";
  EXPECT_TRUE(h_.front().has_resting());
  finish();
  const auto replies = reader_.take();
  ASSERT_EQ(story(replies), Story{"1 Ok"});
  EXPECT_EQ(replies[0].header.zxid, begun);
  EXPECT_EQ(names_in(replies[0]), first_children());
  wire::Reader in(std::string_view(replies[0].body).substr(replies[0].body.size() - wire::kStatBytes));
  EXPECT_EQ(wire::decode_stat(in), stat);
  EXPECT_EQ(h_.front().totals().long_lists, 1u);
}

TEST_F(LongList, ComesBeforeTheEventsOfItsWatch) {
  reader_.send(OpCode::kGetChildren, path_watch_body("/large", true));
  remove("/large/c5");
  EXPECT_EQ(reader_.output(), "") << "the event waits for the reply";
  finish();
  EXPECT_EQ(story(reader_.take()), (Story{"1 Ok", "children /large"}));
}

TEST_F(LongList, ComesAfterEarlierEvents) {
  reader_.ask(OpCode::kGetData, path_watch_body("/large", true));
  reader_.queue(OpCode::kSetData, set_data_body("/large", "x"));
  reader_.queue(OpCode::kGetChildren, path_watch_body("/large"));
  reader_.flush();
  h_.settle();
  finish();
  EXPECT_EQ(story(reader_.take()), (Story{"changed /large", "2 Ok", "3 Ok"}));
}

TEST_F(LongList, IsAnsweredBeforeLaterRequestsAreRead) {
  reader_.queue(OpCode::kGetChildren, path_watch_body("/large"));
  reader_.queue(OpCode::kExists, path_watch_body("/large"));
  reader_.queue(OpCode::kCreate, create_body("/mine"));
  reader_.flush();
  EXPECT_FALSE(reader_.reading());
  finish();
  EXPECT_TRUE(reader_.reading());
  EXPECT_EQ(story(reader_.take()), Story{"1 Ok"});
  reader_.flush();
  h_.settle();
  EXPECT_EQ(story(reader_.take()), (Story{"2 Ok", "3 Ok"}));
}

TEST_F(LongList, BehindAWriteShowsTheWrite) {
  reader_.queue(OpCode::kCreate, create_body("/large/mine"));
  reader_.queue(OpCode::kExists, path_watch_body("/large"));
  reader_.queue(OpCode::kGetChildren, path_watch_body("/large"));
  reader_.queue(OpCode::kExists, path_watch_body("/none"));
  reader_.flush();
  h_.settle();
  EXPECT_EQ(story(reader_.take()), (Story{"1 Ok", "2 Ok"}));
  finish();
  const auto replies = reader_.take();
  ASSERT_EQ(story(replies), Story{"3 Ok"});
  EXPECT_TRUE(names_in(replies[0]).contains("mine"));
  reader_.flush();
  EXPECT_EQ(story(reader_.take()), Story{"4 NoNode"});
  EXPECT_EQ(h_.front().outstanding(), 0u);
}

TEST_F(LongList, BehindTheEndOfItsNodeIsAnError) {
  std::vector<std::pair<OpCode, std::string>> ops;
  for (const std::string& name : first_children())
    ops.push_back({OpCode::kDelete, path_version_body("/large/" + name, -1)});
  ops.push_back({OpCode::kDelete, path_version_body("/large", -1)});
  reader_.queue(OpCode::kMulti, wire::testing::multi_body(ops));
  reader_.queue(OpCode::kGetChildren, path_watch_body("/large"));
  reader_.flush();
  h_.settle();
  finish();
  EXPECT_EQ(story(reader_.take()), (Story{"1 Ok", "2 NoNode"}));
  EXPECT_TRUE(reader_.reading());
  EXPECT_EQ(reader_.error(OpCode::kExists, path_watch_body("/")), ErrorCode::kOk);
}

TEST_F(LongList, IsCopiedOneAtATime) {
  Client second = connected(h_);
  for (Client* c : {&reader_, &second}) {
    c->queue(OpCode::kGetChildren, path_watch_body("/large"));
    c->flush();
  }
  for (int rounds = 0; rounds < kChildren; ++rounds) h_.front().list_on(h_.now);
  EXPECT_EQ(story(reader_.take()), Story{"1 Ok"});
  EXPECT_EQ(second.output(), "");
  finish();
  EXPECT_EQ(story(second.take()), Story{"1 Ok"});
}

TEST_F(LongList, EndsWithItsConnection) {
  Client second = connected(h_);
  for (Client* c : {&reader_, &second}) {
    c->queue(OpCode::kGetChildren, path_watch_body("/large", true));
    c->flush();
  }
  h_.front().list_on(h_.now);
  EXPECT_GT(h_.front().output_bytes(), 0u) << "it counts as output";
  reader_.vanish();
  EXPECT_EQ(h_.front().output_bytes(), 0u);
  remove("/large/c1");
  finish();
  EXPECT_EQ(story(second.take()), (Story{"1 Ok", "children /large"}));
}

TEST_F(LongList, EndsWhenTheServerServesNobody) {
  reader_.send(OpCode::kGetChildren, path_watch_body("/large"));
  h_.front().set_serving(Serving::kNo, Zxid{});
  h_.machine.tree.clear();
  finish();
  EXPECT_TRUE(reader_.closed());
  EXPECT_EQ(reader_.output(), "");
}

TEST_F(LongList, KeepsEventsOnlyUpToTheLimitOfItsConnection) {
  HarnessConfig small = config();
  small.front.output_max_bytes = 300;
  Harness h(small);
  Client writer = connected(h);
  Client reader = connected(h);
  writer.create("/large");
  for (int i = 0; i < 100; ++i) writer.create("/large/" + std::to_string(i));
  reader.ask(OpCode::kAddWatch, wire::testing::path_type_body("/large", 1));
  reader.send(OpCode::kGetChildren, path_watch_body("/large"));
  for (int i = 0; i < 20; ++i) writer.error(OpCode::kSetData, set_data_body("/large", "x"));
  EXPECT_TRUE(reader.closed());
  EXPECT_FALSE(writer.closed());
}

TEST_F(LongList, OfFewChildrenIsAnsweredAtOnce) {
  writer_.create("/small");
  for (int i = 0; i < 4; ++i) writer_.create("/small/" + std::to_string(i));
  reader_.queue(OpCode::kGetChildren, path_watch_body("/small"));
  reader_.flush();
  EXPECT_EQ(story(reader_.take()), Story{"1 Ok"});
  EXPECT_EQ(h_.front().totals().long_lists, 0u);
}

}  // namespace
}  // namespace drover::replica

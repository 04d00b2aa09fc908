// SPDX-License-Identifier: Apache-2.0
//
// How long one connection may keep the others waiting, and how many events a transaction may have.
#include <gtest/gtest.h>

#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_body;
using wire::testing::path_type_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;

constexpr int kOwned = 10;

class Work : public ::testing::Test {
 protected:
  static HarnessConfig config() {
    HarnessConfig c;
    c.front.work_per_connection = 30;
    c.front.work_per_round = 50;
    return c;
  }
  void SetUp() override {
    for (int i = 0; i < kOwned; ++i) busy_.create("/e" + std::to_string(i), {.flags = wire::kEphemeral});
    busy_.take();
  }
  // Visits all of them and has no result.
  static void ask_in_vain(Client& c, int times) {
    for (int i = 0; i < times; ++i) c.queue(OpCode::kGetEphemerals, path_body("/none"));
  }

  Harness h_{config()};
  Client busy_ = connected(h_);
};

TEST_F(Work, AConnectionThatUsedItsShareWaitsForTheNextRound) {
  ask_in_vain(busy_, 10);
  busy_.flush();
  EXPECT_EQ(busy_.take().size(), 3u);
  EXPECT_FALSE(busy_.reading());
  EXPECT_TRUE(h_.front().has_resting());
  for (int rounds = 0; rounds < 3; ++rounds) {
    h_.front().collect();
    EXPECT_TRUE(busy_.reading());
    busy_.flush();
  }
  EXPECT_EQ(busy_.take().size(), 7u);
  EXPECT_EQ(h_.front().totals().rested, 3u);
}

TEST_F(Work, APostponedConnectionIsFirstInTheNextRound) {
  Client second = connected(h_);
  Client patient = connected(h_);
  for (int i = 0; i < kOwned; ++i) second.create("/s" + std::to_string(i), {.flags = wire::kEphemeral});
  second.take();
  h_.front().collect();
  ask_in_vain(busy_, 5);
  ask_in_vain(second, 5);
  busy_.flush();
  second.flush();
  patient.queue(OpCode::kExists, path_watch_body("/"));
  patient.flush();
  EXPECT_FALSE(patient.reading()) << "all together had enough";
  std::vector<ConnId> changed;
  h_.front().take_changed(changed);
  h_.front().collect();
  h_.front().take_changed(changed);
  ASSERT_EQ(changed.size(), 3u);
  EXPECT_EQ(changed.front(), patient.conn());
  patient.flush();
  EXPECT_EQ(story(patient.take()), Story{"1 Ok"});
}

TEST_F(Work, OrdinaryReadsAreNotCharged) {
  for (int i = 0; i < 1000; ++i) busy_.queue(OpCode::kGetData, path_watch_body("/"));
  busy_.flush();
  EXPECT_EQ(busy_.take().size(), 1000u);
}

TEST(WorkBehindAWrite, IsCollectedOnlyUpToALimit) {
  HarnessConfig config;
  config.durable_at_once = false;
  config.front.output_high_water_bytes = 32 * kOwned * 5;
  Harness h(config);
  Client c = connected_durably(h);
  for (int i = 0; i < kOwned; ++i)
    c.queue(OpCode::kCreate, create_body("/e" + std::to_string(i), {.flags = wire::kEphemeral}));
  c.flush();
  h.durable();
  c.take();
  c.queue(OpCode::kCreate, create_body("/w"));
  for (int i = 0; i < 100; ++i) c.queue(OpCode::kGetEphemerals, path_body("/none"));
  c.flush();
  h.settle();
  EXPECT_FALSE(c.reading());
  EXPECT_EQ(h.front().outstanding(), 6u)
      << "the write, and reads until they are as much as the output may hold";
}

// Watchers of everything, and a client that changes much at once.
class ManyEvents : public ::testing::Test {
 protected:
  static HarnessConfig config() {
    HarnessConfig c;
    c.durable_at_once = false;
    c.front.output_high_water_bytes = 2'000;
    c.front.output_max_bytes = 10'000;
    c.front.staged_total_max_bytes = 1'000'000;
    return c;
  }
  Client join(Harness& h) {
    Client c(h);
    c.send_hello({});
    h.durable();
    c.take_hello();
    return c;
  }
  static void change_much(Client& writer, int changes) {
    std::vector<std::pair<OpCode, std::string>> ops;
    for (int i = 0; i < changes; ++i) ops.push_back({OpCode::kSetData, set_data_body("/a", "x")});
    writer.send(OpCode::kMulti, wire::testing::multi_body(ops));
  }
};

TEST_F(ManyEvents, OfOneTransactionCloseTheConnectionThatCannotHoldThem) {
  Harness h(config());
  Client writer = join(h);
  Client watcher = join(h);
  writer.send(OpCode::kCreate, create_body("/a"));
  h.durable();
  watcher.send(OpCode::kAddWatch, path_type_body("/", 1));
  watcher.take();
  change_much(writer, 200);
  h.durable();
  EXPECT_FALSE(watcher.closed()) << "200 events are 7 kB";
  watcher.take();
  writer.take();
  change_much(writer, 2000);
  h.settle();
  h.replica->on_committed(h.replica->last_proposed(), h.now);
  EXPECT_TRUE(h.front().watches().empty()) << "the rest of the transaction is not looked through for it";
  h.settle();
  EXPECT_TRUE(watcher.closed());
  EXPECT_LE(watcher.output().size(), 10'000u);
  EXPECT_EQ(h.front().totals().event_overflows, 1u);
  EXPECT_FALSE(writer.closed());
}

TEST_F(ManyEvents, ForManyWatchersAreLimitedInTotal) {
  HarnessConfig small = config();
  small.front.staged_total_max_bytes = 20'000;
  Harness h(small);
  Client writer = join(h);
  writer.send(OpCode::kCreate, create_body("/a"));
  h.durable();
  Client greedy = join(h);
  Client modest = join(h);
  greedy.send(OpCode::kAddWatch, path_type_body("/", 1));
  modest.send(OpCode::kGetData, path_watch_body("/a", true));
  change_much(writer, 290);
  h.durable();
  EXPECT_TRUE(greedy.closed()) << "of 10 kB, which alone would be allowed";
  EXPECT_FALSE(modest.closed());
}

TEST(Identities, AreChargedToTheConnectionWithEveryWrite) {
  HarnessConfig config;
  config.durable_at_once = false;
  config.front.outstanding_bytes_max = 50'000;
  Harness h(config);
  Client c = connected_durably(h);
  const std::string auth = wire::testing::written([&](wire::Writer& w) {
    w.i32(0);
    w.string("digest");
    w.string(std::string(9'900, 'u') + ":p");
  });
  EXPECT_EQ(c.error(OpCode::kAuth, auth), ErrorCode::kOk);
  for (int i = 0; i < 100; ++i) c.queue(OpCode::kCreate, create_body("/" + std::to_string(i)));
  c.flush();
  h.settle();
  EXPECT_FALSE(c.reading());
  EXPECT_EQ(h.front().outstanding(), 6u);
}

TEST(Handshake, NeedsNoLargeFrame) {
  Harness h;
  Client c(h);
  c.send_bytes(wire::testing::from_hex("00010000"));
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(h.front().stats().frames_too_large, 1u);
}

}  // namespace
}  // namespace drover::replica

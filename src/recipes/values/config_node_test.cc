// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/config_node.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

using Number = ConfigNode<std::int32_t>;
using Text = ConfigNode<std::string>;

// Collects everything that next() returns.
class Reader {
 public:
  Reader(RecipeWorld& world, Text& config) : world_(world), config_(config) {}
  void drain() {
    world_.run_for(milliseconds(50));
    for (;;) {
      auto next = world_.get(config_.next(Wait::within(milliseconds(1))));
      if (!next) return;
      values.push_back(next->value_or("(none)"));
    }
  }
  std::vector<std::string> values;

 private:
  RecipeWorld& world_;
  Text& config_;
};

TEST(Codec, NumbersAreBigEndianAsJavaWritesThem) {
  const auto ints = big_endian_codec<std::int32_t>();
  EXPECT_EQ(ints.encode(-2), std::string("\xff\xff\xff\xfe"));
  EXPECT_EQ(*ints.decode(std::string("\x00\x00\x01\x02", 4)), 258);
  EXPECT_EQ(*ints.decode(ints.encode(INT32_MIN)), INT32_MIN);
  EXPECT_EQ(*ints.decode(""), 0);
  EXPECT_EQ(ints.decode("abc").error(), Errc::kBadData);
  const auto longs = big_endian_codec<std::int64_t>();
  EXPECT_EQ(*longs.decode(longs.encode(INT64_MIN)), INT64_MIN);
  EXPECT_EQ(*longs.decode(longs.encode(77) + "and more"), 77);
}

TEST(ConfigNode, FollowersGetAPublishedValue) {
  RecipeWorld world({.clients = 2});
  Number writer(world.client(1), "/app/limit", big_endian_codec<std::int32_t>());
  Number reader(world.client(0), "/app/limit", big_endian_codec<std::int32_t>());
  ASSERT_TRUE(world.get(reader.start()));
  EXPECT_EQ(reader.current(), std::nullopt);
  ASSERT_TRUE(world.get(writer.publish(7)));
  world.run_for(milliseconds(100));
  EXPECT_EQ(reader.current(), 7);
  const auto stat = world.get(writer.publish(8));
  ASSERT_TRUE(stat);
  EXPECT_EQ(world.get(writer.publish(9, stat->version))->version, Version{2});
  EXPECT_EQ(world.get(writer.publish(10, stat->version)).error(), Errc::kBadVersion);
  world.run_for(milliseconds(100));
  EXPECT_EQ(reader.current(), 9);
}

TEST(ConfigNode, ChangesAndDeletionsCostOneNotificationEach) {
  RecipeWorld world({.clients = 2});
  OtherClient other(world, 1);
  other.put("/c", "1");
  Text config(world.client(0), "/c", text_codec());
  Reader reader(world, config);
  ASSERT_TRUE(world.get(config.start()));
  reader.drain();
  other.set("/c", "2");
  reader.drain();
  other.remove("/c");
  reader.drain();
  other.put("/c", "3");  // version 0 again
  reader.drain();
  EXPECT_EQ(reader.values, (std::vector<std::string>{"1", "2", "(none)", "3"}));
  EXPECT_EQ(world.watch_events(0), 3u);
}

TEST(ConfigNode, SlowReadersGetTheNewestOnly) {
  RecipeWorld world({.clients = 2});
  OtherClient other(world, 1);
  other.put("/c", "1");
  Text config(world.client(0), "/c", text_codec());
  ASSERT_TRUE(world.get(config.start()));
  for (int i = 2; i <= 20; ++i) other.set("/c", std::to_string(i));
  world.run_for(milliseconds(100));
  EXPECT_EQ(**world.get(config.next()), "20");
  EXPECT_EQ(world.get(config.next(Wait::within(milliseconds(100)))).error(), Errc::kDeadline);
}

TEST(ConfigNode, UnreadableValueIsReportedAndTheLastGoodOneStays) {
  RecipeWorld world({.clients = 2});
  OtherClient other(world, 1);
  other.put("/c", std::string("\0\0\0\5", 4));
  Number config(world.client(0), "/c", big_endian_codec<std::int32_t>());
  EXPECT_EQ(**world.get(config.next()), 5);
  other.set("/c", "x");
  EXPECT_EQ(world.get(config.next()).error(), Errc::kBadData);
  EXPECT_EQ(config.current(), 5);
  other.set("/c", std::string("\0\0\0\6", 4));
  EXPECT_EQ(**world.get(config.next()), 6);
}

TEST(ConfigNode, IsUpToDateAfterEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    OtherClient other(world, 1);
    other.put("/c", "1");
    Text config(world.client(0), "/c", text_codec());
    ASSERT_TRUE(world.get(config.start()));
    Reader reader(world, config);
    fault.strike(world);
    other.set("/c", "2");
    other.remove("/c");
    other.put("/c", "3");  // the same version as at the beginning
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    reader.drain();
    EXPECT_EQ(reader.values.back(), "3");
    EXPECT_EQ(config.current(), "3");
    other.set("/c", "4");
    world.run_for(milliseconds(100));
    EXPECT_EQ(config.current(), "4");
  });
}

TEST(ConfigNode, PublicationWithALostReplyIsFoundAndNotRepeated) {
  for (const char* op : {"set", "create"}) {
    RecipeWorld world({.clients = 2});
    OtherClient(world, 1).put("/app");
    if (op == std::string("set")) OtherClient(world, 1).put("/app/c", "0");
    Text config(world.client(0), "/app/c", text_codec());
    world.lose_reply(0, op);
    const auto stat = world.get(config.publish("1"));
    ASSERT_TRUE(stat) << op;
    EXPECT_EQ(world.data("/app/c"), "1");
    EXPECT_EQ(world.stat("/app/c")->mzxid, stat->mzxid);
  }
}

TEST(ConfigNode, LostPublicationIsRetriedOnce) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/c", "0");
  Text config(world.client(0), "/c", text_codec());
  world.lose_request(0, "set");
  ASSERT_TRUE(world.get(config.publish("1", Version{0})));
  EXPECT_EQ(world.data("/c"), "1");
  EXPECT_EQ(world.stat("/c")->version, Version{1});
}

TEST(ConfigNode, UnresolvedPublicationIsMaybeApplied) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/c", "0");
  Text config(world.client(0), "/c", text_codec());
  world.lose_reply(0, "set");
  const auto publishing = world.start(config.publish("1"));
  ASSERT_TRUE(world.run_until([&] { return world.data("/c") == "1"; }));
  world.cut(0);
  OtherClient(world, 1).set("/c", "2");
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return publishing->has_value(); }));
  ASSERT_FALSE((*publishing)->has_value());
  EXPECT_TRUE((*publishing)->error().maybe_applied());
  EXPECT_EQ(world.data("/c"), "2");
}

TEST(ConfigNode, DestroyedAtAnyRequestItLeavesNoWatch) {
  for (int nth = 1; nth <= 4; ++nth) {
    RecipeWorld world({.clients = 2});
    if (nth % 2 == 0) OtherClient(world, 1).put("/c", "1");
    std::optional<Text> config(std::in_place, world.client(0), "/c", text_codec());
    world.at_request(0, "", nth, [&] { config.reset(); });
    const auto started = world.start(config->start());
    world.run_for(milliseconds(500));
    config.reset();
    world.run_for(milliseconds(500));
    EXPECT_TRUE(started->has_value());
    EXPECT_EQ(world.watches(), 0u);
  }
}

}  // namespace
}  // namespace drover::recipes::testing

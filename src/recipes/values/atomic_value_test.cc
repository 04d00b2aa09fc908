// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/atomic_value.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "drover/recipes/mutex.h"
#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

std::int64_t stored(RecipeWorld& world, const std::string& path) {
  return *big_endian_codec<std::int64_t>().decode(world.data(path).value_or(""));
}
const AtomicOptions kExactlyOnce{.exactly_once = true};
const AtomicOptions kSoonInLine{.exactly_once = true, .lock_path = "/n-lock", .tries_before_lock = 1};

TEST(AtomicLong, MissingNodeCountsAsZero) {
  for (const AtomicOptions& options : {AtomicOptions{}, kExactlyOnce}) {
    RecipeWorld world({.clients = 1});
    const AtomicLong n(world.client(0), "/deep/down/n", options);
    EXPECT_EQ(*world.get(n.get()), std::nullopt);
    EXPECT_EQ(*world.get(n.add(5)), 5);
    EXPECT_EQ(*world.get(n.add(-7)), -2);
    EXPECT_EQ(**world.get(n.get()), -2);
    EXPECT_EQ(world.data("/deep/down/n"), std::string("\xff\xff\xff\xff\xff\xff\xff\xfe", 8));
    EXPECT_EQ(*world.get(n.set(INT64_MAX)), INT64_MAX);
    EXPECT_EQ(*world.get(n.add(1)), INT64_MIN);
  }
}

TEST(AtomicLong, EmptyDataIsZeroAndShortDataIsBad) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/n", "");
  const AtomicLong n(world.client(0), "/n");
  EXPECT_EQ(*world.get(n.add(3)), 3);
  OtherClient(world, 1).set("/n", "abc");
  EXPECT_EQ(world.get(n.add(3)).error(), Errc::kBadData);
  EXPECT_EQ(world.data("/n"), "abc");
}

TEST(AtomicLong, CompareAndSetComparesFirst) {
  RecipeWorld world({.clients = 1});
  const AtomicLong n(world.client(0), "/n");
  EXPECT_FALSE(*world.get(n.compare_and_set(0, 1)));
  ASSERT_TRUE(world.get(n.set(7)));
  EXPECT_FALSE(*world.get(n.compare_and_set(6, 8)));
  EXPECT_TRUE(*world.get(n.compare_and_set(7, 8)));
  EXPECT_EQ(stored(world, "/n"), 8);
}

TEST(AtomicLong, ConcurrentAddsLoseNothing) {
  for (const AtomicOptions& options : {AtomicOptions{}, kExactlyOnce, kSoonInLine}) {
    RecipeWorld world({.servers = 3, .clients = 4});
    std::vector<AtomicLong> numbers;
    for (std::size_t i = 0; i < 4; ++i) numbers.emplace_back(world.client(i), "/n", options);
    std::vector<std::shared_ptr<std::optional<Result<std::int64_t>>>> adding;
    for (int round = 0; round < 5; ++round) {
      for (const AtomicLong& n : numbers) adding.push_back(world.start(n.add(1)));
    }
    ASSERT_TRUE(world.run_until(
        [&] { return std::ranges::all_of(adding, [](const auto& each) { return each->has_value(); }); }));
    EXPECT_EQ(stored(world, "/n"), 20);
    EXPECT_EQ(world.data("/n-lock").has_value(), !options.lock_path.empty()) << "some were overtaken";
  }
}

// Curator's DistributedAtomicLong and kazoo's Counter return 3 here.
TEST(AtomicLong, TwoAddsWithALostReplyAddTwo) {
  RecipeWorld world({.clients = 1});
  const AtomicLong n(world.client(0), "/n", kExactlyOnce);
  world.lose_reply(0, "multi");
  EXPECT_EQ(*world.get(n.add(1)), 1);
  world.lose_reply(0, "multi");
  EXPECT_EQ(*world.get(n.add(1)), 2);
  world.lose_request(0, "multi");
  EXPECT_EQ(*world.get(n.add(1)), 3);
  EXPECT_EQ(stored(world, "/n"), 3);
}

TEST(AtomicLong, WithoutMarksALostReplyIsMaybeApplied) {
  RecipeWorld world({.clients = 1});
  const AtomicLong n(world.client(0), "/n");
  ASSERT_TRUE(world.get(n.add(1)));
  world.lose_reply(0, "multi");
  const auto lost = world.get(n.add(1));
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().maybe_applied());
  EXPECT_EQ(stored(world, "/n"), 2);
  world.lose_request(0, "multi");  // The node is unchanged, so the write was not applied.
  EXPECT_EQ(*world.get(n.add(1)), 3);
  EXPECT_EQ(stored(world, "/n"), 3);
}

// One change must not overwrite the mark of another.
TEST(AtomicLong, ConcurrentChangesOfOneObjectHaveTheirOwnMarks) {
  for (int nth = 1; nth <= 6; ++nth) {
    RecipeWorld world({.clients = 1});
    const AtomicLong n(world.client(0), "/n", kExactlyOnce);
    ASSERT_TRUE(world.get(n.add(1)));
    world.lose_reply(0, "multi", nth);
    std::vector<std::shared_ptr<std::optional<Result<std::int64_t>>>> adding;
    for (int i = 0; i < 4; ++i) adding.push_back(world.start(n.add(1)));
    ASSERT_TRUE(world.run_until(
        [&] { return std::ranges::all_of(adding, [](const auto& each) { return each->has_value(); }); }));
    for (const auto& each : adding) EXPECT_TRUE((*each)->has_value());
    EXPECT_EQ(stored(world, "/n"), 5);
  }
}

// After any fault: a confirmed change was applied once, an unconfirmed one at most once.
TEST(AtomicLong, CountsCorrectlyThroughEveryFault) {
  for (const AtomicOptions& options : {AtomicOptions{}, kExactlyOnce, kSoonInLine}) {
    with_every_client_fault(2, [&](RecipeWorld& world, const ClientFault& fault) {
      const AtomicLong ours(world.client(0), "/n", options);
      const AtomicLong theirs(world.client(1), "/n", options);
      int sure = 0;
      int unknown = 0;
      const auto count = [&](const Result<std::int64_t>& result) {
        if (result) ++sure;
        if (!result && result.error().maybe_applied()) ++unknown;
      };
      for (int i = 0; i < 6; ++i) {
        if (i == 2) fault.strike(world);
        const auto adding = world.start(ours.add(1));
        const auto also = world.start(theirs.add(1));
        world.run_for(milliseconds(300));
        fault.heal(world);
        ASSERT_TRUE(world.run_until([&] { return adding->has_value() && also->has_value(); }));
        count(**adding);
        count(**also);
      }
      EXPECT_GE(stored(world, "/n"), sure);
      EXPECT_LE(stored(world, "/n"), sure + unknown);
      if (options.exactly_once && !fault.ends_session) {
        EXPECT_EQ(unknown, 0);
        EXPECT_EQ(sure, 12);
      }
    });
  }
}

void fail_tries(RecipeWorld& world, int times) {
  for (int i = 0; i < times; ++i) world.lose_request(0, "multi");
}

TEST(AtomicLong, AfterTooManyConflictsItWaitsForTheLock) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/n", "");
  Guard theirs = *world.get(Mutex(world.client(1), "/n-lock").acquire());
  const AtomicLong n(world.client(0), "/n", {.lock_path = "/n-lock", .tries_before_lock = 2});
  fail_tries(world, 1);
  EXPECT_EQ(*world.get(n.add(1)), 1) << "once is not too often";
  fail_tries(world, 2);
  const auto adding = world.start(n.add(1));
  world.run_for(milliseconds(2000));
  EXPECT_FALSE(adding->has_value());
  EXPECT_EQ(world.children("/n-lock").size(), 2u);
  ASSERT_TRUE(world.get(theirs.release()));
  ASSERT_TRUE(world.run_until([&] { return adding->has_value(); }));
  EXPECT_EQ(***adding, 2);
  EXPECT_TRUE(world.run_until([&] { return world.children("/n-lock").empty(); })) << "the turn is given back";
}

TEST(AtomicLong, CancelledWaitForTheLockLeavesNothing) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/n", "");
  const Guard theirs = *world.get(Mutex(world.client(1), "/n-lock").acquire());
  const AtomicLong n(world.client(0), "/n",
                     {.exactly_once = true, .lock_path = "/n-lock", .tries_before_lock = 1});
  fail_tries(world, 1);
  EXPECT_EQ(world.get(n.add(1, Wait::within(milliseconds(5000)))).error(), Errc::kDeadline);
  EXPECT_EQ(stored(world, "/n"), 0);
  EXPECT_TRUE(world.run_until([&] { return world.children("/n-lock").size() == 1; }));
}

TEST(AtomicLong, MarksAreRemovedWithTheObject) {
  for (int nth = 0; nth <= 6; ++nth) {
    RecipeWorld world({.clients = 2});
    std::optional<AtomicLong> n(std::in_place, world.client(0), "/n", kExactlyOnce);
    std::stop_source stop;
    if (nth > 0) world.at_request(0, "", nth, [&] { stop.request_stop(); });
    for (int i = 0; i < 3; ++i) world.get(n->add(1, Wait::forever(stop.get_token())));
    n.reset();
    world.run_for(milliseconds(1000));
    EXPECT_EQ(world.descendants("/n.ops"), 0u) << nth;
  }
}

TEST(AtomicLong, OldMarksOfCrashedClientsAreRemoved) {
  RecipeWorld world({.clients = 3});
  const AtomicOptions options{.exactly_once = true, .marks_kept = milliseconds(60'000)};
  const AtomicLong lives(world.client(0), "/n", options);
  ASSERT_TRUE(world.get(lives.add(1)));
  ASSERT_TRUE(world.get(world.client(2).create("/n.ops/crashed", "7")));
  world.run_for(milliseconds(120'000));
  ASSERT_TRUE(world.get(world.client(2).create("/n.ops/crashed-lately", "7")));
  ASSERT_TRUE(world.get(lives.add(1)));
  const AtomicLong next(world.client(1), "/n", options);
  ASSERT_TRUE(world.get(next.add(1)));
  ASSERT_TRUE(world.run_until([&] { return world.descendants("/n.ops") == 3; }));
  EXPECT_FALSE(*world.get(world.client(2).exists("/n.ops/crashed")));
  EXPECT_TRUE(*world.get(world.client(2).exists("/n.ops/crashed-lately")));
  EXPECT_EQ(*world.get(lives.add(1)), 4);
}

// A client that slept for longer than marks are kept.
TEST(AtomicLong, RemovedMarkIsRecreated) {
  RecipeWorld world({.clients = 2});
  const AtomicLong n(world.client(0), "/n", kExactlyOnce);
  ASSERT_TRUE(world.get(n.add(1)));
  const std::vector<std::string> marks = world.children("/n.ops");
  ASSERT_EQ(marks.size(), 1u);
  ASSERT_TRUE(world.get(world.client(1).remove("/n.ops/" + marks[0])));
  EXPECT_EQ(*world.get(n.add(1)), 2);
  EXPECT_EQ(world.children("/n.ops").size(), 1u);
}

TEST(AtomicValue, UpdatesAnyTypeWithACodec) {
  RecipeWorld world({.clients = 2});
  const AtomicValue<std::string> text(world.client(0), "/t", text_codec());
  const auto append = [](std::optional<std::string> old) { return old.value_or("") + "x"; };
  EXPECT_EQ(*world.get(text.update(append)), "x");
  EXPECT_EQ(*world.get(text.update(append)), "xx");
  EXPECT_TRUE(*world.get(text.compare_and_set("xx", "y")));
  EXPECT_EQ(world.data("/t"), "y");
}

}  // namespace
}  // namespace drover::recipes::testing

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/id_generator.h"

#include <gtest/gtest.h>

#include <set>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

constexpr IdMode kModes[] = {IdMode::kZxid, IdMode::kVersion, IdMode::kSequential, IdMode::kBlock};

TEST(IdGenerator, IdsGrowAndAreUnique) {
  for (const IdMode mode : kModes) {
    SCOPED_TRACE(static_cast<int>(mode));
    RecipeWorld world({.clients = 2});
    const IdGenerator a(world.client(0), "/app/ids", mode, {.block = 3});
    const IdGenerator b(world.client(1), "/app/ids", mode, {.block = 3});
    std::set<std::int64_t> all;
    std::int64_t last = -1;
    for (int i = 0; i < 10; ++i) {
      const auto id = world.get(a.next());
      ASSERT_TRUE(id);
      EXPECT_GT(*id, last);
      last = *id;
      EXPECT_TRUE(all.insert(*id).second);
      EXPECT_TRUE(all.insert(*world.get(b.next())).second);
    }
    world.run_for(milliseconds(500));
    EXPECT_EQ(world.descendants("/app/ids"), 0u);
  }
}

TEST(IdGenerator, BlockOfIdsCostsOneWrite) {
  RecipeWorld world({.clients = 1});
  const IdGenerator ids(world.client(0), "/ids", IdMode::kBlock, {.block = 100});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(*world.get(ids.next()), i);
  EXPECT_EQ(world.requests(0, "multi"), 1u);
  EXPECT_EQ(*world.get(ids.next()), 100);
  EXPECT_EQ(world.data("/ids"), std::string("\0\0\0\0\0\0\0\xc8", 8));
}

TEST(IdGenerator, RecreatedNodeDoesNotRepeatZxids) {
  RecipeWorld world({.clients = 1});
  const IdGenerator ids(world.client(0), "/ids");
  const auto before = world.get(ids.next());
  OtherClient(world, 0).remove("/ids");
  const auto after = world.get(ids.next());
  ASSERT_TRUE(before && after);
  EXPECT_GT(*after, *before);
}

TEST(IdGenerator, NoIdIsGivenTwiceThroughEveryFault) {
  for (const IdMode mode : kModes) {
    SCOPED_TRACE(static_cast<int>(mode));
    with_every_client_fault(2, [&](RecipeWorld& world, const ClientFault& fault) {
      const IdGenerator ours(world.client(0), "/ids", mode, {.block = 2});
      const IdGenerator theirs(world.client(1), "/ids", mode, {.block = 2});
      std::set<std::int64_t> all;
      int given = 0;
      for (int i = 0; i < 8; ++i) {
        if (i == 2) fault.strike(world);
        const auto one = world.start(ours.next());
        const auto two = world.start(theirs.next());
        world.run_for(milliseconds(300));
        fault.heal(world);
        ASSERT_TRUE(world.run_until([&] { return one->has_value() && two->has_value(); }));
        for (const auto& each : {one, two}) {
          if (!(*each)->has_value()) continue;
          ++given;
          EXPECT_TRUE(all.insert(***each).second);
        }
      }
      EXPECT_GE(given, 12);
      world.run_for(milliseconds(3000));
      EXPECT_EQ(world.descendants("/ids"), 0u);
    });
  }
}

// --- snowflakes ---

class Snowflakes : public ::testing::Test {
 protected:
  SnowflakeOptions options(std::int64_t offset_ms = 0, int slots = 1024) {
    return {.slots = slots, .period = milliseconds(1000), .wall_ms = [this, offset_ms] {
              return kNoon + world.now().count() + offset_ms + shift;
            }};
  }
  void take(SnowflakeIds& ids) {
    const auto id = ids.next();
    if (id) {
      EXPECT_TRUE(all.insert(*id).second) << *id;
    }
  }

  static constexpr std::int64_t kNoon = 1'800'000'000'000;
  RecipeWorld world{{.servers = 1, .clients = 3}};
  std::int64_t shift = 0;
  std::set<std::int64_t> all;
};

TEST_F(Snowflakes, ContainTimeSlotAndCount) {
  SnowflakeIds ids(world.client(0), "/f", options());
  EXPECT_EQ(ids.next().error(), Errc::kStale);
  ASSERT_TRUE(world.get(ids.start()));
  const auto first = ids.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(*first >> 12 & 1023, *ids.slot());
  EXPECT_EQ((*first >> 22) + SnowflakeOptions{}.epoch_ms, kNoon + world.now().count());
  EXPECT_EQ(*ids.next(), *first + 1);
  world.run_for(milliseconds(1));
  EXPECT_GT(*ids.next(), *first + 4095);
  EXPECT_EQ(world.children("/f/workers").size(), 1u);
}

TEST_F(Snowflakes, MillisecondHasALimitedNumberOfIds) {
  SnowflakeIds ids(world.client(0), "/f", options());
  ASSERT_TRUE(world.get(ids.start()));
  world.run_for(milliseconds(1));
  for (int i = 0; i < 4096; ++i) ASSERT_TRUE(ids.next());
  EXPECT_EQ(ids.next().error(), Errc::kStale);
  world.run_for(milliseconds(1));
  EXPECT_TRUE(ids.next());
}

TEST_F(Snowflakes, EachWorkerHasItsOwnSlotUpToTheLimit) {
  SnowflakeIds a(world.client(0), "/f", options(0, 2));
  SnowflakeIds b(world.client(0), "/f", options(0, 2));  // of the same session
  SnowflakeIds c(world.client(1), "/f", options(0, 2));
  ASSERT_TRUE(world.get(a.start()));
  ASSERT_TRUE(world.get(b.start()));
  EXPECT_NE(*a.slot(), *b.slot());
  EXPECT_EQ(world.get(c.start()).error(), Errc::kTooMany);
}

TEST_F(Snowflakes, ClockSetBackRepeatsNoId) {
  SnowflakeIds ids(world.client(0), "/f", options());
  ASSERT_TRUE(world.get(ids.start()));
  for (int i = 0; i < 100; ++i) take(ids);
  shift = -3'600'000;
  for (int i = 0; i < 10'000; ++i) take(ids);
  EXPECT_EQ(ids.next().error(), Errc::kStale);
  world.run_for(milliseconds(3'601'000));
  EXPECT_TRUE(ids.next());
}

// The next owner's clock is behind; its ids begin where those of the slot ended.
TEST_F(Snowflakes, NextOwnerOfASlotStartsAfterItsReservedTime) {
  std::optional<SnowflakeIds> first(std::in_place, world.client(0), "/f", options(0, 1));
  ASSERT_TRUE(world.get(first->start()));
  for (int i = 0; i < 100; ++i) take(*first);
  first.reset();
  world.run_for(milliseconds(100));
  EXPECT_EQ(world.children("/f/workers").size(), 0u);
  SnowflakeIds next(world.client(1), "/f", options(-5000, 1));
  const auto started = world.start(next.start());
  for (int i = 0; i < 100; ++i) {
    world.run_for(milliseconds(100));
    for (int k = 0; k < 50; ++k) take(next);
  }
  ASSERT_TRUE(started->has_value());
  EXPECT_TRUE(next.next());
}

// A clock was an hour ahead: its slot would give no id for an hour.
TEST_F(Snowflakes, SlotWithATimeFarAheadIsSkipped) {
  std::optional<SnowflakeIds> wrong(std::in_place, world.client(0), "/f", options(3'600'000, 2));
  ASSERT_TRUE(world.get(wrong->start()));
  ASSERT_TRUE(wrong->next());
  const auto spoiled = wrong->slot();
  wrong.reset();
  world.run_for(milliseconds(100));
  SnowflakeIds right(world.client(0), "/f", options(0, 2));  // The session's first choice is the same slot.
  ASSERT_TRUE(world.get(right.start(Wait::within(milliseconds(5000)))));
  EXPECT_NE(right.slot(), spoiled);
  EXPECT_TRUE(right.next());
  SnowflakeIds third(world.client(1), "/f", options(0, 2));
  EXPECT_EQ(world.get(third.start(Wait::within(milliseconds(5000)))).error(), Errc::kStale);
}

TEST_F(Snowflakes, NoIdsIfTheSessionMayBeGone) {
  SnowflakeIds first(world.client(0), "/f", options(0, 1));
  ASSERT_TRUE(world.get(first.start()));
  SnowflakeIds second(world.client(1), "/f", options(0, 1));
  const auto waiting = world.start(second.start());
  world.cut(0);
  for (int i = 0; i < 400; ++i) {  // through its end here and at the servers
    take(first);
    take(second);
    world.run_for(milliseconds(25));
  }
  EXPECT_EQ(first.next().error(), Errc::kStale);
  EXPECT_FALSE(world.get(second.start(Wait::within(milliseconds(20'000)))).has_value() && first.next());
  EXPECT_TRUE(second.next());
}

TEST_F(Snowflakes, EndWithTheSessionAlthoughTimeIsReserved) {
  SnowflakeOptions long_ahead = options();
  long_ahead.period = milliseconds(600'000);
  SnowflakeIds ids(world.client(0), "/f", long_ahead);
  ASSERT_TRUE(world.get(ids.start()));
  world.cut(0);
  const auto until = world.client(0).valid_until();
  ASSERT_TRUE(world.run_until([&] { return Clock::now() >= until; }));
  EXPECT_EQ(ids.next().error(), Errc::kStale);
}

TEST_F(Snowflakes, LostReplyTakesNoSecondSlot) {
  for (int nth = 1; nth <= 8; ++nth) {
    SCOPED_TRACE(nth);
    const std::string path = "/f" + std::to_string(nth);
    std::optional<SnowflakeIds> ids(std::in_place, world.client(0), path, options());
    world.lose_reply(0, "", nth);
    ASSERT_TRUE(world.get(ids->start()));
    world.run_for(milliseconds(3000));
    EXPECT_EQ(world.children(path + "/workers").size(), 1u);
    EXPECT_TRUE(ids->next());
    ids.reset();
    world.disarm(0);
    world.run_for(milliseconds(2000));
    EXPECT_EQ(world.children(path + "/workers").size(), 0u);
  }
}

TEST_F(Snowflakes, DestroyedAtAnyRequestItLeavesTheSlotFree) {
  for (int nth = 1; nth <= 10; ++nth) {
    const std::string path = "/f" + std::to_string(nth);
    std::optional<SnowflakeIds> ids(std::in_place, world.client(0), path, options());
    world.at_request(0, "", nth, [&] { ids.reset(); });
    const auto started = world.start(ids->start());
    world.run_for(milliseconds(2000));
    ids.reset();
    world.disarm(0);
    world.run_for(milliseconds(1000));
    EXPECT_EQ(world.children(path + "/workers").size(), 0u);
  }
}

TEST_F(Snowflakes, ContinueInTheNextSession) {
  SnowflakeIds ids(world.client(0), "/f", options());
  ASSERT_TRUE(world.get(ids.start()));
  take(ids);
  world.kill_session(0);
  world.run_for(milliseconds(500));
  ASSERT_TRUE(world.run_until([&] { return ids.next().has_value(); }, milliseconds(20'000)));
  EXPECT_EQ(world.children("/f/workers").size(), 1u);
}

}  // namespace
}  // namespace drover::recipes::testing

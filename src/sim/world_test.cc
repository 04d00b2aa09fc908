// SPDX-License-Identifier: Apache-2.0
#include "sim/world.h"

#include <gtest/gtest.h>

#include <string>

namespace drover::sim {
namespace {

TEST(World, EventsOfOneInstantRunInTheOrderOfScheduling) {
  World world(1);
  std::string story;
  world.after(20, [&] { story += 'c'; });
  world.after(10, [&] {
    story += 'a';
    world.after(10, [&] { story += 'd'; });
  });
  world.after(10, [&] { story += 'b'; });
  world.run_until(100);
  EXPECT_EQ(story, "abcd");
  EXPECT_EQ(world.now(), 100);
}

TEST(World, StoppedActorGetsNoEvents) {
  World world(1);
  const ActorId actor = world.new_actor();
  std::string story;
  world.after(10, actor, [&] { story += "before"; });
  world.stop(actor);
  world.after(10, actor, [&] { story += "after"; });
  world.run_until(100);
  EXPECT_EQ(story, "after") << "its next life is another";
}

TEST(World, PausedActorGetsAllEventsLate) {
  World world(1);
  const ActorId actor = world.new_actor();
  std::string story;
  Micros when = 0;
  world.pause(actor);
  world.after(10, actor, [&] { story += 'a'; });
  world.after(20, actor, [&] {
    story += 'b';
    when = world.now();
  });
  world.after(50, [&] { world.resume(actor); });
  world.after(15, [&] { story += '-'; });
  world.run_until(100);
  EXPECT_EQ(story, "-ab");
  EXPECT_EQ(when, 50);
}

TEST(World, TheFirstFailureEndsTheRun) {
  World world(1);
  world.after(10, [&] { world.fail("first"); });
  world.after(20, [&] { world.fail("second"); });
  world.run_until(100);
  EXPECT_EQ(world.failure(), "first");
  EXPECT_EQ(world.now(), 10);
}

TEST(World, TheSameSeedDrawsTheSameForEachPart) {
  const World a(7);
  const World b(7);
  EXPECT_EQ(a.fork(1).next(), b.fork(1).next());
  EXPECT_NE(a.fork(1).next(), a.fork(2).next());
}

}  // namespace
}  // namespace drover::sim

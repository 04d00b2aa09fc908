// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/rendezvous.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

std::string new_place(RecipeWorld& world, bool ephemeral = false) {
  return world.get(Rendezvous::create(world.client(1), "/jobs", {.ephemeral = ephemeral}))->path();
}

TEST(Rendezvous, WorkersLearnTheMastersAddressAndTheEndOfTheJob) {
  RecipeWorld world({.clients = 3});
  const std::string path = new_place(world);
  const Rendezvous worker(world.client(0), path);
  const auto met = world.start(worker.meet());
  const auto over = world.start(worker.until_over());
  world.run_for(milliseconds(1000));
  EXPECT_FALSE(met->has_value());
  ASSERT_TRUE(world.get(Rendezvous(world.client(2), path).fill("here")));
  ASSERT_TRUE(world.run_until([&] { return met->has_value(); }));
  EXPECT_EQ((*met)->value(), "here");
  EXPECT_EQ(*world.get(worker.meet()), "here");
  EXPECT_FALSE(over->has_value());
  ASSERT_TRUE(world.get(Rendezvous(world.client(1), path).end()));
  ASSERT_TRUE(world.run_until([&] { return over->has_value(); }));
  EXPECT_TRUE((*over)->has_value());
  EXPECT_EQ(world.get(worker.meet()).error(), Errc::kNoNode);
}

TEST(Rendezvous, SecondMasterGetsAnError) {
  RecipeWorld world({.clients = 2});
  const std::string path = new_place(world);
  ASSERT_TRUE(world.get(Rendezvous(world.client(0), path).fill("first")));
  EXPECT_EQ(world.get(Rendezvous(world.client(1), path).fill("second")).error(), Errc::kBadVersion);
  EXPECT_EQ(world.data(path), "first");
  EXPECT_EQ(world.get(Rendezvous(world.client(1), path).fill("")).error(), Errc::kBadArguments);
}

TEST(Rendezvous, LostReplyOfTheMasterIsResolved) {
  {
    RecipeWorld world({.clients = 2});
    const std::string path = new_place(world);
    world.lose_reply(0, "set");
    EXPECT_TRUE(world.get(Rendezvous(world.client(0), path).fill("ours")));
  }
  RecipeWorld world({.clients = 2});
  const std::string path = new_place(world);
  world.lose_request(0, "set");
  const auto filling = world.start(Rendezvous(world.client(0), path).fill("ours"));
  ASSERT_TRUE(world.get(Rendezvous(world.client(1), path).fill("theirs")));
  ASSERT_TRUE(world.run_until([&] { return filling->has_value(); }));
  ASSERT_FALSE((*filling)->has_value());
  EXPECT_EQ((*filling)->error(), Errc::kBadVersion);
  EXPECT_EQ(world.data(path), "theirs");
}

TEST(Rendezvous, UnresolvedFillIsReportedAsMaybeApplied) {
  RecipeWorld world({.clients = 2});
  const std::string path = new_place(world);
  world.lose_reply(0, "set");
  world.at_request(0, "sync", 1, [&] { world.cut(0); });
  const auto filled =
      world.get(Rendezvous(world.client(0), path).fill("ours", Wait::within(milliseconds(2000))));
  ASSERT_FALSE(filled);
  EXPECT_NE(filled.error(), Errc::kBadVersion);
  EXPECT_TRUE(filled.error().maybe_applied());
  EXPECT_EQ(world.data(path), "ours");
}

TEST(Rendezvous, RemovalDuringAFillIsReported) {
  RecipeWorld world({.clients = 2});
  const std::string path = new_place(world);
  world.lose_reply(0, "set");
  world.at_request(0, "sync", 1, [&] { world.cut(0); });
  const auto filling = world.start(Rendezvous(world.client(0), path).fill("ours"));
  world.run_for(milliseconds(1000));
  OtherClient(world, 1).remove(path);
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return filling->has_value(); }));
  ASSERT_FALSE((*filling)->has_value());
  EXPECT_EQ((*filling)->error(), Errc::kNoNode);
}

TEST(Rendezvous, EphemeralRendezvousEndsWithItsCreator) {
  RecipeWorld world({.clients = 2});
  const std::string path = new_place(world, true);
  const auto over = world.start(Rendezvous(world.client(0), path).until_over());
  world.kill_session(1);
  ASSERT_TRUE(world.run_until([&] { return over->has_value(); }));
  EXPECT_TRUE((*over)->has_value());
}

TEST(Rendezvous, SurvivesEveryFault) {
  with_every_client_fault(3, [](RecipeWorld& world, const ClientFault& fault) {
    const std::string path = new_place(world);
    ASSERT_TRUE(world.get(world.client(0).sync(path)));
    const auto met = world.start(Rendezvous(world.client(0), path).meet());
    fault.strike(world);
    OtherClient(world, 2).set(path, "here");
    world.run_for(milliseconds(500));
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    ASSERT_TRUE(met->has_value());
    ASSERT_TRUE((*met)->has_value()) << (*met)->error().to_text();
    EXPECT_EQ((*met)->value(), "here");
  });
}

TEST(Rendezvous, StoppedOrTimedOutWaitLeavesNoWatch) {
  RecipeWorld world({.clients = 2});
  const Rendezvous worker(world.client(0), new_place(world));
  EXPECT_EQ(world.get(worker.meet(Wait::within(milliseconds(300)))).error(), Errc::kDeadline);
  std::stop_source stop;
  const auto met = world.start(worker.meet(Wait::forever(stop.get_token())));
  world.run_for(milliseconds(100));
  stop.request_stop();
  world.run_for(milliseconds(100));
  ASSERT_TRUE(met->has_value());
  EXPECT_EQ((*met)->error(), Errc::kStopped);
  EXPECT_EQ(world.watches(), 0u);
}

}  // namespace
}  // namespace drover::recipes::testing

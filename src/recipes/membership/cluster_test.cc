// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/cluster.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

std::optional<ClusterNode> find(const Cluster& cluster, const std::string& id) {
  for (ClusterNode& node : cluster.nodes()) {
    if (node.id == id) return std::move(node);
  }
  return std::nullopt;
}
Liveness liveness(const Cluster& cluster, const std::string& id) {
  const auto node = find(cluster, id);
  return node ? node->liveness : Liveness::kDown;
}

TEST(Heartbeat, LivesWithItsSessionAndWritesOnlyBeats) {
  RecipeWorld world({.clients = 2});
  Heartbeat quiet(world.client(0), "/c", "quiet", {.info = "10.0.0.1"});
  Heartbeat busy(world.client(0), "/c", "busy", {.beat_every = milliseconds(1000)});
  ASSERT_TRUE(world.get(quiet.start()));
  ASSERT_TRUE(world.get(busy.start()));
  EXPECT_EQ(LiveData::parse(*world.data("/c/live/quiet"))->info, "10.0.0.1");
  for (int i = 0; i < 1000; ++i) {
    busy.beat();
    quiet.beat();
    world.run_for(milliseconds(10));
  }
  EXPECT_EQ(world.stat("/c/live/quiet")->version, Version{0});
  const auto version = std::to_underlying(world.stat("/c/live/busy")->version);
  EXPECT_GE(version, 7);
  EXPECT_LE(version, 11);
  world.run_for(milliseconds(5000));  // It hangs: the counter does not change.
  EXPECT_LE(std::to_underlying(world.stat("/c/live/busy")->version), version + 1);
  ASSERT_TRUE(world.get(quiet.stop()));
  EXPECT_FALSE(world.exists("/c/live/quiet"));
}

TEST(Heartbeat, InvalidDataIsIgnored) {
  EXPECT_EQ(LiveData::parse("12\nhost")->beats, 12u);
  EXPECT_EQ(LiveData::parse("12\n")->info, "");
  for (const char* bad : {"", "12", "\n", "x\ny", "-1\n"}) EXPECT_FALSE(LiveData::parse(bad)) << bad;
}

TEST(Cluster, MemberReceivesAndAnswersACommand) {
  RecipeWorld world({.clients = 2});
  Cluster cluster(world.client(1), "/c");
  ASSERT_TRUE(world.get(cluster.start()));
  ClusterMember member(world.client(0), "/c", "a", {.info = "10.0.0.1"});
  ASSERT_TRUE(world.get(member.start()));
  world.run_for(milliseconds(100));
  EXPECT_EQ(liveness(cluster, "a"), Liveness::kUp);
  EXPECT_EQ(find(cluster, "a")->info, "10.0.0.1");

  EXPECT_EQ(*world.get(cluster.command("a", "drain")), 1u);
  const auto command = world.get(member.next_command());
  ASSERT_TRUE(command);
  EXPECT_EQ(*command, (Command{"drain", 1}));
  member.report("draining", command->generation);
  world.run_for(milliseconds(100));
  EXPECT_EQ(find(cluster, "a")->status, (Command{"draining", 1}));
  EXPECT_EQ(find(cluster, "a")->desired, (Command{"drain", 1}));
  EXPECT_EQ(*world.get(cluster.command("a", "up")), 2u);
  EXPECT_EQ(world.get(member.next_command())->generation, 2u);
}

TEST(Cluster, MemberReceivesOnlyItsOwnCommands) {
  RecipeWorld world({.clients = 2});
  Cluster cluster(world.client(1), "/c");
  ClusterMember member(world.client(0), "/c", "a");
  ASSERT_TRUE(world.get(member.start()));
  ASSERT_TRUE(world.get(cluster.command("a", "up")));
  ASSERT_TRUE(world.get(member.next_command()));
  const auto events = world.watch_events(0);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world.get(cluster.command("b", "up")));
  world.run_for(milliseconds(100));
  EXPECT_EQ(world.watch_events(0), events);
}

TEST(Cluster, MemberThatLeavesIsSuspectBeforeItIsDown) {
  RecipeWorld world({.clients = 2});
  Cluster cluster(world.client(1), "/c", {.damping = milliseconds(5000)});
  ASSERT_TRUE(world.get(cluster.start()));
  {
    ClusterMember member(world.client(0), "/c", "a");
    ASSERT_TRUE(world.get(member.start()));
    ASSERT_TRUE(world.get(cluster.command("a", "up")));
  }
  world.run_for(milliseconds(1000));
  EXPECT_EQ(liveness(cluster, "a"), Liveness::kSuspect);
  {
    ClusterMember back(world.client(0), "/c", "a");
    ASSERT_TRUE(world.get(back.start()));
    world.run_for(milliseconds(10'000));
    EXPECT_EQ(liveness(cluster, "a"), Liveness::kUp);
  }
  world.run_for(milliseconds(6000));
  EXPECT_EQ(liveness(cluster, "a"), Liveness::kDown);
  EXPECT_EQ(find(cluster, "a")->desired, (Command{"up", 1}));
}

TEST(Cluster, HangingMemberIsSuspectAlthoughItsSessionLives) {
  RecipeWorld world({.clients = 2});
  Cluster cluster(world.client(1), "/c", {.beat_every = milliseconds(1000)});
  ASSERT_TRUE(world.get(cluster.start()));
  ClusterMember member(world.client(0), "/c", "a", {.beat_every = milliseconds(1000)});
  ASSERT_TRUE(world.get(member.start()));
  for (int i = 0; i < 100; ++i) {
    member.beat();
    world.run_for(milliseconds(100));
    EXPECT_EQ(liveness(cluster, "a"), Liveness::kUp);
  }
  world.run_for(milliseconds(6000));
  EXPECT_EQ(liveness(cluster, "a"), Liveness::kSuspect);
  member.beat();
  world.run_for(milliseconds(1500));
  EXPECT_EQ(liveness(cluster, "a"), Liveness::kUp);
}

TEST(Cluster, CommandWithALostReplyIsGivenOnce) {
  for (const bool done : {true, false}) {
    for (int nth = 1; nth <= 2; ++nth) {
      RecipeWorld world({.clients = 2});
      const Cluster cluster(world.client(0), "/c");
      if (done) world.lose_reply(0, "multi", nth);
      if (!done) world.lose_request(0, "multi", nth);
      EXPECT_EQ(*world.get(cluster.command("a", "up")), 1u);
      EXPECT_EQ(world.data("/c/desired/a"), "1 up");
      EXPECT_EQ(*world.get(cluster.command("a", "up")), 2u);
    }
  }
}

TEST(Cluster, FormerLeaderCannotGiveCommands) {
  RecipeWorld world({.clients = 1});
  OtherClient(world, 0).put("/leader");
  const Cluster cluster(world.client(0), "/c");
  ASSERT_TRUE(world.get(cluster.command("a", "up", {Op::check("/leader")})));
  OtherClient(world, 0).remove("/leader");
  const auto fenced = world.get(cluster.command("a", "down", {Op::check("/leader")}));
  ASSERT_FALSE(fenced);
  EXPECT_EQ(fenced.error(), Errc::kNoNode);
  EXPECT_EQ(world.data("/c/desired/a"), "1 up");
}

TEST(Cluster, MembersAndTheirCommandsSurviveEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    Cluster cluster(world.client(1), "/c");
    ASSERT_TRUE(world.get(cluster.start()));
    ClusterMember member(world.client(0), "/c", "a");
    ASSERT_TRUE(world.get(member.start()));
    const auto heard = world.start(member.next_command());
    fault.strike(world);
    OtherClient other(world, 1);
    other.put("/c/desired/a", "1 drain");
    member.report("working", 0);
    world.run_for(milliseconds(500));
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    ASSERT_TRUE(heard->has_value() && (*heard)->has_value());
    EXPECT_EQ((*heard)->value(), (Command{"drain", 1}));
    EXPECT_EQ(liveness(cluster, "a"), Liveness::kUp);
    EXPECT_EQ(find(cluster, "a")->status, (Command{"working", 0}));
  });
}

TEST(ClusterMember, IsNotUpBeforeItCanReport) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/c/status/a", "of an earlier process", CreateMode::kEphemeral);
  ClusterMember member(world.client(0), "/c", "a");
  const auto started = world.start(member.start());
  world.run_for(milliseconds(1000));
  EXPECT_FALSE(world.exists("/c/live/a"));
  OtherClient(world, 1).remove("/c/status/a");
  ASSERT_TRUE(world.run_until([&] { return started->has_value(); }));
  EXPECT_TRUE(world.exists("/c/live/a"));
}

}  // namespace
}  // namespace drover::recipes::testing

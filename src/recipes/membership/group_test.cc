// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/group.h"

#include <gtest/gtest.h>

#include <set>

#include "recipes/client_fault_testing.h"
#include "recipes/common/steps.h"
#include "recipes/common/token.h"

namespace drover::recipes::testing {
namespace {

std::vector<std::string> ids(const Group& group) {
  std::vector<std::string> all;
  for (const Member& each : group.members()) all.push_back(each.id);
  return all;
}
using Names = std::vector<std::string>;

TEST(Group, MembersSeeEachOtherAndTheirData) {
  RecipeWorld world({.clients = 3});
  Group a(world.client(0), "/g");
  Group b(world.client(1), "/g");
  auto first = world.get(a.join("one", "1"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(world.get(a.start()));
  auto second = world.get(b.join("two", "2"));
  ASSERT_TRUE(second);
  const auto both = world.get(a.until([](const auto& all) { return all.size() == 2; }));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->back().data, "2");
  EXPECT_LT(both->front().joined, both->back().joined);
  second->set_data("22");
  EXPECT_TRUE(world.get(a.until([](const auto& all) { return all.back().data == "22"; })));
  ASSERT_TRUE(world.get(second->leave()));
  world.run_for(milliseconds(100));
  EXPECT_EQ(ids(a), Names{"one"});
  EXPECT_EQ(world.children("/g"), Names{"one"});
}

// In Curator the second member overwrites the first one's data, and both believe that they are members.
TEST(Group, UsedIdIsAConflict) {
  RecipeWorld world({.clients = 2});
  auto first = world.get(Group(world.client(0), "/g").join("one", "1"));
  ASSERT_TRUE(first);
  const auto second = world.get(Group(world.client(1), "/g").join("one", "2"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), Errc::kIdConflict);
  world.run_for(milliseconds(3000));
  EXPECT_EQ(world.data("/g/one"), "1");

  // A waiting member gets the id when it is free.
  auto waiting = world.start(Group(world.client(1), "/g").join("one", "2", {}, Group::OnConflict::kWait));
  world.run_for(milliseconds(1000));
  EXPECT_FALSE(waiting->has_value());
  ASSERT_TRUE(world.get(first->leave()));
  ASSERT_TRUE(world.run_until([&] { return waiting->has_value(); }));
  EXPECT_TRUE((*waiting)->has_value());
  EXPECT_EQ(world.data("/g/one"), "2");
}

TEST(Group, MemberReturnsAfterEveryFaultAndOthersSeeIt) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    Group a(world.client(0), "/g");
    Group b(world.client(1), "/g");
    auto first = world.get(a.join("one", "1"));
    auto second = world.get(b.join("two", "2"));
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(world.get(a.start()));
    ASSERT_TRUE(world.get(b.start()));
    fault.strike(world);
    first->set_data("11");
    world.run_for(milliseconds(500));
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    EXPECT_EQ(ids(a), (Names{"one", "two"}));
    EXPECT_EQ(ids(b), (Names{"one", "two"}));
    EXPECT_EQ(b.members().front().data, "11");
    EXPECT_TRUE(first->is_registered());
    EXPECT_TRUE(a.is_fresh());
  });
}

TEST(Group, ExpiredMemberIsAbsentUntilItReturns) {
  RecipeWorld world({.clients = 2});
  Group b(world.client(1), "/g");
  ASSERT_TRUE(world.get(b.start()));
  auto first = world.get(Group(world.client(0), "/g").join("one", "1"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(world.get(b.until([](const auto& all) { return all.size() == 1; })));
  world.cut(0);
  ASSERT_TRUE(world.get(b.until([](const auto& all) { return all.empty(); })));
  EXPECT_FALSE(first->is_registered());
  world.heal(0);
  EXPECT_TRUE(world.get(b.until([](const auto& all) { return all.size() == 1; })));
}

TEST(Group, JoinCostsEachFollowerOneNotification) {
  RecipeWorld world({.clients = 3});
  Group a(world.client(0), "/g");
  Group b(world.client(1), "/g");
  OtherClient(world, 2).put("/g");
  ASSERT_TRUE(world.get(a.start()));
  ASSERT_TRUE(world.get(b.start()));
  const auto before = world.watch_events();
  auto joined = world.get(Group(world.client(2), "/g").join("one", "1"));
  world.run_for(milliseconds(100));
  EXPECT_EQ(world.watch_events() - before, 2u);
}

TEST(Group, ChangesAreReportedOnce) {
  RecipeWorld world({.clients = 2});
  Group a(world.client(0), "/g");
  std::vector<std::size_t> sizes;
  const auto listening = a.on_change([&](const auto& all) { sizes.push_back(all.size()); });
  ASSERT_TRUE(world.get(a.start()));
  {
    auto joined = world.get(Group(world.client(1), "/g").join("one", "1"));
    ASSERT_TRUE(joined);
    world.run_for(milliseconds(100));
  }
  world.run_for(milliseconds(100));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 0}));
}

TEST(Group, KazoosPartiesAreReadAndJoined) {
  RecipeWorld world({.clients = 2});
  OtherClient(world, 1).put("/p/0123456789abcdef0123456789abcdef__party__", "them", CreateMode::kEphemeral);
  OtherClient(world, 1).put("/p/other", "");
  Group party(world.client(0), "/p", GroupLayout::kParty);
  auto joined = world.get(party.join("us", ""));
  ASSERT_TRUE(joined);
  ASSERT_TRUE(world.get(party.start()));
  EXPECT_EQ(ids(party), (Names{"them", "us"}));
  EXPECT_EQ(world.data(joined->node()), "us");
  EXPECT_EQ(joined->node().size(), std::string("/p/").size() + 32 + 9);

  OtherClient(world, 1).put("/s/0123456789abcdef0123456789abcdef-them", "", CreateMode::kEphemeral);
  Group shallow(world.client(0), "/s", GroupLayout::kShallowParty);
  auto also = world.get(shallow.join("us", ""));
  ASSERT_TRUE(also);
  ASSERT_TRUE(world.get(shallow.start()));
  EXPECT_EQ(ids(shallow), (Names{"them", "us"}));
}

TEST(Group, UnnamedMembersGetUniqueNames) {
  RecipeWorld world({.clients = 1});
  Group group(world.client(0), "/g");
  auto a = world.get(group.join_unnamed("1"));
  auto b = world.get(group.join_unnamed("2"));
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->node(), b->node());
  EXPECT_EQ(world.children("/g").size(), 2u);
}

TEST(Group, CancelledJoinLeavesNoNode) {
  for (int nth = 1; nth <= 5; ++nth) {
    RecipeWorld world({.clients = 1});
    std::stop_source stop;
    world.at_request(0, "", nth, [&] { stop.request_stop(); });
    {
      auto joined = world.get(Group(world.client(0), "/g").join("one", "1", Wait::forever(stop.get_token())));
      if (!joined) {
        EXPECT_EQ(joined.error(), Errc::kStopped);
      }
    }
    world.run_for(milliseconds(1000));
    EXPECT_EQ(world.descendants("/g"), 0u);
  }
  RecipeWorld world({.clients = 1});
  EXPECT_EQ(world.get(Group(world.client(0), "/g").join("a/b", "1")).error(), Errc::kBadArguments);
}

// Names do not contain the session id: clients without a session would all have the same names.
TEST(Token, HasThirtyTwoDigitsIndependentOfTheSession) {
  RecipeWorld world({.clients = 2});
  std::set<std::string> halves;
  for (const std::size_t i : {0, 0, 1, 1}) {
    world.run_on(i, [&] {
      const std::string token = new_token(world.client(i));
      EXPECT_EQ(token.size(), 32u);
      EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
      halves.insert(token.substr(0, 16));
      halves.insert(token.substr(16));
    });
    world.settle();
  }
  EXPECT_EQ(halves.size(), 8u);
}

TEST(PauseBeforeRetry, OnlyAppliesToRefusalsNotToLostConnections) {
  RecipeWorld world({.clients = 1});
  const auto before = world.now();
  ASSERT_TRUE(world.get(pause_before_retry(world.client(0), Error{Errc::kConnectionLoss}, Wait{})));
  EXPECT_EQ(world.now(), before);
  const auto pausing = world.start(pause_before_retry(world.client(0), Error{Errc::kThrottledOp}, Wait{}));
  world.run_for(milliseconds(40));
  EXPECT_FALSE(pausing->has_value());
  world.run_for(milliseconds(20));
  EXPECT_TRUE(pausing->has_value());
}

TEST(Group, InvalidPathFailsTheStart) {
  RecipeWorld world({.clients = 1});
  const Group group(world.client(0), "no/path");
  EXPECT_EQ(world.get(group.start(), milliseconds(5000)).error(), Errc::kBadArguments);
}

}  // namespace
}  // namespace drover::recipes::testing

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/mutex.h"

#include <gtest/gtest.h>

#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/locks/report";

TEST(Mutex, IsGrantedInTheOrderOfRequests) {
  RecipeWorld world({.clients = 3});
  std::vector<GuardResult> guards;
  for (std::size_t i = 0; i < 3; ++i) {
    guards.push_back(world.start(Mutex(world.client(i), kPath).acquire()));
    ASSERT_TRUE(world.run_until([&] { return world.children(kPath).size() == i + 1; }));
  }
  Zxid last{};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.run_until([&] { return succeeded(guards[i]); }));
    world.run_for(milliseconds(500));
    for (std::size_t later = i + 1; later < 3; ++later) EXPECT_FALSE(has_ended(guards[later]));
    const Guard& guard = **guards[i]->operator->();
    EXPECT_TRUE(guard.is_held());
    EXPECT_GT(guard.fence(), last);
    last = guard.fence();
    ASSERT_TRUE(world.get((*guards[i])->value().release()));
  }
  EXPECT_TRUE(world.children(kPath).empty());
}

TEST(Mutex, HasCuratorsNames) {
  RecipeWorld world({.clients = 1});
  const auto guard = world.get(Mutex(world.client(0), kPath, {.data = "me"}).acquire());
  ASSERT_TRUE(guard);
  const std::string name = guard->node().substr(kPath.size() + 1);
  ASSERT_EQ(name.size(), 3 + 36 + 1 + 5 + 10u);
  EXPECT_TRUE(name.starts_with("_c_"));
  EXPECT_TRUE(name.ends_with("-lock-0000000000"));
  EXPECT_EQ(world.data(guard->node()), "me");
  EXPECT_EQ(world.stat(guard->node())->ephemeral_owner, world.client(0).session());
  EXPECT_EQ(world.stat(guard->node())->czxid, guard->fence());
}

TEST(Mutex, CostsOneWriteAndOneReadWhenFree) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(world.client(0).create(kPath, "", {.parents = true})));
  const auto before = world.requests(0);
  auto guard = world.get(Mutex(world.client(0), kPath).acquire());
  ASSERT_TRUE(guard);
  EXPECT_EQ(world.requests(0) - before, 2u);
  ASSERT_TRUE(world.get(guard->release()));
  EXPECT_EQ(world.requests(0) - before, 3u);
}

TEST(Mutex, ReleaseTaskThatIsNeverRunReleasesTheLock) {
  RecipeWorld world({.clients = 1});
  auto guard = world.get(Mutex(world.client(0), kPath).acquire());
  ASSERT_TRUE(guard);
  {
    const auto dropped = guard->release();
    EXPECT_FALSE(*guard);
  }
  world.run_for(milliseconds(300));
  EXPECT_TRUE(world.children(kPath).empty());

  guard = world.get(Mutex(world.client(0), kPath).acquire());
  ASSERT_TRUE(guard);
  world.run_on(0, [&] { EXPECT_EQ(sync_wait(guard->release()).error(), Errc::kWouldBlock); });
  world.run_for(milliseconds(300));
  EXPECT_TRUE(world.children(kPath).empty());
}

TEST(Mutex, ReleaseWakesOneOfManyWaiters) {
  constexpr std::size_t kWaiting = 200;
  RecipeWorld world({.clients = 4});
  std::vector<GuardResult> guards;
  for (std::size_t i = 0; i < kWaiting; ++i) {
    guards.push_back(world.start(Mutex(world.client(i % 4), kPath).acquire()));
    ASSERT_TRUE(world.run_until([&] { return world.children(kPath).size() == i + 1; }));
  }
  world.run_for(milliseconds(500));
  for (std::size_t i = 0; i < kWaiting; ++i) {
    const auto before = world.watch_events();
    ASSERT_TRUE(succeeded(guards[i])) << i;
    guards[i]->reset();  // ~Guard
    world.run_for(milliseconds(100));
    EXPECT_EQ(world.watch_events() - before, i + 1 < kWaiting ? 1u : 0u);
  }
  EXPECT_EQ(world.watches(), 0u);
  EXPECT_TRUE(world.children(kPath).empty());
}

TEST(Mutex, PollDoesNotWaitAndLeavesNothing) {
  RecipeWorld world({.clients = 2});
  auto guard = world.get(Mutex(world.client(0), kPath).acquire(Wait::poll()));
  ASSERT_TRUE(guard);
  const auto before = world.now();
  const auto refused = world.get(Mutex(world.client(1), kPath).acquire(Wait::poll()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::kDeadline);
  EXPECT_LT(world.now() - before, milliseconds(500));
  world.run_for(milliseconds(200));
  EXPECT_EQ(world.children(kPath).size(), 1u);
}

TEST(Mutex, DeadlineCoversTheWholeCall) {
  RecipeWorld world({.clients = 2});
  auto guard = world.get(Mutex(world.client(0), kPath).acquire());
  ASSERT_TRUE(guard);
  const auto before = world.now();
  const auto waiting = world.start(Mutex(world.client(1), kPath).acquire(Wait::within(milliseconds(3000))));
  for (int i = 0; i < 5; ++i) {
    world.run_for(milliseconds(400));
    world.disconnect(1);  // Each disconnect wakes it.
  }
  ASSERT_TRUE(world.run_until([&] { return has_ended(waiting); }));
  EXPECT_EQ(code_of(waiting), Errc::kDeadline);
  EXPECT_EQ((world.now() - before).count(), 3000);
  world.run_for(milliseconds(1000));
  EXPECT_EQ(world.children(kPath).size(), 1u);
}

TEST(Mutex, WaiterThatGivesUpIsSkipped) {
  RecipeWorld world({.clients = 3});
  auto holder = world.get(Mutex(world.client(0), kPath).acquire());
  std::stop_source stop;
  const auto middle = world.start(Mutex(world.client(1), kPath).acquire(Wait::forever(stop.get_token())));
  ASSERT_TRUE(world.run_until([&] { return world.children(kPath).size() == 2; }));
  const auto last = world.start(Mutex(world.client(2), kPath).acquire());
  world.run_for(milliseconds(500));
  stop.request_stop();
  world.run_for(milliseconds(500));
  EXPECT_EQ(code_of(middle), Errc::kStopped);
  EXPECT_FALSE(has_ended(last)) << "its deletion is not a grant";
  ASSERT_TRUE(world.get(holder->release()));
  EXPECT_TRUE(world.run_until([&] { return succeeded(last); }));
}

TEST(Mutex, LockIsLostBeforeAnotherClientGetsIt) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(0), kPath).acquire());
  ASSERT_TRUE(held);
  const auto next = world.start(Mutex(world.client(1), kPath).acquire());
  world.run_for(milliseconds(500));
  world.cut(0);
  ASSERT_TRUE(world.run_until([&] { return held->suspect().stop_requested(); }, milliseconds(4000)));
  EXPECT_FALSE(held->lost().stop_requested());
  ASSERT_TRUE(world.run_until([&] { return held->lost().stop_requested(); }, milliseconds(6000)));
  EXPECT_FALSE(has_ended(next));
  EXPECT_FALSE(held->is_held());
  EXPECT_EQ(held->valid_until(), Clock::time_point::min());
  ASSERT_TRUE(world.run_until([&] { return succeeded(next); }, milliseconds(10'000)));
  world.heal(0);
  world.run_for(milliseconds(3000));
  const auto released = world.get(held->release());
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error(), Errc::kLockLost);
  EXPECT_EQ(world.children(kPath).size(), 1u) << "it must not release another's";
}

TEST(Mutex, SuspectEndsWithTheReconnect) {
  RecipeWorld world({.clients = 1});
  auto held = world.get(Mutex(world.client(0), kPath).acquire());
  const std::stop_token suspect = held->suspect();
  world.disconnect(0);
  world.run_for(milliseconds(3000));
  EXPECT_TRUE(suspect.stop_requested());
  EXPECT_FALSE(held->suspect().stop_requested());
  EXPECT_FALSE(held->lost().stop_requested());
  EXPECT_TRUE(held->is_held());
}

TEST(Mutex, ExpiredWaiterQueuesAgainAtOnce) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(0), kPath).acquire());
  const auto next = world.start(Mutex(world.client(1), kPath).acquire());
  world.run_for(milliseconds(500));
  const SessionId old = world.client(1).session();
  world.kill_session(1);
  ASSERT_TRUE(
      world.run_until([&] { return world.client(1).session() != old && world.children(kPath).size() == 2; },
                      milliseconds(5000)));
  EXPECT_FALSE(has_ended(next));
  ASSERT_TRUE(world.get(held->release()));
  ASSERT_TRUE(world.run_until([&] { return succeeded(next); }));
  EXPECT_EQ((*next)->value().session(), world.client(1).session());
}

TEST(Mutex, BoundClientDoesNotQueueInAnotherSession) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(0), kPath).acquire());
  const auto next = world.start(Mutex(world.client(1).bound(), kPath).acquire());
  world.run_for(milliseconds(500));
  world.kill_session(1);
  ASSERT_TRUE(world.run_until([&] { return has_ended(next); }, milliseconds(5000)));
  EXPECT_EQ(code_of(next), Errc::kSessionExpired);
}

TEST(Mutex, FailsOnAClosedClient) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(0), kPath).acquire());
  const auto waiting = world.start(Mutex(world.client(1), kPath).acquire());
  world.run_for(milliseconds(500));
  ASSERT_TRUE(world.get(world.client(1).close()));
  world.run_for(milliseconds(100));
  EXPECT_EQ(code_of(waiting), Errc::kClosed);
  const auto late = world.get(Mutex(world.client(1), kPath).acquire());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::kClosed);
}

TEST(Mutex, FencedWriteFailsIfTheLockIsLost) {
  RecipeWorld world({.clients = 2});
  ASSERT_TRUE(world.get(world.client(1).create("/report", "old")));
  auto held = world.get(Mutex(world.client(0), kPath).acquire());
  ASSERT_TRUE(held);
  const auto write = [&](const std::string& data) {
    std::vector<Op> ops;
    ops.push_back(held->check_op());
    ops.push_back(Op::set("/report", data));
    return world.get(world.client(1).multi(std::move(ops)));
  };
  EXPECT_TRUE(write("new"));
  ASSERT_TRUE(world.get(world.client(1).remove(held->node())));
  const auto refused = write("newer");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::kNoNode);
  EXPECT_EQ(world.data("/report"), "new");
}

TEST(Mutex, RefusesADirectoryOfAnotherLibrary) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(world.client(0).create(kPath + "/0123456789abcdef0123456789abcdef__lock__", "",
                                               {.mode = CreateMode::kEphemeralSequential, .parents = true})));
  const auto refused = world.get(Mutex(world.client(0), kPath).acquire());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::kLayoutMismatch);
  EXPECT_EQ(refused.error().path, kPath);
  world.run_for(milliseconds(200));
  EXPECT_EQ(world.children(kPath).size(), 1u);
}

TEST(Mutex, WorksInANamespace) {
  RecipeWorld world({.clients = 1});
  auto guard = world.get(Mutex(world.client(0).with_namespace("/app"), kPath).acquire());
  ASSERT_TRUE(guard);
  EXPECT_EQ(world.children("/app" + kPath).size(), 1u);
  ASSERT_TRUE(world.get(guard->release()));
  EXPECT_TRUE(world.children("/app" + kPath).empty());
}

TEST(Mutex, ParticipantsAreInOrder) {
  RecipeWorld world({.clients = 2});
  const Mutex mutex(world.client(0), kPath);
  EXPECT_TRUE(world.get(mutex.participants())->empty());
  auto first = world.get(mutex.acquire());
  const auto second = world.start(Mutex(world.client(1), kPath).acquire());
  world.run_for(milliseconds(500));
  const auto line = world.get(mutex.participants());
  ASSERT_EQ(line->size(), 2u);
  EXPECT_EQ(line->front(), first->node());
}

// --- revocation ---

TEST(Mutex, RevokedHolderIsAskedAndReleasesTheLock) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(0), kPath, {.revocable = true}).acquire());
  ASSERT_TRUE(held);
  world.run_for(milliseconds(200));
  EXPECT_FALSE(held->revoked().stop_requested());
  const auto revoking = world.start(Mutex(world.client(1), kPath).revoke(held->node()));
  ASSERT_TRUE(world.run_until([&] { return held->revoked().stop_requested(); }, milliseconds(1000)));
  EXPECT_EQ(world.data(held->node()), "__REVOKE__");
  EXPECT_FALSE(has_ended(revoking));
  EXPECT_FALSE(held->lost().stop_requested());
  ASSERT_TRUE(world.get(held->release()));
  EXPECT_TRUE(world.run_until([&] { return succeeded(revoking); }, milliseconds(1000)));
}

TEST(Mutex, HolderThatDoesNotAnswerLosesTheLock) {
  RecipeWorld world({.clients = 2});
  auto held = world.get(Mutex(world.client(0), kPath, {.revocable = true}).acquire());
  ASSERT_TRUE(held);
  world.run_for(milliseconds(200));
  world.disconnect(0);  // The watch on its own node survives this.
  ASSERT_TRUE(world.get(Mutex(world.client(1), kPath).revoke(held->node(), milliseconds(2000))));
  EXPECT_TRUE(world.run_until([&] { return held->lost().stop_requested(); }, milliseconds(2000)));
  EXPECT_TRUE(held->revoked().stop_requested());
  EXPECT_FALSE(held->is_held());
}

// --- every fault at every message ---

TEST(Mutex, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 3}, [](RecipeWorld& world, const Fault& fault) {
    lock_story(world, fault, kPath, [](Client client) { return Mutex(std::move(client), kPath).acquire(); });
  });
}

TEST(Mutex, RevocableMutexSurvivesEveryFault) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    lock_story(world, fault, kPath,
               [](Client client) { return Mutex(std::move(client), kPath, {.revocable = true}).acquire(); });
  });
}

TEST(Mutex, LeavesNothingBehindHoweverTheCallEnds) {
  with_every_ending<Guard>(
      {.clients = 1},
      [](RecipeWorld& world, Wait wait) { return Mutex(world.client(0), kPath).acquire(wait); },
      [](RecipeWorld& world) { EXPECT_TRUE(world.children(kPath).empty()); });
}

TEST(Mutex, LeavesNothingBehindHoweverTheWaitEnds) {
  GuardResult held;
  with_every_ending<Guard>(
      {.clients = 2},
      [&](RecipeWorld& world, Wait wait) {
        held = world.start(Mutex(world.client(1), kPath).acquire());
        world.run_until([&] { return succeeded(held); });
        return Mutex(world.client(0), kPath).acquire(wait);
      },
      [&](RecipeWorld& world) {
        EXPECT_EQ(world.children(kPath).size(), 1u);
        held.reset();
      });
}

}  // namespace
}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// Locks and elections of clients that have no next session: bound clients, and clients with
// Options::reopen = false. They end with kSessionExpired and do not retry forever.
#include <gtest/gtest.h>

#include "drover/recipes/leader_info_election.h"
#include "drover/recipes/leader_latch.h"
#include "drover/recipes/leader_observer.h"
#include "drover/recipes/leader_selector.h"
#include "drover/recipes/multi_lock.h"
#include "drover/recipes/mutex.h"
#include "drover/recipes/semaphore.h"
#include "drover/recipes/simple_lock.h"
#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

enum class Why { kBound, kNotReopened };

class LastSession : public ::testing::TestWithParam<Why> {
 protected:
  // Client 0 is tested; client 1 plays the others.
  Client mine() { return GetParam() == Why::kBound ? bound : world.client(0); }
  void end_session() {
    world.kill_session(0);
    EXPECT_TRUE(world.run_until([&] { return !world.has_session(bound.bound_session()); }));
    world.run_for(milliseconds(10'000));
  }
  template <class T>
  Errc soon(Task<Result<T>> task) {
    const auto result = world.start(std::move(task));
    world.run_for(milliseconds(100));
    return has_ended(result) ? code_of(result) : Errc::kOperationTimeout;
  }

  RecipeWorld world{{.clients = 2, .reopen = GetParam() == Why::kBound}};
  Client bound = world.client(0).bound();
};

TEST_P(LastSession, WaitsForLocksEndWithIt) {
  auto mutex = world.get(Mutex(world.client(1), "/mutex").acquire());
  auto lease = world.get(Semaphore(world.client(1), "/semaphore", 1).acquire());
  auto seat = world.get(SimpleLock(world.client(1), "/seat").acquire());
  const auto first = world.start(Mutex(mine(), "/mutex").acquire());
  const auto second = world.start(Semaphore(mine(), "/semaphore", 1).acquire());
  const auto third = world.start(SimpleLock(mine(), "/seat").acquire());
  const auto fourth = world.start(MultiLock(mine(), {"/a", "/mutex"}).acquire());
  world.run_for(milliseconds(500));
  end_session();
  EXPECT_EQ(code_of(first), Errc::kSessionExpired);
  EXPECT_EQ(code_of(second), Errc::kSessionExpired);
  EXPECT_EQ(code_of(third), Errc::kSessionExpired);
  EXPECT_EQ(code_of(fourth), Errc::kSessionExpired);
}

TEST_P(LastSession, LocksAreRefusedAfterIt) {
  end_session();
  EXPECT_EQ(soon(Mutex(mine(), "/mutex").acquire()), Errc::kSessionExpired);
  EXPECT_EQ(soon(Semaphore(mine(), "/semaphore", 1).acquire()), Errc::kSessionExpired);
  EXPECT_EQ(soon(SimpleLock(mine(), "/seat").acquire()), Errc::kSessionExpired);
  EXPECT_EQ(soon(MultiLock(mine(), {"/a", "/b"}).acquire()), Errc::kSessionExpired);
}

TEST_P(LastSession, ElectionsEndWithIt) {
  const LeaderLatch latch(mine(), "/latch", "me");
  const LeaderInfoElection election(mine(), "/info", "me");
  const LeaderSelector selector(mine(), "/selector", "me",
                                [](Leadership) -> Task<Result<void>> { co_return Result<void>{}; });
  const auto term = world.get(latch.await());
  ASSERT_TRUE(term);
  ASSERT_TRUE(world.get(election.await()));
  end_session();
  EXPECT_TRUE(term->lost.stop_requested());
  EXPECT_EQ(soon(latch.await()), Errc::kSessionExpired);
  EXPECT_EQ(soon(election.await()), Errc::kSessionExpired);
  EXPECT_EQ(soon(selector.ended()), Errc::kSessionExpired);
}

TEST_P(LastSession, ObserversEndWithIt) {
  const LeaderObserver observer(mine(), "/latch");
  Stream<std::optional<Leader>> changes = observer.changes();
  ASSERT_TRUE(world.get(changes.next()));
  end_session();
  EXPECT_EQ(soon(changes.next()), Errc::kEndOfStream);
}

INSTANTIATE_TEST_SUITE_P(All, LastSession, ::testing::Values(Why::kBound, Why::kNotReopened),
                         [](const auto& param_info) {
                           return param_info.param == Why::kBound ? "Bound" : "NotReopened";
                         });

}  // namespace
}  // namespace drover::recipes

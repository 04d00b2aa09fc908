// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_selector.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "drover/recipes/mutex.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/services/indexer/turns";

// Works for a while or until it is stopped; counts how many work at the same time.
struct Office {
  int working = 0;
  int most = 0;
  std::vector<std::size_t> order;
  std::vector<Zxid> fences;
};

Task<Result<void>> work_for(std::shared_ptr<Office> office, Scheduler scheduler, std::size_t who,
                            Leadership term, milliseconds time) {
  office->order.push_back(who);
  office->fences.push_back(term.fence);
  office->most = std::max(office->most, ++office->working);
  auto sleeping = scheduler.sleep(Wait::within(time, term.lost));
  const Result<void> slept = co_await std::move(sleeping);
  --office->working;
  co_return slept;
}

class Selectors {
 public:
  Selectors(RecipeWorld& world, std::size_t count, milliseconds time, LeaderSelectorOptions options = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      const Scheduler scheduler = world.client(i).scheduler();
      all.push_back(std::make_unique<LeaderSelector>(
          world.client(i), kPath, "host-" + std::to_string(i),
          [office = shared_, scheduler, i, time](Leadership term) {
            return work_for(office, scheduler, i, std::move(term), time);
          },
          options));
      world.run_for(milliseconds(150));
    }
  }

 private:
  // Work in progress ends after its selector is destroyed.
  const std::shared_ptr<Office> shared_ = std::make_shared<Office>();

 public:
  Office& office = *shared_;
  std::vector<std::unique_ptr<LeaderSelector>> all;
};

TEST(LeaderSelector, LeadershipRotates) {
  RecipeWorld world({.clients = 3});
  Selectors selectors(world, 3, milliseconds(500));
  ASSERT_TRUE(world.run_until([&] { return selectors.office.order.size() >= 9; }));
  EXPECT_EQ(selectors.office.most, 1);
  const std::vector<std::size_t> first(selectors.office.order.begin(), selectors.office.order.begin() + 9);
  EXPECT_EQ(first, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_TRUE(std::is_sorted(selectors.office.fences.begin(), selectors.office.fences.end()));
  selectors.all.clear();
  world.run_for(milliseconds(1000));
  EXPECT_TRUE(world.children(kPath).empty());
  EXPECT_EQ(selectors.office.working, 0);
}

TEST(LeaderSelector, WithoutRequeueItLeadsOnce) {
  RecipeWorld world({.clients = 1});
  Selectors selectors(world, 1, milliseconds(500), {.requeue = false});
  EXPECT_TRUE(world.get(selectors.all[0]->ended()));
  EXPECT_EQ(selectors.all[0]->terms(), 1u);
  EXPECT_TRUE(world.children(kPath).empty());
}

TEST(LeaderSelector, InterruptStopsOnlyTheRunningTerm) {
  RecipeWorld world({.clients = 2});
  Selectors selectors(world, 2, milliseconds(60'000));
  ASSERT_TRUE(selectors.all[0]->is_leader());
  selectors.all[1]->interrupt();  // It does not lead, so nothing is interrupted.
  selectors.all[0]->interrupt();
  ASSERT_TRUE(world.run_until([&] { return selectors.all[1]->is_leader(); }, milliseconds(1000)));
  EXPECT_EQ(selectors.all[0]->last_error()->code, Errc::kStopped);
  world.run_for(milliseconds(2000));
  EXPECT_TRUE(selectors.all[1]->is_leader());
  selectors.all[1]->interrupt();
  ASSERT_TRUE(world.run_until([&] { return selectors.all[0]->is_leader(); }, milliseconds(1000)));
  EXPECT_EQ(selectors.all[0]->terms(), 2u) << "it stood again";
}

TEST(LeaderSelector, ExceptionOfTheTaskIsRecordedAndTheTaskRunsAgain) {
  RecipeWorld world({.clients = 1});
  int calls = 0;
  LeaderSelector selector(world.client(0), kPath, "me", [&](Leadership) -> Task<Result<void>> {
    ++calls;
    throw std::runtime_error("no such table");
  });
  ASSERT_TRUE(world.run_until([&] { return calls >= 3; }, milliseconds(3000)));
  EXPECT_EQ(selector.last_error()->detail, "no such table");
  EXPECT_TRUE(world.get(selector.close()));
  EXPECT_TRUE(world.children(kPath).empty());
}

TEST(LeaderSelector, LostConnectionStopsTheTerm) {
  RecipeWorld world({.clients = 2});
  Selectors selectors(world, 2, milliseconds(60'000));
  world.disconnect(0);
  ASSERT_TRUE(world.run_until([&] { return selectors.all[1]->is_leader(); }, milliseconds(5000)));
  EXPECT_EQ(selectors.office.most, 1);
}

TEST(LeaderSelector, WithOnExpiryALostConnectionDoesNotStopTheTerm) {
  RecipeWorld world({.clients = 2});
  Selectors selectors(world, 2, milliseconds(60'000), {.loss = LossPolicy::kOnExpiry});
  world.disconnect(0);
  world.run_for(milliseconds(5000));
  EXPECT_TRUE(selectors.all[0]->is_leader());
}

TEST(LeaderSelector, LostSessionStopsTheTermAndItQueuesAgain) {
  RecipeWorld world({.clients = 2});
  Selectors selectors(world, 2, milliseconds(60'000));
  world.kill_session(0);
  ASSERT_TRUE(world.run_until([&] { return selectors.all[1]->is_leader(); }, milliseconds(5000)));
  ASSERT_TRUE(world.run_until([&] { return !selectors.all[0]->is_leader(); }, milliseconds(5000)));
  selectors.all[1].reset();
  EXPECT_TRUE(world.run_until([&] { return selectors.all[0]->is_leader(); }, milliseconds(5000)));
}

TEST(LeaderSelector, OtherClientsSeeAMutex) {
  RecipeWorld world({.clients = 2});
  Selectors selectors(world, 1, milliseconds(60'000));
  EXPECT_FALSE(world.get(Mutex(world.client(1), kPath).acquire(Wait::poll())));
  EXPECT_TRUE(world.get(selectors.all[0]->close()));
  EXPECT_TRUE(world.get(Mutex(world.client(1), kPath).acquire(Wait::poll())));
}

TEST(LeaderSelector, PermanentErrorEndsItWithAReason) {
  RecipeWorld world({.clients = 1});
  Selectors selectors(world, 1, milliseconds(60'000));
  ASSERT_TRUE(world.get(world.client(0).close()));
  EXPECT_EQ(world.get(selectors.all[0]->ended()).error(), Errc::kClosed);
}

TEST(LeaderSelector, SurvivesEveryFaultAtEveryMessage) {
  const auto scenario = [](RecipeWorld& world, const Fault& fault) {
    Selectors selectors(world, 2, milliseconds(300));
    world.run_for(milliseconds(16'000));
    EXPECT_TRUE(fault.kills || selectors.office.most == 1);
    const auto turns = selectors.all[0]->terms();
    world.run_for(milliseconds(3000));
    EXPECT_GT(selectors.all[0]->terms(), turns) << "it stands again and again";
    selectors.all.clear();
    world.run_for(milliseconds(15'000));
    EXPECT_TRUE(world.children(kPath).empty());
  };
  with_every_fault({.clients = 2}, scenario, 16);
}

TEST(LeaderSelector, DestroyedAtAnyMessageItLeavesNothing) {
  for (int nth = 1; nth < 20; ++nth) {
    SCOPED_TRACE(nth);
    RecipeWorld world({.clients = 1});
    const auto office = std::make_shared<Office>();
    std::unique_ptr<LeaderSelector> selector;
    world.at_request(0, "", nth, [&] { selector.reset(); });
    const Scheduler scheduler = world.client(0).scheduler();
    selector = std::make_unique<LeaderSelector>(world.client(0), kPath, "me", [&](Leadership term) {
      return work_for(office, scheduler, 0, std::move(term), milliseconds(100));
    });
    world.run_for(milliseconds(3000));
    selector.reset();
    world.run_for(milliseconds(1000));
    EXPECT_TRUE(world.children(kPath).empty());
    EXPECT_EQ(office->working, 0);
  }
}

}  // namespace
}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "recipes/queues/queue_names.h"
#include "recipes/step_testing.h"

namespace drover::recipes {
namespace {

using testing::RecipeWorld;
using testing::Time;
using testing::Trial;
using Taken = std::shared_ptr<std::optional<Result<QueueItem>>>;
using Names = std::vector<std::string>;

const std::string kPath = "/work/jobs";

bool has(const Taken& taken) { return taken->has_value() && (*taken)->has_value(); }

// Takes and acknowledges all items.
Names drain(RecipeWorld& world, const Queue& queue) {
  Names values;
  for (;;) {
    auto item = world.get(queue.take(Wait::poll()));
    if (!item) return values;
    values.push_back(item->data());
    EXPECT_TRUE(world.get(item->done()));
  }
}

class QueueLayouts : public ::testing::TestWithParam<QueueLayout> {};

TEST_P(QueueLayouts, DeliverInOrder) {
  RecipeWorld world({.servers = 3, .clients = 2});
  const Queue queue(world.client(0), kPath, {.layout = GetParam()});
  const Queue other(world.client(1), kPath, {.layout = GetParam()});
  Names all;
  for (int i = 0; i < 12; ++i) {
    all.push_back(std::to_string(i));
    ASSERT_TRUE(world.get((i % 2 == 0 ? queue : other).put(all.back())));
  }
  world.run_for(Time(1000));  // Until every server has them.
  EXPECT_EQ(world.get(queue.size()), 12);
  EXPECT_EQ(drain(world, queue), all);
  EXPECT_EQ(world.get(queue.size()), 0);
}

TEST_P(QueueLayouts, DeliverEveryItemOnceThroughEveryFault) {
  testing::for_every_step(testing::kAllFaults, {.clients = 2}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    const QueueOptions options{.layout = GetParam(), .exact_put = true};
    const Queue mine(world.client(0), kPath, options);
    const Queue other(world.client(1), kPath, options);
    const auto put = trial.run(mine.put("first", trial.wait()));
    ASSERT_TRUE(world.get(other.put("second")));

    // A finished item must not be delivered again; all others must be.
    Names finished;
    Names uncertain;
    auto item = trial.run(mine.take(trial.wait()));
    if (item) {
      const std::string value = item->data();
      const auto done = trial.run(item->done(trial.wait()));
      if (done) finished.push_back(value);
      if (!done && (done.error().maybe_applied() || trial.is_given_up())) uncertain.push_back(value);
      EXPECT_TRUE(done || trial.is_given_up() || trial.has_lost_session());
    }
    item = fail(Errc::kClosed);
    trial.calm_down();
    const Names rest = drain(world, other);
    EXPECT_TRUE(put || trial.is_given_up() || trial.has_lost_session());
    if (!put) uncertain.push_back("first");
    finished.insert(finished.end(), rest.begin(), rest.end());
    if (!uncertain.empty() && std::ranges::find(finished, uncertain[0]) == finished.end()) {
      finished.insert(finished.begin(), uncertain[0]);
    }
    if (!put) std::ranges::sort(finished);  // A cancelled put may be applied later.
    EXPECT_EQ(finished, (Names{"first", "second"}));
    world.run_for(Time(1000));
    for (const char* directory : {"", ".claims", ".turns", ".done", ".dead"}) {
      EXPECT_EQ(world.descendants(kPath + directory), 0u) << directory;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, QueueLayouts,
                         ::testing::Values(QueueLayout::kCurator, QueueLayout::kSimple,
                                           QueueLayout::kNative));

TEST(Queue, HasCuratorsNodes) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(Queue(world.client(0), "/a").put("hello")));
  EXPECT_EQ(world.children("/a"), Names{"queue-0000000000"});
  EXPECT_EQ(world.data("/a/queue-0000000000"), frame_values({"hello"}));
  ASSERT_TRUE(world.get(Queue(world.client(0), "/b", {.layout = QueueLayout::kSimple}).put("hello")));
  EXPECT_EQ(world.children("/b"), Names{"qn-0000000000"});
  EXPECT_EQ(world.data("/b/qn-0000000000"), "hello");
  ASSERT_TRUE(world.get(Queue(world.client(0), "/a").put_all({"x", "y"})));
  EXPECT_EQ(drain(world, Queue(world.client(0), "/a")), (Names{"hello", "x"}));
}

TEST(Queue, PutWithALostReplyIsMaybeApplied) {
  RecipeWorld world({.clients = 1});
  const Queue queue(world.client(0), kPath);
  ASSERT_TRUE(world.get(queue.put("a")));
  world.lose_reply(0, "create");
  const auto put = world.get(queue.put("b"));
  ASSERT_FALSE(put);
  EXPECT_TRUE(put.error().maybe_applied());
  EXPECT_EQ(drain(world, queue), (Names{"a", "b"}));
}

TEST(Queue, DeliversALostItemToAnotherTaker) {
  RecipeWorld world({.clients = 2});
  const Queue mine(world.client(0), kPath);
  const Queue other(world.client(1), kPath);
  ASSERT_TRUE(world.get(mine.put("job")));
  auto item = world.get(mine.take());
  ASSERT_TRUE(item);
  EXPECT_EQ(item->data(), "job");
  const Taken again = world.start(other.take());
  world.run_for(Time(5000));
  EXPECT_FALSE(again->has_value());
  const Zxid fence = item->fence();
  world.kill_session(0);
  ASSERT_TRUE(world.run_until([&] { return has(again); }));
  ASSERT_TRUE(world.run_until([&] { return item->lost().stop_requested(); }));
  EXPECT_EQ((**again)->data(), "job");
  EXPECT_LT(fence, (**again)->fence());
  EXPECT_EQ(world.get(item->done()).error(), Errc::kLockLost);
  EXPECT_EQ(world.get(item->done()).error(), Errc::kNotOwner);
  EXPECT_TRUE(world.get((**again)->done()));
  EXPECT_EQ(world.descendants(kPath), 0u);
}

TEST(Queue, CheckOpFailsForATakerThatLostTheItemToAnother) {
  RecipeWorld world({.clients = 3});
  const Queue mine(world.client(0), kPath);
  ASSERT_TRUE(world.get(mine.put("job")));
  ASSERT_TRUE(world.get(world.client(2).create("/report")));
  auto item = world.get(mine.take());
  ASSERT_TRUE(item);
  const Op check = item->check_op();
  // A third client writes for both takers, as a storage service does.
  const auto write = [&](const Op& guard) {
    return world.get(world.client(2).multi({guard, Op::set("/report", "x")}));
  };
  EXPECT_TRUE(write(check));
  world.kill_session(0);
  auto next = world.get(Queue(world.client(1), kPath).take());
  ASSERT_TRUE(next);
  EXPECT_EQ(write(check).error(), Errc::kNoNode);
  EXPECT_TRUE(write(next->check_op()));
  EXPECT_TRUE(world.get(next->done()));
  EXPECT_EQ(write(next->check_op()).error(), Errc::kNoNode);
}

TEST(Queue, ContinuesAcrossTheSequenceWrap) {
  RecipeWorld world({.clients = 1});
  const Queue queue(world.client(0), kPath, {.layout = QueueLayout::kSimple});
  ASSERT_TRUE(world.get(world.client(0).create(kPath, "", {.parents = true})));
  const Names names{"qn-2147483646", "qn-2147483647", "qn--2147483648", "qn--2147483647"};
  for (const std::string& name : names)
    ASSERT_TRUE(world.get(world.client(0).create(kPath + "/" + name, name)));
  EXPECT_EQ(drain(world, queue), names);
}

TEST(Queue, DestroyedItemReturnsToTheQueue) {
  RecipeWorld world({.clients = 2});
  const Queue queue(world.client(0), kPath);
  ASSERT_TRUE(world.get(queue.put("1")));
  ASSERT_TRUE(world.get(queue.put("2")));
  {
    const auto forgotten = world.get(queue.take());
    ASSERT_TRUE(forgotten);
    auto second = world.get(Queue(world.client(1), kPath).take());
    ASSERT_TRUE(second);
    EXPECT_EQ(second->data(), "2");
    EXPECT_TRUE(world.get(second->give_back()));
    EXPECT_FALSE(second->data().empty());
  }
  world.run_for(Time(100));
  EXPECT_EQ(world.descendants(kPath + ".claims"), 0u);
  EXPECT_EQ(drain(world, queue), (Names{"1", "2"}));
}

TEST(Queue, ReleaseDoesNotRemoveTheNextTakersClaim) {
  // The item is given back, the reply is lost, and another client claims it before the retry.
  RecipeWorld world({.clients = 2});
  const Queue mine(world.client(0), kPath);
  ASSERT_TRUE(world.get(mine.put("job")));
  auto item = world.get(mine.take());
  ASSERT_TRUE(item);
  const std::string claim = kPath + ".claims/" + item->name();
  world.lose_reply(0, "multi");
  const auto back = world.start(item->give_back());
  ASSERT_TRUE(world.run_until([&] { return !world.exists(claim); }));
  auto other = world.get(Queue(world.client(1), kPath).take());
  ASSERT_TRUE(other);
  ASSERT_TRUE(world.run_until([&] { return back->has_value(); }));
  world.run_for(Time(3000));
  EXPECT_TRUE(world.exists(claim));
  EXPECT_TRUE(world.get(other->done()));
}

TEST(Queue, WakesOneOfManyIdleTakers) {
  RecipeWorld world({.clients = 11});
  std::vector<Taken> takers;
  for (std::size_t i = 0; i < 10; ++i) takers.push_back(world.start(Queue(world.client(i), kPath).take()));
  world.run_for(Time(2000));
  const Queue queue(world.client(10), kPath);
  for (std::uint64_t put = 1; put <= 5; ++put) {
    const std::uint64_t before = world.watch_events();
    ASSERT_TRUE(world.get(queue.put("job")));
    world.run_for(Time(1000));
    EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count_if(takers, has)), put);
    // One event for the item and one for its claim go to the first in line, one to the next in line.
    EXPECT_LE(world.watch_events() - before, 3u);
  }
}

TEST(Queue, TakerNoticesARivalThatReleasesBetweenTwoReads) {
  int met = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RecipeWorld world({.seed = seed, .clients = 3});
    const std::string claim = kPath + ".claims/queue-0000000000";
    ASSERT_TRUE(world.get(world.client(1).create(kPath + ".claims", "", {.parents = true})));
    const Taken taken = world.start(Queue(world.client(0), kPath).take());
    world.run_for(Time(1000));
    // The rival claims after the taker has listed the claims, and releases before the next listing.
    world.at_request(0, "children", 2, [&] { drover::start(world.client(1).create(claim)); });
    world.at_request(0, "multi", 1, [&] { drover::start(world.client(1).remove(claim)); });
    ASSERT_TRUE(world.get(Queue(world.client(2), kPath).put("job")));
    world.run_for(Time(5000));
    if (world.has_traps(0)) continue;  // It saw the rival's claim and waits for it.
    EXPECT_TRUE(has(taken)) << "seed " << seed;
    ++met;
  }
  EXPECT_GT(met, 0);
}

TEST(Queue, MissingPermissionToClaimIsReported) {
  for (const int deliveries_max : {0, 3}) {
    RecipeWorld world({.clients = 1});
    const Queue queue(world.client(0), kPath, {.deliveries_max = deliveries_max});
    ASSERT_TRUE(world.get(queue.put("job")));
    ASSERT_TRUE(world.get(world.client(0).create(kPath + ".claims", "", {.acl = read_acl()})));
    EXPECT_EQ(world.get(queue.take()).error(), Errc::kNoAuth);
  }
}

TEST(Queue, PollWithoutAConnectionEnds) {
  RecipeWorld world({.clients = 1});
  const Queue queue(world.client(0), kPath);
  world.cut(0);
  EXPECT_EQ(world.get(queue.take(Wait::poll()), Time(10'000)).error(), Errc::kDeadline);
}

TEST(Queue, ContinuesAfterItsContainerWasRemoved) {
  RecipeWorld world({.clients = 2});
  const Queue queue(world.client(1), kPath);
  ASSERT_TRUE(world.get(queue.put("1")));
  EXPECT_EQ(drain(world, queue), Names{"1"});
  const Taken taken = world.start(Queue(world.client(0), kPath).take());
  world.run_for(Time(500));
  ASSERT_TRUE(world.get(world.client(1).remove(kPath)));
  world.run_for(Time(500));
  ASSERT_TRUE(world.get(queue.put("2")));
  EXPECT_TRUE(world.run_until([&] { return has(taken); }));
}

TEST(Queue, AutomaticAcknowledgementDeliversAtMostOnce) {
  testing::for_every_step(testing::kAllFaults, {.clients = 2}, [](Trial& trial) {
    RecipeWorld& world = trial.world;
    const QueueOptions options{.ack = QueueAck::kAutomatic};
    const Queue other(world.client(1), kPath, options);
    for (const char* value : {"1", "2"}) ASSERT_TRUE(world.get(other.put(value)));
    auto taken = trial.run(Queue(world.client(0), kPath, options).take(trial.wait()));
    Names all;
    if (taken) all.push_back(taken->data());
    if (taken) {
      EXPECT_TRUE(world.get(taken->done()));
    }
    trial.calm_down();
    for (auto item = world.get(other.take(Wait::poll())); item; item = world.get(other.take(Wait::poll()))) {
      all.push_back(item->data());
    }
    // Only an item whose delivery succeeded or is uncertain may be missing.
    const bool excused = !taken && (taken.error().maybe_applied() || trial.is_given_up());
    if (all != Names{"2"} || !excused) {
      EXPECT_EQ(all, (Names{"1", "2"}));
    }
    EXPECT_EQ(world.descendants(kPath + ".claims"), 0u);
  });
}

// Works on items until the queue has been empty for a while. `done` has the finished ones.
Task<Result<void>> work(Queue queue, std::multiset<std::string>* done, std::multiset<std::string>* unsure) {
  for (;;) {
    auto taking = queue.take(Wait::within(Time(20'000)));
    Result<QueueItem> item = co_await std::move(taking);
    if (!item) co_return std::unexpected(item.error());
    auto finishing = item->done();
    const Result<void> finished = co_await std::move(finishing);
    if (finished) done->insert(item->data());
    if (!finished && finished.error().maybe_applied()) unsure->insert(item->data());
  }
}

void do_something_bad(RecipeWorld& world, std::uint64_t what) {
  const std::size_t client = what / 8 % 3;
  switch (what % 8) {
    case 0: return world.kill_session(client);
    case 1: return world.cut_for(client, Time(6000));
    case 2: return world.cut_for(client, Time(1000));
    case 3: return world.restart_leader();
    default: return world.disconnect(client);
  }
}

TEST(Queue, ManyTakersProcessEachItemOnceDespiteFaults) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RecipeWorld world({.seed = seed, .servers = 3, .clients = 4});
    std::multiset<std::string> done;
    std::multiset<std::string> unsure;
    std::vector<std::shared_ptr<std::optional<Result<void>>>> workers;
    for (std::size_t i = 0; i < 3; ++i) {
      const Queue queue(world.client(i), kPath, {.layout = QueueLayout::kNative});
      workers.push_back(world.start(work(queue, &done, &unsure)));
      workers.push_back(world.start(work(queue, &done, &unsure)));
    }
    const Queue queue(world.client(3), kPath, {.layout = QueueLayout::kNative});
    std::uint64_t dice = seed;
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(world.get(queue.put(std::to_string(i))));
      dice = dice * 6364136223846793005u + 1442695040888963407u;
      if (i % 2 == 1) do_something_bad(world, dice >> 33);
      world.run_for(Time(static_cast<int>(dice >> 40) % 300));
    }
    ASSERT_TRUE(world.run_until(
        [&] { return std::ranges::all_of(workers, [](const auto& each) { return each->has_value(); }); },
        Time(200'000)));
    EXPECT_EQ(world.descendants(kPath), 0u) << seed;
    for (int i = 0; i < 20; ++i) {
      const std::string value = std::to_string(i);
      EXPECT_LE(done.count(value), 1u) << value << ", seed " << seed;
      EXPECT_GE(done.count(value) + unsure.count(value), 1u) << value << ", seed " << seed;
    }
  }
}

TEST(Queue, NeverExceedsItemsMax) {
  RecipeWorld world({.servers = 3, .clients = 4});
  const QueueOptions options{.items_max = 3};
  std::vector<std::shared_ptr<std::optional<Result<void>>>> puts;
  for (std::size_t i = 0; i < 12; ++i) {
    puts.push_back(world.start(Queue(world.client(i % 3), kPath, options).put(std::to_string(i))));
  }
  const Queue queue(world.client(3), kPath, options);
  const auto done = [&] {
    return std::ranges::count_if(puts,
                                 [](const auto& put) { return put->has_value() && (*put)->has_value(); });
  };
  std::size_t most = 0;
  for (int taken = 0; taken < 12; ++taken) {
    world.run_until([&] {
      most = std::max(most, world.children(kPath).size());
      return done() == std::min(taken + 3, 12);
    });
    EXPECT_EQ(done(), std::min(taken + 3, 12));
    auto item = world.get(queue.take());
    ASSERT_TRUE(item);
    ASSERT_TRUE(world.get(item->done()));
  }
  EXPECT_EQ(most, 3u);
  EXPECT_EQ(world.get(queue.size()), 0);
}

TEST(Queue, BoundedPutAddsOneItemDespiteFaults) {
  testing::for_every_step(testing::kConnectionFaults, {.clients = 1}, [](Trial& trial) {
    const Queue queue(trial.world.client(0), kPath, {.items_max = 2});
    ASSERT_TRUE(trial.run(queue.put("1")));
    ASSERT_TRUE(trial.run(queue.put("2")));
    EXPECT_EQ(trial.world.children(kPath).size(), 2u);
    EXPECT_EQ(trial.world.get(queue.put("3", Wait::within(Time(500)))).error(), Errc::kDeadline);
    trial.calm_down();
    EXPECT_EQ(drain(trial.world, queue), (Names{"1", "2"}));
    EXPECT_EQ(trial.world.descendants(kPath + ".done"), 0u);
  });
}

TEST(Queue, MovesItemsDeliveredTooOftenToTheDeadLetters) {
  RecipeWorld world({.clients = 1});
  const Queue queue(world.client(0), kPath, {.deliveries_max = 2});
  ASSERT_TRUE(world.get(queue.put("poison")));
  ASSERT_TRUE(world.get(queue.put("good")));
  for (int delivery = 1; delivery <= 2; ++delivery) {
    auto item = world.get(queue.take());
    ASSERT_TRUE(item);
    EXPECT_EQ(item->data(), "poison");
    EXPECT_EQ(item->deliveries(), delivery);
    ASSERT_TRUE(world.get(item->give_back()));
  }
  EXPECT_EQ(drain(world, queue), Names{"good"});
  EXPECT_EQ(world.children(kPath + ".dead").size(), 1u);
}

TEST(Queue, MovesUnreadableItemsToTheDeadLetters) {
  RecipeWorld world({.clients = 1});
  const Queue queue(world.client(0), kPath);
  CreateOptions options;
  options.mode = CreateMode::kPersistentSequential;
  options.parents = true;
  ASSERT_TRUE(world.get(world.client(0).create(kPath + "/queue-", "not framed", options)));
  ASSERT_TRUE(world.get(queue.put("good")));
  EXPECT_EQ(drain(world, queue), Names{"good"});
  const Names dead = world.children(kPath + ".dead");
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(world.data(kPath + ".dead/" + dead[0]), "not framed");
}

TEST(Queue, RefusesADirectoryWithAnotherLayout) {
  RecipeWorld world({.clients = 1});
  ASSERT_TRUE(world.get(Queue(world.client(0), kPath).put("a")));
  const Queue simple(world.client(0), kPath, {.layout = QueueLayout::kSimple});
  EXPECT_EQ(world.get(simple.take(Wait::poll())).error(), Errc::kLayoutMismatch);
}

}  // namespace
}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/partitioner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

const std::vector<std::string> kItems{"a", "b", "c", "d", "e", "f"};

TEST(ShareOf, AssignsEveryItemOnce) {
  const std::vector<std::string> members{"m1", "m2", "m3", "m4"};
  for (const bool hashed : {false, true}) {
    std::vector<std::string> all;
    for (const std::string& member : members) {
      const auto share = share_of(member, members, kItems, hashed);
      all.insert(all.end(), share.begin(), share.end());
    }
    std::ranges::sort(all);
    EXPECT_EQ(all, kItems);
  }
  EXPECT_EQ(share_of("m2", members, kItems, false), (std::vector<std::string>{"b", "f"}));
}

TEST(ShareOf, HashedMovesOnlyTheItemsOfMembersThatLeft) {
  const std::vector<std::string> three{"m1", "m2", "m3"};
  const std::vector<std::string> two{"m1", "m3"};
  std::vector<std::string> items;
  for (int i = 0; i < 100; ++i) items.push_back(std::to_string(i));
  std::ranges::sort(items);
  const auto before = share_of("m1", three, items, true);
  const auto after = share_of("m1", two, items, true);
  EXPECT_TRUE(std::ranges::includes(after, before));
  EXPECT_GT(before.size(), 10u);
}

// Keeps a share as long as it is valid, as a program would, and records the owner of each item.
class Worker {
 public:
  Worker(RecipeWorld& world, std::size_t client, std::multiset<std::string>& owned)
      : world_(world),
        owned_(owned),
        parts_(std::in_place, world.client(client), "/w", "host-" + std::to_string(client), kItems,
               PartitionerOptions{.settle = milliseconds(500)}) {
    start_ = world_.start(parts_->start());
  }
  void step() {
    if (!parts_ || !start_->has_value()) return;
    if (share_ && share_->revoked().stop_requested()) drop();
    if (!share_ && !acquiring_) acquiring_ = world_.start(parts_->acquire());
    if (!acquiring_ || !acquiring_->has_value()) return;
    if ((*acquiring_)->has_value()) {
      share_.emplace(std::move((*acquiring_)->value()));
      for (const std::string& item : share_->items()) owned_.insert(item);
    }
    acquiring_.reset();
  }
  void drop() {
    if (!share_) return;
    for (const std::string& item : share_->items()) owned_.erase(owned_.find(item));
    share_.reset();
  }
  void leave() {
    drop();
    acquiring_.reset();
    parts_.reset();
  }
  std::size_t size() const { return share_ ? share_->items().size() : 0; }
  const Share& share() const { return *share_; }

 private:
  RecipeWorld& world_;
  std::multiset<std::string>& owned_;
  std::optional<Partitioner> parts_;
  std::shared_ptr<std::optional<Result<void>>> start_;
  std::shared_ptr<std::optional<Result<Share>>> acquiring_;
  std::optional<Share> share_;
};

class Workers {
 public:
  explicit Workers(RecipeWorld& world, std::size_t count) : world_(world) {
    for (std::size_t i = 0; i < count; ++i) workers.push_back(std::make_unique<Worker>(world, i, owned));
  }
  // A member that was revoked has released its items; until then no item has two owners.
  void run(int ms) {
    for (int i = 0; i < ms / 20; ++i) {
      for (auto& each : workers) each->step();
      for (const std::string& item : kItems) EXPECT_LE(owned.count(item), 1u) << item;
      world_.run_for(milliseconds(20));
    }
  }
  std::multiset<std::string> owned;
  std::vector<std::unique_ptr<Worker>> workers;

 private:
  RecipeWorld& world_;
};

const std::multiset<std::string> kAll(kItems.begin(), kItems.end());

TEST(Partitioner, SharesCoverAllItems) {
  RecipeWorld world({.servers = 3, .clients = 3});
  Workers all(world, 3);
  all.run(8000);
  EXPECT_EQ(all.owned, kAll);
  for (const auto& each : all.workers) EXPECT_EQ(each->size(), 2u);
  const Share& share = all.workers[0]->share();
  EXPECT_TRUE(world.get(world.client(0).multi({share.check_op(share.items()[0])})));
}

TEST(Partitioner, SharesFollowTheMembership) {
  RecipeWorld world({.clients = 3});
  Workers all(world, 2);
  all.run(6000);
  EXPECT_EQ(all.workers[0]->size(), 3u);
  all.workers.push_back(std::make_unique<Worker>(world, 2, all.owned));
  all.run(10'000);
  for (const auto& each : all.workers) EXPECT_EQ(each->size(), 2u);
  all.workers[1]->leave();
  all.run(10'000);
  EXPECT_EQ(all.workers[0]->size(), 3u);
  EXPECT_EQ(all.owned, kAll);
  for (const auto& each : all.workers) each->leave();
  world.run_for(milliseconds(3000));
  EXPECT_EQ(world.descendants("/w/party"), 0u);
  for (const std::string& item : kItems) EXPECT_EQ(world.descendants("/w/locks/" + item), 0u);
}

TEST(Partitioner, ItemsAreAssignedAgainAfterEveryFault) {
  with_every_client_fault(3, [](RecipeWorld& world, const ClientFault& fault) {
    Workers all(world, 3);
    all.run(6000);
    EXPECT_EQ(all.owned, kAll);
    fault.strike(world);
    all.run(1000);
    fault.heal(world);
    all.run(25'000);
    EXPECT_EQ(all.owned, kAll);
    for (const auto& each : all.workers) EXPECT_EQ(each->size(), 2u);
  });
}

TEST(Partitioner, DisconnectedMemberLosesItsShareToTheOthers) {
  RecipeWorld world({.clients = 2});
  Workers all(world, 2);
  all.run(6000);
  world.cut(0);
  all.run(20'000);
  EXPECT_EQ(all.workers[0]->size(), 0u);
  EXPECT_EQ(all.workers[1]->size(), 6u);
}

TEST(Partitioner, MemberWithDifferentItemsIsRefused) {
  RecipeWorld world({.clients = 2});
  const PartitionerOptions quick{.settle = milliseconds(100)};
  Partitioner one(world.client(0), "/w", "one", {"a", "b"}, quick);
  Partitioner two(world.client(1), "/w", "two", {"a", "c"}, quick);
  ASSERT_TRUE(world.get(one.start()));
  ASSERT_TRUE(world.get(two.start()));
  EXPECT_EQ(world.get(one.acquire()).error(), Errc::kLayoutMismatch);
}

TEST(Partitioner, DeadlineOrStopEndsTheWait) {
  RecipeWorld world({.clients = 2});
  Partitioner one(world.client(0), "/w", "one", kItems);
  EXPECT_EQ(world.get(one.acquire()).error(), Errc::kBadArguments);
  ASSERT_TRUE(world.get(one.start()));
  EXPECT_EQ(world.get(one.acquire(Wait::within(milliseconds(100)))).error(), Errc::kDeadline);
  std::stop_source stop;
  const auto stopped = world.start(one.acquire(Wait::forever(stop.get_token())));
  stop.request_stop();
  world.run_for(milliseconds(100));
  ASSERT_TRUE(stopped->has_value());
  EXPECT_EQ((*stopped)->error(), Errc::kStopped);
  auto share = world.get(one.acquire());
  ASSERT_TRUE(share);
  ASSERT_TRUE(world.get(share->release()));
  EXPECT_TRUE(share->revoked().stop_requested());
}

}  // namespace
}  // namespace drover::recipes::testing

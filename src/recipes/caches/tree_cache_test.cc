// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/tree_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

using Kind = TreeEvent::Kind;
using Contents = std::map<std::string, std::string>;

// Applies the events to its own copy of the tree and checks that they are consistent.
class Follower {
 public:
  Follower(RecipeWorld& world, const TreeCache& cache) : world_(world), events_(cache.events()) {}

  void drain() {
    for (;;) {
      auto event = world_.get(events_.next(Wait::within(milliseconds(1))));
      if (!event) return;
      take(*event);
    }
  }
  void take(const TreeEvent& event) {
    kinds.push_back(event.kind);
    switch (event.kind) {
      case Kind::kCreated:
        EXPECT_FALSE(contents.contains(event.path)) << event.path;
        contents[event.path] = event.node.data;
        break;
      case Kind::kChanged:
        EXPECT_TRUE(contents.contains(event.path)) << event.path;
        contents[event.path] = event.node.data;
        break;
      case Kind::kDeleted: EXPECT_EQ(contents.erase(event.path), 1u) << event.path; break;
      default: break;
    }
  }
  std::size_t count(Kind kind) const { return static_cast<std::size_t>(std::ranges::count(kinds, kind)); }

  Contents contents;
  std::vector<Kind> kinds;

 private:
  RecipeWorld& world_;
  Stream<TreeEvent> events_;
};

void put(RecipeWorld& world, const std::string& path, const std::string& data = "") {
  OtherClient(world, 1).put(path, data);
}
void set(RecipeWorld& world, const std::string& path, const std::string& data) {
  OtherClient(world, 1).set(path, data);
}
void remove(RecipeWorld& world, const std::string& path) { OtherClient(world, 1).remove(path); }

// The tree on the servers.
void collect(RecipeWorld& world, const std::string& path, Contents& out) {
  if (const auto data = world.data(path)) out[path] = *data;
  for (const std::string& name : world.children(path)) collect(world, path + "/" + name, out);
}
Contents tree(RecipeWorld& world, const std::string& root) {
  Contents out;
  collect(world, root, out);
  return out;
}
Contents shown(const TreeCache& cache, const Contents& expected) {
  Contents out;
  for (const auto& [path, data] : expected) {
    if (const auto node = cache.find(path)) out[path] = node->data;
  }
  EXPECT_EQ(cache.size(), out.size());
  return out;
}

TEST(TreeCache, IsCompleteAfterTheStart) {
  RecipeWorld world({.clients = 2});
  put(world, "/a", "1");
  put(world, "/a/b", "2");
  put(world, "/a/b/c", "3");
  put(world, "/a/b-d", "4");
  put(world, "/ab", "not of it");
  TreeCache cache(world.client(0), "/a");
  EXPECT_FALSE(cache.is_fresh());
  ASSERT_TRUE(world.get(cache.start()));
  EXPECT_EQ(shown(cache, tree(world, "/a")), tree(world, "/a"));
  EXPECT_EQ(cache.children("/a"), (std::vector<std::string>{"b", "b-d"}));
  EXPECT_EQ(cache.children("/a/b"), (std::vector<std::string>{"c"}));
  EXPECT_EQ(cache.children("/a/b-d"), (std::vector<std::string>{}));
  EXPECT_EQ(cache.find("/ab"), std::nullopt);
  EXPECT_TRUE(cache.is_fresh());
}

TEST(TreeCache, IsEmptyUntilItsRootIsCreated) {
  RecipeWorld world({.clients = 2});
  TreeCache cache(world.client(0), "/a/b");
  ASSERT_TRUE(world.get(cache.start()));
  EXPECT_EQ(cache.size(), 0u);
  put(world, "/a/b", "1");
  put(world, "/a/b/c", "2");
  world.run_for(milliseconds(100));
  EXPECT_EQ(cache.find("/a/b/c")->data, "2");
  EXPECT_EQ(cache.find("/a/b")->data, "1");
}

TEST(TreeCache, LoadsMoreNodesThanOneBatchOfReads) {
  RecipeWorld world({.clients = 2});
  put(world, "/a");
  for (int i = 0; i < 300; ++i) put(world, "/a/" + std::to_string(i), std::to_string(i));
  TreeCache cache(world.client(0), "/a");
  ASSERT_TRUE(world.get(cache.start()));
  EXPECT_EQ(cache.size(), 301u);
  EXPECT_EQ(cache.find("/a/299")->data, "299");
}

TEST(TreeCache, ChangesAreReportedInOrderAtOneNotificationEach) {
  RecipeWorld world({.clients = 2});
  put(world, "/a", "1");
  TreeCache cache(world.client(0), "/a");
  ASSERT_TRUE(world.get(cache.start()));
  Follower follower(world, cache);
  for (const auto& change :
       std::vector<std::function<void()>>{[&] { put(world, "/a/b", "1"); }, [&] { set(world, "/a/b", "2"); },
                                          [&] { remove(world, "/a/b"); }}) {
    change();
    world.run_for(milliseconds(50));
  }
  follower.drain();
  EXPECT_EQ(follower.kinds, (std::vector<Kind>{Kind::kCreated, Kind::kInitialized, Kind::kCreated,
                                               Kind::kChanged, Kind::kDeleted}));
  EXPECT_EQ(world.watch_events(0), 3u);
}

TEST(TreeCache, FilteredNodesAreNeitherReadNorReported) {
  RecipeWorld world({.clients = 2});
  put(world, "/a/keep/x", "1");
  put(world, "/a/skip/x", "1");
  TreeCache cache(world.client(0), "/a",
                  {.keep_data = false, .filter = [](std::string_view path) { return path != "/a/skip"; }});
  ASSERT_TRUE(world.get(cache.start()));
  put(world, "/a/skip/y", "1");
  put(world, "/a/keep/y", "1");
  world.run_for(milliseconds(100));
  EXPECT_EQ(cache.size(), 4u);
  EXPECT_EQ(cache.find("/a/keep/y")->data, "");
  EXPECT_EQ(cache.find("/a/skip/y"), std::nullopt);
}

// Curator compares versions and mistakes a recreated node for the old one.
TEST(TreeCache, NodeRecreatedWhileDisconnectedIsReported) {
  RecipeWorld world({.clients = 2});
  put(world, "/a/b", "1");
  put(world, "/a/b/c", "1");
  TreeCache cache(world.client(0), "/a");
  ASSERT_TRUE(world.get(cache.start()));
  Follower follower(world, cache);
  follower.drain();
  follower.kinds.clear();
  world.disconnect(0);
  world.run_until([&] { return world.client(0).state() == ConnectionState::kSuspended; });
  world.cut(0);
  EXPECT_FALSE(cache.is_fresh());
  remove(world, "/a/b/c");
  remove(world, "/a/b");
  put(world, "/a/b", "1");
  world.run_for(milliseconds(1500));
  world.heal(0);
  ASSERT_TRUE(world.run_until([&] { return cache.is_fresh(); }));
  follower.drain();
  EXPECT_EQ(follower.kinds,
            (std::vector<Kind>{Kind::kDeleted, Kind::kDeleted, Kind::kCreated, Kind::kResynced}));
}

TEST(TreeCache, MatchesTheTreeAfterEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    put(world, "/a/gone/x", "1");
    put(world, "/a/changed", "1");
    put(world, "/a/again", "1");
    TreeCache cache(world.client(0), "/a");
    ASSERT_TRUE(world.get(cache.start()));
    Follower follower(world, cache);

    fault.strike(world);
    remove(world, "/a/gone/x");
    remove(world, "/a/gone");
    set(world, "/a/changed", "2");
    remove(world, "/a/again");
    put(world, "/a/again", "2");
    put(world, "/a/new/y", "2");
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    put(world, "/a/new/z", "3");  // It still gets events.
    world.run_for(milliseconds(500));

    EXPECT_TRUE(cache.is_fresh());
    follower.drain();
    EXPECT_EQ(shown(cache, tree(world, "/a")), tree(world, "/a"));
    EXPECT_EQ(follower.contents, tree(world, "/a"));
    EXPECT_EQ(follower.count(Kind::kInitialized), 1u);
  });
}

TEST(TreeCache, FirstLoadSurvivesTheLossOfAnyReply) {
  for (int nth = 1; nth <= 8; ++nth) {
    SCOPED_TRACE(nth);
    RecipeWorld world({.clients = 2});
    put(world, "/a/b/c", "1");
    put(world, "/a/d", "1");
    world.lose_reply(0, "", nth);
    TreeCache cache(world.client(0), "/a");
    ASSERT_TRUE(world.get(cache.start()));
    EXPECT_EQ(shown(cache, tree(world, "/a")), tree(world, "/a"));
  }
}

TEST(TreeCache, StoppedOrDestroyedItLeavesNoWatch) {
  for (int nth = 1; nth <= 7; ++nth) {
    SCOPED_TRACE(nth);
    RecipeWorld world({.clients = 2});
    put(world, "/a/b/c", "1");
    std::optional<TreeCache> cache(std::in_place, world.client(0), "/a");
    std::stop_source stop;
    world.at_request(0, "", nth, [&] {
      stop.request_stop();
      cache.reset();
    });
    const auto started = world.start(cache->start(Wait::forever(stop.get_token())));
    ASSERT_TRUE(world.run_until([&] { return started->has_value(); }));
    EXPECT_FALSE((*started)->has_value());
    world.run_for(milliseconds(1000));
    EXPECT_EQ(world.watches(), 0u);
  }
}

TEST(TreeCache, DeadlineEndsTheWaitAndNotTheCache) {
  RecipeWorld world({.clients = 2});
  put(world, "/a", "1");
  world.cut(0);
  TreeCache cache(world.client(0), "/a");
  const auto late = world.get(cache.start(Wait::within(milliseconds(500))));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::kDeadline);
  world.heal(0);
  EXPECT_TRUE(world.get(cache.start()));
  EXPECT_EQ(cache.size(), 1u);
}

TEST(TreeCache, ListenersAreCalledUntilTheyAreRemoved) {
  RecipeWorld world({.clients = 2});
  TreeCache cache(world.client(0), "/a");
  ASSERT_TRUE(world.get(cache.start()));
  int calls = 0;
  auto listening = cache.on_event([&](const TreeEvent&) { ++calls; });
  put(world, "/a");
  world.run_for(milliseconds(50));
  EXPECT_EQ(calls, 1);
  listening.reset();
  set(world, "/a", "2");
  world.run_for(milliseconds(50));
  EXPECT_EQ(calls, 1);
}

TEST(TreeCache, InvalidPathFailsTheStart) {
  RecipeWorld world({.clients = 1});
  TreeCache cache(world.client(0), "no/path");
  const auto started = world.get(cache.start(), milliseconds(5000));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), Errc::kBadArguments);
}

}  // namespace
}  // namespace drover::recipes::testing

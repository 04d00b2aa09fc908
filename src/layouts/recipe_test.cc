// SPDX-License-Identifier: Apache-2.0
#include "layouts/recipe.h"

#include <gtest/gtest.h>

namespace drover::layouts {
namespace {

using Names = std::vector<std::string>;

const std::string kHexA(32, 'a');
const std::string kHexB(32, 'b');

RecipeNode owned(std::string name, std::int64_t owner) { return {.name = std::move(name), .owner = owner}; }
RecipeNode plain(std::string name) { return {.name = std::move(name)}; }

Names names(const std::vector<RecipeEntry>& entries) {
  Names out;
  for (const RecipeEntry& entry : entries) out.push_back(entry.node.name);
  return out;
}

Recipe recognised(RecipeDirectory directory) {
  const auto recipe = recognise_recipe(directory);
  EXPECT_TRUE(recipe.has_value());
  return recipe.value_or(Recipe{});
}

TEST(RecipeInDirectory, ALockIsHeldByTheLowestNumberWhateverThePrefix) {
  const Recipe lock =
      recognised({.data = {},
                  .children = {owned("_c_b-lock-0000000010", 1), owned("_c_z-lock-0000000009", 2),
                               owned("_c_a-lock-0000000011", 3)},
                  .inner = {}});
  EXPECT_EQ(lock.kind, RecipeKind::kLock);
  EXPECT_EQ(names(lock.holders), Names{"_c_z-lock-0000000009"});
  EXPECT_EQ(names(lock.waiting), (Names{"_c_b-lock-0000000010", "_c_a-lock-0000000011"}));
}

TEST(RecipeInDirectory, TheOrderContinuesWhenTheCounterWraps) {
  const Recipe lock = recognised(
      {.data = {},
       .children = {owned(kHexA + "__lock__-2147483648", 1), owned(kHexB + "__lock__2147483647", 2)},
       .inner = {}});
  EXPECT_EQ(lock.layout, "kazoo");
  EXPECT_EQ(names(lock.holders), Names{kHexB + "__lock__2147483647"});
}

TEST(RecipeInDirectory, ALatchIsAnElection) {
  const Recipe election =
      recognised({.data = {}, .children = {owned("_c_a-latch-0000000001", 1)}, .inner = {}});
  EXPECT_EQ(election.kind, RecipeKind::kElection);
  EXPECT_EQ(election.holders.size(), 1u);
}

TEST(RecipeInDirectory, ReadersShareUntilTheFirstWriter) {
  RecipeDirectory directory{
      .data = {},
      .children = {owned("_c_a-__READ__0000000001", 1), owned("_c_b-__READ__0000000002", 2),
                   owned("_c_c-__WRIT__0000000003", 3), owned("_c_d-__READ__0000000004", 4)},
      .inner = {}};
  const Recipe lock = recognised(directory);
  EXPECT_EQ(lock.kind, RecipeKind::kReadWriteLock);
  EXPECT_EQ(lock.holders.size(), 2u);
  EXPECT_EQ(lock.holders[0].mode, "read");
  EXPECT_EQ(names(lock.waiting), (Names{"_c_c-__WRIT__0000000003", "_c_d-__READ__0000000004"}));
  directory.children.erase(directory.children.begin(), directory.children.begin() + 2);
  const Recipe written = recognised(directory);
  EXPECT_EQ(names(written.holders), Names{"_c_c-__WRIT__0000000003"});
  EXPECT_EQ(written.waiting.size(), 1u);
}

TEST(RecipeInDirectory, ALeaseThatIsStillRequestedIsNotHeld) {
  RecipeDirectory directory{.data = {}, .children = {plain("leases"), plain("locks")}, .inner = {}};
  const auto made = [](std::string name, std::int64_t owner, std::int64_t czxid) {
    return RecipeNode{.name = std::move(name), .owner = owner, .czxid = czxid};
  };
  // The second client already has a lease from before, and asks for another one.
  directory.inner["leases"] = {made("_c_a-lease-0000000001", 1, 10), made("_c_b-lease-0000000002", 2, 11),
                               made("_c_b-lease-0000000003", 2, 14)};
  directory.inner["locks"] = {made("_c_b-lock-0000000005", 2, 12), made("_c_c-lock-0000000006", 3, 13)};
  const Recipe semaphore = recognised(directory);
  EXPECT_EQ(semaphore.kind, RecipeKind::kSemaphore);
  EXPECT_EQ(names(semaphore.holders), (Names{"_c_a-lease-0000000001", "_c_b-lease-0000000002"}));
  EXPECT_EQ(semaphore.waiting.size(), 2u);
  EXPECT_EQ(semaphore.waiting[0].directory, "locks");
}

TEST(RecipeInDirectory, KazoosSemaphoreStoresTheNumberOfLeases) {
  RecipeDirectory directory{.data = "3", .children = {owned(kHexA, 1)}, .inner = {}};
  directory.inner[std::string(kBesideDirectory)] = {owned(kHexB + "__lock__0000000003", 2)};
  const Recipe semaphore = recognised(directory);
  EXPECT_EQ(semaphore.kind, RecipeKind::kSemaphore);
  EXPECT_EQ(semaphore.capacity, 3);
  EXPECT_EQ(names(semaphore.holders), Names{kHexA});
  EXPECT_EQ(names(semaphore.waiting), Names{kHexB + "__lock__0000000003"});
}

TEST(RecipeInDirectory, QueuesAreInTheOrderOfWork) {
  const Recipe queue = recognised(
      {.data = {}, .children = {plain("queue-0000000002"), plain("queue-0000000001")}, .inner = {}});
  EXPECT_EQ(queue.kind, RecipeKind::kQueue);
  EXPECT_TRUE(queue.holders.empty());
  EXPECT_EQ(names(queue.waiting), (Names{"queue-0000000001", "queue-0000000002"}));
  const Recipe kazoo = recognised(
      {.data = {}, .children = {plain("entry-100-0000000001"), plain("entry-050-0000000002")}, .inner = {}});
  EXPECT_EQ(kazoo.layout, "kazoo");
  EXPECT_EQ(names(kazoo.waiting), (Names{"entry-050-0000000002", "entry-100-0000000001"}));
}

TEST(RecipeInDirectory, ALockedItemOfALockingQueueIsInProgress) {
  RecipeDirectory directory{.data = {}, .children = {plain("entries"), plain("taken")}, .inner = {}};
  directory.inner["entries"] = {plain("entry-100-0000000001"), plain("entry-100-0000000002")};
  directory.inner["taken"] = {owned("entry-100-0000000001", 7)};
  const Recipe queue = recognised(directory);
  EXPECT_EQ(names(queue.holders), Names{"entry-100-0000000001"});
  EXPECT_EQ(queue.holders.at(0).node.owner, 7);
  EXPECT_EQ(names(queue.waiting), Names{"entry-100-0000000002"});
}

TEST(RecipeInDirectory, OnlyEphemeralNodesAreAGroupAndWithReadyABarrier) {
  RecipeDirectory directory{.data = {}, .children = {owned("web-1", 1), owned("web-2", 2)}, .inner = {}};
  EXPECT_EQ(recognised(directory).kind, RecipeKind::kMembership);
  directory.children.push_back(plain("ready"));
  const Recipe barrier = recognised(directory);
  EXPECT_EQ(barrier.kind, RecipeKind::kBarrier);
  EXPECT_EQ(barrier.holders.size(), 2u);
}

TEST(RecipeInDirectory, MixedLibrariesFormNoLockButTheirNodesAreMembers) {
  const Recipe both =
      recognised({.data = {},
                  .children = {owned("_c_a-lock-0000000001", 1), owned(kHexA + "__lock__0000000001", 2)},
                  .inner = {}});
  EXPECT_EQ(both.kind, RecipeKind::kMembership);
}

TEST(RecipeInDirectory, NodesThatWereNotReadWaitOrAreMembers) {
  const Recipe lock = recognised(
      {.data = {}, .children = {owned("_c_a-lock-0000000001", 1)}, .inner = {}, .unseen = {{"", 7}}});
  EXPECT_EQ(lock.waiting_unseen, 7u);
  EXPECT_EQ(lock.holders_unseen, 0u);
  const Recipe group =
      recognised({.data = {}, .children = {owned("web-1", 1)}, .inner = {}, .unseen = {{"", 7}}});
  EXPECT_EQ(group.holders_unseen, 7u);
}

TEST(RecipeInDirectory, AnOrdinaryDirectoryIsNotARecipe) {
  EXPECT_FALSE(recognise_recipe({}).has_value());
  EXPECT_FALSE(recognise_recipe({.data = {}, .children = {plain("config"), owned("x", 1)}, .inner = {}}));
  EXPECT_FALSE(recognise_recipe({.data = {}, .children = {plain("queue-of-mails")}, .inner = {}}));
  EXPECT_FALSE(recognise_recipe({.data = {}, .children = {plain("lock-smith")}, .inner = {}}));
}

}  // namespace
}  // namespace drover::layouts

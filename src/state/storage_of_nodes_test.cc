// SPDX-License-Identifier: Apache-2.0
//
// Storage of nodes and their bytes: BlobArena and NodeStore.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "state/blob_arena.h"
#include "state/node_store.h"

namespace drover::state {
namespace {

TEST(BlobArena, AReleasedBlockIsReusedForItsSizeClass) {
  BlobArena arena;
  char* first = arena.allocate(20);
  arena.release(first, 20);
  EXPECT_NE(arena.allocate(16), first) << "16 bytes are another class";
  EXPECT_EQ(arena.allocate(24), first) << "17 to 24 bytes are one class";
}

TEST(BlobArena, AnEmptyBlobNeedsNoMemory) {
  BlobArena arena;
  EXPECT_EQ(arena.allocate(0), nullptr);
  arena.release(nullptr, 0);
}

TEST(BlobArena, SizesOfOneClassFitTheSameBlock) {
  EXPECT_TRUE(BlobArena::same_class(17, 24));
  EXPECT_FALSE(BlobArena::same_class(16, 17));
  EXPECT_FALSE(BlobArena::same_class(0, 1));
  EXPECT_FALSE(BlobArena::same_class(1, 0));
  EXPECT_FALSE(BlobArena::same_class(2000, 2000)) << "large blocks are malloc's";
}

TEST(BlobArena, BlocksNeverOverlap) {
  // Every live block is filled with its own byte; another byte in it means an overlap.
  Random random(4);
  BlobArena arena;
  struct Block {
    char* at;
    std::size_t bytes;
    char fill;
  };
  std::vector<Block> live;
  for (int step = 0; step < 20'000; ++step) {
    if (live.size() < 50 || random.below(2) == 0) {
      const std::size_t bytes = random.below(10) == 0 ? 1000 + random.below(3000) : 1 + random.below(200);
      const Block block{arena.allocate(bytes), bytes, static_cast<char>(step)};
      std::memset(block.at, block.fill, bytes);
      live.push_back(block);
      continue;
    }
    const std::size_t i = random.below(live.size());
    const Block block = live[i];
    ASSERT_EQ(std::string(block.at, block.bytes), std::string(block.bytes, block.fill));
    arena.release(block.at, block.bytes);
    live[i] = live.back();
    live.pop_back();
  }
  for (const Block& block : live) arena.release(block.at, block.bytes);
}

TEST(NodeStore, NodesDoNotMoveWhenTheStoreGrows) {
  NodeStore store;
  const NodeRef first = store.allocate();
  const Node* address = &store.at(first);
  store.at(first).version = 7;
  std::set<std::uint32_t> refs{static_cast<std::uint32_t>(first)};
  for (int i = 0; i < 10'000; ++i) {
    const NodeRef ref = store.allocate();
    EXPECT_NE(ref, kNoNode);
    EXPECT_TRUE(refs.insert(static_cast<std::uint32_t>(ref)).second);
  }
  EXPECT_EQ(&store.at(first), address);
  EXPECT_EQ(store.at(first).version, 7);
}

TEST(NodeStore, AReusedSlotIsCleared) {
  NodeStore store;
  const NodeRef ref = store.allocate();
  store.at(ref).version = 7;
  store.at(ref).child_count = 3;
  store.release(ref);
  EXPECT_EQ(store.allocate(), ref);
  EXPECT_EQ(store.at(ref).version, 0);
  EXPECT_EQ(store.at(ref).child_count, 0u);
  EXPECT_EQ(store.at(ref).next_sibling, kNoNode);
}

}  // namespace
}  // namespace drover::state

// SPDX-License-Identifier: Apache-2.0
#include "runtime/ephemerals_walk.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace drover::server {
namespace {

constexpr SessionId kOwner{7};

class Ephemerals : public ::testing::Test {
 protected:
  state::NodeRef add(int number, SessionId owner = kOwner) {
    const std::string path = "/" + std::to_string(number);
    wire::StatPersisted stat;
    stat.ephemeral_owner = raw(owner);
    return machine_.tree.insert(machine_.tree.root(), {.path = path, .data = {}, .stat = stat});
  }
  void remove(int number) {
    const std::string path = "/" + std::to_string(number);
    machine_.tree.remove(machine_.tree.find(path), path);
  }
  std::vector<OwnedNode> all() { return ephemerals_of(reader_, owners_of_ephemerals(reader_), 1'000'000); }

  state::Machine machine_{state::Options{}};
  TreeLock lock_{2};
  TreeReader reader_{machine_, lock_};
};

TEST_F(Ephemerals, AreListedForAllOwnersUpToALimit) {
  for (int i = 0; i < 10'000; ++i) add(i, SessionId{1 + i % 5'000});
  EXPECT_EQ(owners_of_ephemerals(reader_).size(), 5'000u);
  EXPECT_EQ(all().size(), 10'000u);
  EXPECT_EQ(ephemerals_of(reader_, owners_of_ephemerals(reader_), 99).size(), 99u);
  EXPECT_EQ(ephemerals_of(reader_, std::vector{SessionId{3}, SessionId{999'999}}, 99).size(), 2u);
}

TEST_F(Ephemerals, ListingLetsWritersIn) {
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) add(i);
  std::atomic<bool> written = false;
  std::thread writer;
  std::size_t visited = 0;
  bool written_before_the_end = false;
  visit_in_steps(reader_, all(), [&](std::span<const state::NodeRef> step) {
    if (!writer.joinable()) {
      writer = std::thread([&] {
        TreeLock::Writing writing(lock_);
        written = true;
      });
    }
    EXPECT_LE(step.size(), kEphemeralsPerStep);
    visited += step.size();
    written_before_the_end = written;
    return true;
  });
  writer.join();
  EXPECT_EQ(visited, static_cast<std::size_t>(kCount));
  EXPECT_TRUE(written_before_the_end);
}

TEST_F(Ephemerals, DeletedOnesAreNotMistakenForNewNodesWithTheSameIndex) {
  for (int i = 0; i < 3; ++i) add(i);
  const std::vector<OwnedNode> before = all();
  const state::NodeRef gone = machine_.tree.find("/1");
  remove(1);
  EXPECT_EQ(still_owned(machine_.tree, before).size(), 2u);
  ASSERT_EQ(add(9, SessionId{8}), gone) << "numbers are used again";
  EXPECT_EQ(still_owned(machine_.tree, before).size(), 2u);
}

}  // namespace
}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
#include "runtime/long_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace drover::server {
namespace {

class LongFacts : public ::testing::Test {
 protected:
  void add(const std::string& path, std::int64_t owner) {
    wire::StatPersisted stat;
    stat.ephemeral_owner = owner;
    machine_.tree.insert(machine_.tree.root(), {.path = path, .data = {}, .stat = stat});
  }

  state::Machine machine_{state::Options{}};
  TreeLock lock_{2};
};

TEST_F(LongFacts, ListEphemeralsOfEverySessionSortedByPath) {
  for (const char* path : {"/c", "/a", "/b"}) add(path, 5);
  add("/other", 7);
  auto all = ephemerals_by_session({machine_, lock_});
  std::ranges::sort(all, {}, &SessionPaths::session);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].session, SessionId{5});
  EXPECT_EQ(all[0].paths, (std::vector<std::string>{"/a", "/b", "/c"}));
  EXPECT_EQ(all[1].paths, (std::vector<std::string>{"/other"}));
}

TEST_F(LongFacts, DoNotBlockWritersUntilTheyAreComplete) {
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) add("/" + std::to_string(i), 5);
  std::atomic<bool> done = false;
  int writes = 0;  // during the collection
  std::thread writer([&] {
    while (!done) {
      TreeLock::Writing writing(lock_);
      if (!done) ++writes;
    }
  });
  const auto all = ephemerals_by_session({machine_, lock_});
  done = true;
  writer.join();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].paths.size(), static_cast<std::size_t>(kCount));
  EXPECT_GE(writes, 20) << "in two hundred steps";
}

}  // namespace
}  // namespace drover::server

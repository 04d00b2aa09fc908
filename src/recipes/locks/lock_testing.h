// SPDX-License-Identifier: Apache-2.0
//
// Test support for locks: all clients contend, and the test checks mutual exclusion.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "drover/recipes/guard.h"
#include "recipes/testing.h"

namespace drover::recipes::testing {

using GuardResult = std::shared_ptr<std::optional<Result<Guard>>>;

// Counts the holders: clients with a guard that is not lost. A session that is killed from elsewhere ends
// before its client can know; then it does not count.
class Inside {
 public:
  Inside(RecipeWorld& world, const Fault& fault, std::size_t most = 1)
      : world_(world), kills_(fault.kills), most_(most) {}
  void look(const std::vector<GuardResult>& guards) {
    std::size_t in = 0;
    for (const GuardResult& each : guards) {
      if (!succeeded(each)) continue;
      const Guard& guard = (*each)->value();
      if (!guard || guard.lost().stop_requested()) continue;
      if (kills_ && !world_.has_session(guard.session())) continue;
      ++in;
    }
    EXPECT_LE(in, most_);
  }

 private:
  RecipeWorld& world_;
  bool kills_;
  std::size_t most_;
};

// Every client takes the lock, holds it for a while and releases it; the fault hits client 0. In the end all
// had it, fences grew, and `directory` is empty.
template <class Acquire>
void lock_story(RecipeWorld& world, const Fault& fault, const std::string& directory, Acquire acquire,
                std::size_t clients = 2) {
  std::vector<GuardResult> guards;
  for (std::size_t i = 0; i < clients; ++i) {
    guards.push_back(world.start(acquire(world.client(i))));
    world.run_for(milliseconds(20));
  }
  Inside inside(world, fault);
  std::set<std::size_t> done;
  Zxid last{};
  const auto serve = [&] {
    inside.look(guards);
    for (std::size_t i = 0; i < clients; ++i) {
      if (done.contains(i) || !has_ended(guards[i])) continue;
      done.insert(i);
      ASSERT_TRUE(succeeded(guards[i])) << (*guards[i])->error().to_text();
      Guard& guard = (*guards[i])->value();
      EXPECT_TRUE(fault.ends_session || guard.fence() > last);
      last = guard.fence();
      world.run_for(milliseconds(50));
      inside.look(guards);
      const auto released = world.start(guard.release());
      world.run_until([&] { return has_ended(released); }, milliseconds(30'000));
      EXPECT_TRUE(succeeded(released) || (fault.ends_session && code_of(released) == Errc::kLockLost));
    }
  };
  const auto limit = world.now() + milliseconds(60'000);
  while (done.size() < clients && world.now() < limit) {
    world.run_for(milliseconds(5));
    serve();
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(done.size(), clients) << "everybody gets it";
  world.run_for(milliseconds(15'000));
  EXPECT_EQ(world.descendants(directory), 0u);
}

}  // namespace drover::recipes::testing

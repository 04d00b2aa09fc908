// SPDX-License-Identifier: Apache-2.0
//
// Two threads build the same state and detect the same errors as one thread.
#include "runtime/replay_sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "state/testing.h"

namespace drover::server {
namespace {

using namespace state::testing;

struct Replay : ::testing::Test {
  Replay() {
    leader.create("/a");
    // Enough for several batches.
    for (int i = 0; i < 3000; ++i) leader.create("/a/" + std::to_string(i), {.data = std::string(500, 'x')});
  }

  bool replay(ReplaySink& sink) {
    for (const std::string& entry : leader.applied) {
      if (!sink.txn(wire::zxid_of_entry(entry), entry)) return false;
    }
    return true;
  }
  void expect_the_leaders_state() {
    EXPECT_EQ(difference(picture_of(machine.tree), picture_of(leader.machine.tree)), "");
    EXPECT_EQ(machine.last_zxid, leader.machine.last_zxid);
  }

  Leader leader;
  state::Machine machine{state::Options{}};
  std::vector<Zxid> heard;
  replica::StateBuilder builder{machine, [this](Zxid zxid, std::string_view) { heard.push_back(zxid); }};
};

TEST_F(Replay, AppliesEverythingInOrder) {
  ReplaySink sink(builder);
  sink.reset();
  EXPECT_TRUE(replay(sink));
  EXPECT_TRUE(sink.finish());
  builder.finish();
  expect_the_leaders_state();
  ASSERT_EQ(heard.size(), leader.applied.size());
  EXPECT_TRUE(std::is_sorted(heard.begin(), heard.end()));
}

TEST_F(Replay, FailsIfAnyTransactionCannotBeApplied) {
  for (const std::size_t bad : {std::size_t{0}, leader.applied.size() / 2, leader.applied.size() - 1}) {
    std::vector<std::string> damaged = leader.applied;
    damaged[bad].resize(40);
    ReplaySink sink(builder);
    sink.reset();
    for (const std::string& entry : damaged) {
      if (!sink.txn(wire::zxid_of_entry(entry), entry)) break;
    }
    EXPECT_FALSE(sink.finish()) << bad;
    EXPECT_EQ(machine.last_zxid, Zxid{static_cast<std::int64_t>(bad)}) << "nothing behind it is applied";
  }
}

TEST_F(Replay, StartsOverAfterAReset) {
  ReplaySink sink(builder);
  sink.reset();
  leader.applied.back().resize(40);
  EXPECT_FALSE(replay(sink) && sink.finish());
  leader.applied.pop_back();
  sink.reset();
  EXPECT_TRUE(replay(sink));
  EXPECT_TRUE(sink.finish());
  EXPECT_EQ(machine.last_zxid, wire::zxid_of_entry(leader.applied.back()));
}

}  // namespace
}  // namespace drover::server

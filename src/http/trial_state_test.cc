// SPDX-License-Identifier: Apache-2.0
//
// An uploaded snapshot is loaded on trial, and a limit ends the trial before it harms the server.
#include "http/trial_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/process_memory.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kOpenAcl = -1;

TrialBounds bounds() {
  return {.state_bytes = 10 << 20, .trial_bytes = 10 << 20, .deadline = monotonic_now() + 60'000};
}

// Adds nodes below the root until the trial ends. Returns how many it accepted.
int nodes_until_refused(TrialState& trial, const std::string& data, int at_most) {
  if (!trial.node("", "", kOpenAcl, {})) return -1;
  for (int i = 0; i < at_most; ++i) {
    if (!trial.node("/n" + std::to_string(i), data, kOpenAcl, {})) return i;
  }
  return at_most;
}

TEST(TrialState, AcceptsAStateWithinItsLimits) {
  TrialState trial({}, bounds());
  EXPECT_EQ(nodes_until_refused(trial, "data", 1000), 1000);
  EXPECT_THAT(trial.beyond(), IsEmpty());
}

TEST(TrialState, StopsBeforeNodesUseUpTheFreeMemory) {
  TrialBounds tight = bounds();
  tight.trial_bytes = 1 << 20;
  TrialState trial({}, tight);
  EXPECT_LT(nodes_until_refused(trial, "", 1'000'000), 4000);
  EXPECT_THAT(trial.beyond(), HasSubstr("half of what is free"));
}

TEST(TrialState, CountsDataThatItDoesNotKeep) {
  TrialState trial({}, bounds());
  EXPECT_LT(nodes_until_refused(trial, std::string(1 << 20, 'x'), 1'000'000), 10);
  EXPECT_THAT(trial.beyond(), HasSubstr("admin.restore.maxStateInMb"));
}

TEST(TrialState, CountsSessionsAndLists) {
  TrialBounds tight = bounds();
  tight.state_bytes = 1 << 20;
  TrialState sessions({}, tight);
  std::int64_t id = 0;
  while (id < 1'000'000 && sessions.session(SessionId{++id}, 1000)) continue;
  EXPECT_LT(id, 10'000);
  EXPECT_THAT(sessions.beyond(), HasSubstr("MB of memory"));
}

TEST(TrialState, StopsWhenItsTimeIsOver) {
  TrialBounds late = bounds();
  late.deadline = monotonic_now() + -1;
  TrialState trial({}, late);
  EXPECT_LT(nodes_until_refused(trial, "", 1'000'000), 2000);
  EXPECT_THAT(trial.beyond(), HasSubstr("too long"));
}

TEST(TrialState, TheLimitsDependOnTheMachineUnlessConfigured) {
  const ProcessMemory memory = process_memory();
  EXPECT_GT(memory.limit_bytes, 0u);
  EXPECT_LE(memory.free_bytes, memory.limit_bytes);
  EXPECT_EQ(trial_bounds(0).state_bytes, memory.limit_bytes / 4 * 3);
  EXPECT_EQ(trial_bounds(5).state_bytes, std::uint64_t{5} << 20);
}

}  // namespace
}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
#include "http/trial_state.h"

#include <fmt/format.h>

#include "monitor/process_memory.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

constexpr std::int64_t kTimeMaxMs = 10 * 60 * 1000;
// The memory of a record besides its bytes: nodes in the tree and its indexes, sessions, lists. A little more
// than bench/memory_per_node.py measures.
constexpr std::uint64_t kRecordOverhead = 300;
constexpr std::uint64_t kLookAtClockEvery = 1024;

state::Options without_digest(state::Options options) {
  options.digest_enabled = false;
  return options;
}

}  // namespace

TrialBounds trial_bounds(std::int64_t state_mb) {
  const ProcessMemory memory = process_memory();
  return {
      .state_bytes = state_mb > 0 ? static_cast<std::uint64_t>(state_mb) << 20 : memory.limit_bytes / 4 * 3,
      .trial_bytes = memory.free_bytes / 2,
      .deadline = monotonic_now() + kTimeMaxMs};
}

TrialState::TrialState(const state::Options& options, const TrialBounds& bounds)
    : bounds_(bounds), machine_(without_digest(options)), builder_(machine_) {
  builder_.reset();
}

bool TrialState::session(SessionId id, std::int32_t timeout_ms) {
  return charge(0, 0) && builder_.session(id, timeout_ms);
}

bool TrialState::acl(std::int64_t key, std::string_view jute_list) {
  // The list is kept as bytes and as entries.
  return charge(3 * jute_list.size(), 0) && builder_.acl(key, jute_list);
}

bool TrialState::node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                      const wire::StatPersisted& stat) {
  return charge(path.size(), data ? data->size() : 0) && builder_.node(path, {}, acl, stat);
}

bool TrialState::charge(std::uint64_t kept, std::uint64_t left_out) {
  kept_ += kept + kRecordOverhead;
  state_ += kept + kRecordOverhead + left_out;
  if (state_ > bounds_.state_bytes) {
    beyond_ = fmt::format("the state takes more than {} MB of memory (admin.restore.maxStateInMb)",
                          bounds_.state_bytes >> 20);
  } else if (kept_ > bounds_.trial_bytes) {
    beyond_ = fmt::format("the trial load takes more than {} MB of memory, half of what is free",
                          bounds_.trial_bytes >> 20);
  } else if (++records_ % kLookAtClockEvery == 0 && monotonic_now() > bounds_.deadline) {
    beyond_ = "the trial load takes too long";
  }
  return beyond_.empty();
}

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// Loads a snapshot that somebody sent, on trial, by the rules of the real loader and within bounds.
//
// The file may be small and what it unpacks to may be anything: a loader without bounds would take the memory
// of the server that runs beside it, or keep a thread busy for hours. A state too large for this machine
// would also end the start that loads it in earnest.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "replica/state_builder.h"
#include "state/machine.h"
#include "storage/snapshot_format.h"

namespace drover::server {

struct TrialBounds {
  std::uint64_t state_bytes = 0;  // what the state takes once it is served
  std::uint64_t trial_bytes = 0;  // what the trial takes meanwhile, beside the server
  Instant deadline{};
};

// `state_mb`: admin.restore.maxStateInMb; 0: three quarters of the memory that this process may use. The
// trial gets half of what is free now, and ten minutes.
TrialBounds trial_bounds(std::int64_t state_mb);

// What nodes hold is subject to no rule, so it is counted and not kept.
class TrialState final : public storage::SnapshotSink {
 public:
  TrialState(const state::Options& options, const TrialBounds& bounds);
  bool session(SessionId id, std::int32_t timeout_ms) override;
  bool acl(std::int64_t key, std::string_view jute_list) override;
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override;

  // Which bound ended the trial; empty: none.
  const std::string& beyond() const { return beyond_; }

 private:
  // False: a bound is reached. `kept` bytes stay in the trial, `left_out` only in the state that is served.
  bool charge(std::uint64_t kept, std::uint64_t left_out);

  const TrialBounds bounds_;
  std::uint64_t kept_ = 0;
  std::uint64_t state_ = 0;
  std::uint64_t records_ = 0;
  std::string beyond_;
  state::Machine machine_;
  replica::StateBuilder builder_;
};

}  // namespace drover::server

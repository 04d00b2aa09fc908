// SPDX-License-Identifier: Apache-2.0
//
// Loads an uploaded snapshot on trial, by the rules of the real loader and within limits.
//
// A small file can unpack to any size. A loader without limits could use up the memory of the running server,
// or keep a thread busy for hours. A state that is too large for this machine would also make the next start
// fail.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "replica/state_builder.h"
#include "state/machine.h"
#include "storage/snapshot_format.h"

namespace drover::server {

struct TrialBounds {
  std::uint64_t state_bytes = 0;  // memory of the state when it is served
  std::uint64_t trial_bytes = 0;  // memory of the trial, besides the server's
  Instant deadline{};
};

// `state_mb`: admin.restore.maxStateInMb; 0: three quarters of the memory that this process may use. The
// trial gets half of the memory that is free now, and ten minutes.
TrialBounds trial_bounds(std::int64_t state_mb);

// No rule applies to the data of nodes, so it is counted but not kept.
class TrialState final : public storage::SnapshotSink {
 public:
  TrialState(const state::Options& options, const TrialBounds& bounds);
  bool session(SessionId id, std::int32_t timeout_ms) override;
  bool acl(std::int64_t key, std::string_view jute_list) override;
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override;

  // The limit that ended the trial; empty: none.
  const std::string& beyond() const { return beyond_; }

 private:
  // False: a limit is reached. `kept` bytes are used by the trial and the served state, `left_out` only by
  // the served state.
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

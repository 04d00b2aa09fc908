// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's connection throttle: a token bucket for all handshakes of a server, and a probability of
// dropping them that adapts to the load (Java's BlueThrottle; connection_throttle_*). Off unless the bucket
// has tokens.
//
// sessionCreationRate limits only new sessions, and each address. This limit counts renewed sessions, too.
#pragma once

#include <cstdint>

#include "base/measures.h"
#include "base/random.h"
#include "base/throttles.h"
#include "base/time.h"

namespace drover::replica {

class ConnectionThrottle {
 public:
  enum class Kind : std::uint8_t { kGlobal, kLocal, kRenew };

  ConnectionThrottle(const ConnectionThrottleLimits& limits, std::uint64_t seed, Instant now);

  // Takes tokens if the handshake is allowed.
  bool allow(Kind kind, Instant now) { return limits_.tokens == 0 || take(kind, now); }

  double drop_probability() const { return drop_; }
  // Missing tokens at each handshake that was allowed.
  const Extremes& deficit() const { return deficit_; }

 private:
  bool take(Kind kind, Instant now);
  std::int64_t cost_of(Kind kind) const;
  void fill(Instant now);
  bool drops(Instant now);

  ConnectionThrottleLimits limits_;
  std::int64_t tokens_;
  Instant filled_;
  Instant frozen_;
  double drop_ = 0;
  Random random_;
  Extremes deficit_;
};

}  // namespace drover::replica

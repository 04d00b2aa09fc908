// SPDX-License-Identifier: Apache-2.0
#include "replica/connection_throttle.h"

#include <algorithm>
#include <cmath>

namespace drover::replica {
namespace {

// As in Java: a weight below that of a local session becomes that.
ConnectionThrottleLimits weighed(ConnectionThrottleLimits limits) {
  limits.global_weight = std::max(limits.global_weight, limits.local_weight);
  limits.renew_weight = std::max(limits.renew_weight, limits.local_weight);
  if (!limits.weighted) return limits;
  limits.tokens *= limits.global_weight;
  limits.fill_count *= limits.global_weight;
  return limits;
}

}  // namespace

ConnectionThrottle::ConnectionThrottle(const ConnectionThrottleLimits& limits, std::uint64_t seed,
                                       Instant now)
    : limits_(weighed(limits)), tokens_(limits_.tokens), filled_(now), frozen_(now), random_(seed) {}

std::int64_t ConnectionThrottle::cost_of(Kind kind) const {
  if (!limits_.weighted) return 1;
  switch (kind) {
    case Kind::kGlobal: return limits_.global_weight;
    case Kind::kLocal: return limits_.local_weight;
    case Kind::kRenew: break;
  }
  return limits_.renew_weight;
}

// Whole steps of the fill time only, unlike Java, which loses what a part of one would bring.
void ConnectionThrottle::fill(Instant now) {
  const std::int64_t steps = (now - filled_) / limits_.fill_time_ms;
  if (steps <= 0) return;
  filled_ = filled_ + steps * limits_.fill_time_ms;
  const std::int64_t missing = limits_.tokens - tokens_;
  // Compared first, because the product of a long time may be too large.
  const bool full = steps > missing / limits_.fill_count;
  tokens_ = full ? limits_.tokens : tokens_ + steps * limits_.fill_count;
}

bool ConnectionThrottle::drops(Instant now) {
  if (limits_.freeze_time_ms < 0) return false;
  const std::int64_t used = limits_.tokens - tokens_;
  if (now - frozen_ > limits_.freeze_time_ms) {
    const auto few =
        static_cast<std::int64_t>(std::llround(static_cast<double>(limits_.tokens) * limits_.decrease_ratio));
    if (used == limits_.tokens) {
      drop_ = std::min(drop_ + limits_.drop_increase, 1.0);
    } else if (used <= few) {
      drop_ = std::max(drop_ - limits_.drop_decrease, 0.0);
    }
    frozen_ = now;
  }
  constexpr std::uint64_t kGrain = 1'000'000'000;
  return static_cast<double>(random_.below(kGrain)) < drop_ * static_cast<double>(kGrain);
}

bool ConnectionThrottle::take(Kind kind, Instant now) {
  fill(now);
  const std::int64_t cost = cost_of(kind);
  if (drops(now) || tokens_ < cost) return false;
  tokens_ -= cost;
  deficit_.add(static_cast<std::uint64_t>(limits_.tokens - tokens_));
  return true;
}

}  // namespace drover::replica

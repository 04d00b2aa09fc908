// SPDX-License-Identifier: Apache-2.0
//
// Limits the rate of new sessions, for all clients together and for each address.
//
// Each new session is a write that all servers must make durable, so a flood of them starves other writes.
// The total limit protects the log. The limit for an address keeps a single client in a loop from using up
// what is meant for all. Both allow bursts of one second's worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"
#include "base/time.h"

namespace drover::replica {

struct SessionRateLimits {
  std::int64_t per_second = 0;  // 0: no limit
  std::int64_t per_second_per_address = 0;
};

class SessionRate {
 public:
  SessionRate(const SessionRateLimits& limits, const HashKey& key)
      : limits_(limits), busy_until_(0, KeyedHash{key}) {}

  // Counts the session if it is allowed. `address` is the client's in text, without port.
  bool allow(std::string_view address, Instant now);

  std::size_t remembered_addresses() const { return busy_until_.size(); }

 private:
  // A token bucket as one number: the time when it will be full again. It is empty when that is a second
  // away.
  using BusyUntil = std::int64_t;  // nanoseconds, on Instant's clock

  static bool has_token(BusyUntil until, std::int64_t per_second, std::int64_t now_ns);
  static BusyUntil take_token(BusyUntil until, std::int64_t per_second, std::int64_t now_ns);
  void forget_full_buckets(std::int64_t now_ns);

  SessionRateLimits limits_;
  BusyUntil all_busy_until_ = 0;
  boost::unordered_flat_map<std::string, BusyUntil, KeyedHash, std::equal_to<>> busy_until_;
};

}  // namespace drover::replica

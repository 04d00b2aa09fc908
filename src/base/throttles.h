// SPDX-License-Identifier: Apache-2.0
//
// Settings of ZooKeeper's throttles. All are off by default.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drover {

// A token bucket for all handshakes of a server (replica/connection_throttle.h).
struct ConnectionThrottleLimits {
  std::int64_t tokens = 0;        // size of the bucket; 0: no limit
  std::int64_t fill_time_ms = 1;  // `fill_count` tokens come in this time
  std::int64_t fill_count = 1;
  std::int64_t freeze_time_ms =
      -1;                        // between two changes of the probability; -1: nothing is dropped at random
  double drop_increase = 0.02;   // when the bucket is empty
  double drop_decrease = 0.002;  // when at most `decrease_ratio` of it is used
  double decrease_ratio = 0;
  // With weights a handshake costs that many tokens, and the bucket's numbers count global sessions.
  bool weighted = false;
  std::int64_t global_weight = 3;
  std::int64_t local_weight = 1;
  std::int64_t renew_weight = 2;
};

// Requests of clients that a server works on at the same time; others wait (replica/replica_throttle.cc).
struct RequestThrottleLimits {
  std::size_t requests_max = 0;  // 0: no limit, and nothing below has an effect
  // A stale request is dropped with its connection instead of being worked on.
  bool drop_stale = true;
  bool stale_by_connection = true;  // stale: its connection is closed
  bool stale_by_latency = false;    // stale: it has waited for longer than its session's timeout
  // A request that has waited for longer gets THROTTLEDOP; 0: never.
  std::int64_t wait_max_ms = 0;
};

}  // namespace drover

// SPDX-License-Identifier: Apache-2.0
//
// Allows one operation per interval. A failed operation does not count.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "base/metric.h"
#include "base/time.h"

namespace drover::server {

class RateLimit {
 public:
  // True: the operation may run now. If it then fails, call give_back().
  bool allow(Instant now, std::int64_t interval_ms) {
    std::lock_guard lock(mutex_);
    if (last_ && now < *last_ + interval_ms) return false;
    before_ = std::exchange(last_, now);
    return true;
  }
  void give_back() {
    std::lock_guard lock(mutex_);
    last_ = before_;
  }

 private:
  std::mutex mutex_;
  std::optional<Instant> last_;
  std::optional<Instant> before_;
};

// Counts results of the commands `snapshot` and `restore`. HTTP threads write, the metrics read.
class AdminCounts {
 public:
  struct Values {
    std::uint64_t snapshots_failed = 0;
    std::uint64_t snapshots_limited = 0;  // refused because the last one was too recent
    std::uint64_t restores_failed = 0;
    std::uint64_t restores_limited = 0;
    Extremes restore_ms;  // successful ones: from the first byte to the snapshot in its place
  };
  template <class Change>
  void count(Change change) {
    std::lock_guard lock(mutex_);
    change(values_);
  }
  Values values() const {
    std::lock_guard lock(mutex_);
    return values_;
  }

 private:
  mutable std::mutex mutex_;
  Values values_;
};

inline constexpr MetricOf<AdminCounts::Values> kAdminMetrics[] = {
    {"snapshot_error_count", &AdminCounts::Values::snapshots_failed},
    {"snapshot_rate_limited_count", &AdminCounts::Values::snapshots_limited},
    {"restore_error_count", &AdminCounts::Values::restores_failed},
    {"restore_rate_limited_count", &AdminCounts::Values::restores_limited},
    {"restore_time", &AdminCounts::Values::restore_ms},
};

// They survive a restart of the server within the process. Otherwise every restore would allow the next one,
// and its counts would be lost at once.
struct AdminLimits {
  RateLimit snapshots;
  RateLimit restores;
  AdminCounts counts;
};

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// One of something in every interval, and what failed does not count.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "base/measures.h"
#include "base/time.h"

namespace drover::server {

class RateLimit {
 public:
  // True: it may be done now. If it then fails, give_back().
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

// What became of the commands `snapshot` and `restore`. HTTP threads count, whoever shows metrics looks.
class AdminCounts {
 public:
  struct Values {
    std::uint64_t snapshots_failed = 0;
    std::uint64_t snapshots_limited = 0;  // refused because the last one was too recent
    std::uint64_t restores_failed = 0;
    std::uint64_t restores_limited = 0;
    Extremes restore_ms;  // of those that succeeded: from the first byte to the snapshot in its place
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

// They outlive a server that starts anew, or every restore would allow the next, and be forgotten at once.
struct AdminLimits {
  RateLimit snapshots;
  RateLimit restores;
  AdminCounts counts;
};

}  // namespace drover::server

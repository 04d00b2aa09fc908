// SPDX-License-Identifier: Apache-2.0
//
// One of something in every interval, and what failed does not count.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

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

// They outlive a server that starts anew, or every restore would allow the next.
struct AdminLimits {
  RateLimit snapshots;
  RateLimit restores;
};

}  // namespace drover::server

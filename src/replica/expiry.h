// SPDX-License-Identifier: Apache-2.0
//
// When does a silent session expire? Deadlines are rounded up to ticks and kept in buckets.
//
// A touch only moves a session's deadline. Its bucket is checked again when the old bucket is due. So ten
// thousand pinging clients cost ten thousand assignments and no reordering.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "base/time.h"

namespace drover::replica {

class Expiry {
 public:
  explicit Expiry(std::int64_t tick_ms) : tick_ms_(tick_ms) {}

  // Starts tracking the session, or changes its timeout from now on.
  void set(SessionId session, std::int32_t timeout_ms, Instant heard);
  // The session's client was heard; unknown sessions are ignored.
  void touch(SessionId session, Instant heard);
  void remove(SessionId session);

  // Returns the sessions whose deadline is not after `horizon`, and stops tracking them. All touches up to
  // `horizon` must be known.
  std::vector<SessionId> expired(Instant horizon);

  // For `dump`: when each tracked session would expire.
  std::map<std::int64_t, std::vector<SessionId>> by_deadline() const;
  std::size_t size() const { return leases_.size(); }
  std::size_t bucket_entries() const;

 private:
  struct Lease {
    std::int32_t timeout_ms = 0;
    std::int64_t deadline_ms = 0;
    std::int64_t bucket_ms = 0;  // where it is listed; never after the deadline
  };
  void list(SessionId session, Lease& lease);
  // Strictly after heard + timeout, at most one tick later.
  std::int64_t deadline(Instant heard, std::int32_t timeout_ms) const {
    return ((heard.ms + timeout_ms) / tick_ms_ + 1) * tick_ms_;
  }

  std::int64_t tick_ms_;
  boost::unordered_flat_map<SessionId, Lease> leases_;
  // Every tracked session is in the bucket that its lease names. Other entries of the session are stale.
  std::map<std::int64_t, std::vector<SessionId>> buckets_;
};

}  // namespace drover::replica

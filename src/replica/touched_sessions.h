// SPDX-License-Identifier: Apache-2.0
//
// The sessions that a learner has heard from since it last told its leader.
//
// They travel in the answer to a ping, which the leader must be able to read. If there are very many, they do
// not all fit. Those that were heard first go first, so that none waits forever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "wire/quorum.h"

namespace drover::replica {

class TouchedSessions {
 public:
  void add(SessionId session, std::int32_t timeout_ms) {
    if (timeouts_.insert_or_assign(session, timeout_ms).second) order_.push_back(session);
  }
  // The session has ended: its place in the order is skipped.
  void erase(SessionId session) { timeouts_.erase(session); }
  void clear() {
    timeouts_.clear();
    order_.clear();
  }

  // Appends as many as fit and forgets them.
  void take(std::string& out, std::size_t bytes_max) {
    const std::size_t most = bytes_max / wire::kTouchedSessionBytes;
    for (std::size_t taken = 0; taken < most && !order_.empty(); order_.pop_front()) {
      const auto found = timeouts_.find(order_.front());
      if (found == timeouts_.end()) continue;
      wire::append_touched(out, {found->first, found->second});
      timeouts_.erase(found);
      ++taken;
    }
  }

 private:
  boost::unordered_flat_map<SessionId, std::int32_t> timeouts_;
  std::deque<SessionId> order_;  // all sessions of timeouts_, and some that have ended
};

}  // namespace drover::replica

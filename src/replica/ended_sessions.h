// SPDX-License-Identifier: Apache-2.0
//
// The sessions that ended recently, as seen by this leader.
//
// A leader with local sessions must believe a learner that sends a request for a session that the leader does
// not know. A request that was on its way while its global session ended would slip through there: the
// learner has not yet heard of the end. It hears of it before it can send much more, so the newest sessions
// are enough.
#pragma once

#include <cstddef>
#include <deque>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/ids.h"

namespace drover::replica {

class EndedSessions {
 public:
  static constexpr std::size_t kKept = 65'536;

  void add(SessionId session) {
    if (!known_.insert(session).second) return;
    order_.push_back(session);
    if (order_.size() <= kKept) return;
    known_.erase(order_.front());
    order_.pop_front();
  }
  bool contains(SessionId session) const { return known_.contains(session); }
  void clear() {
    known_.clear();
    order_.clear();
  }

 private:
  boost::unordered_flat_set<SessionId> known_;
  std::deque<SessionId> order_;
};

}  // namespace drover::replica

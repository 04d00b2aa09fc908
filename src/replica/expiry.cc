// SPDX-License-Identifier: Apache-2.0
#include "replica/expiry.h"

#include <algorithm>

namespace drover::replica {

void Expiry::set(SessionId session, std::int32_t timeout_ms, Instant heard) {
  const Lease lease{timeout_ms, deadline(heard, timeout_ms)};
  leases_.insert_or_assign(session, lease);
  buckets_[lease.deadline_ms].push_back(session);
}

void Expiry::touch(SessionId session, Instant heard) {
  const auto found = leases_.find(session);
  if (found == leases_.end()) return;
  Lease& lease = found->second;
  lease.deadline_ms = std::max(lease.deadline_ms, deadline(heard, lease.timeout_ms));
}

void Expiry::remove(SessionId session) { leases_.erase(session); }

std::vector<SessionId> Expiry::expired(Instant horizon) {
  std::vector<SessionId> out;
  while (!buckets_.empty() && buckets_.begin()->first <= horizon.ms) {
    const std::vector<SessionId> due = std::move(buckets_.begin()->second);
    buckets_.erase(buckets_.begin());
    for (const SessionId session : due) {
      const auto found = leases_.find(session);
      if (found == leases_.end()) continue;  // Closed, or expired through another bucket.
      if (found->second.deadline_ms > horizon.ms) {
        buckets_[found->second.deadline_ms].push_back(session);
        continue;
      }
      out.push_back(session);
      leases_.erase(found);
    }
  }
  return out;
}

std::map<std::int64_t, std::vector<SessionId>> Expiry::by_deadline() const {
  std::map<std::int64_t, std::vector<SessionId>> out;
  for (const auto& [session, lease] : leases_) out[lease.deadline_ms].push_back(session);
  return out;
}

}  // namespace drover::replica

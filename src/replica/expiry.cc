// SPDX-License-Identifier: Apache-2.0
#include "replica/expiry.h"

#include <algorithm>

namespace drover::replica {

void Expiry::set(SessionId session, std::int32_t timeout_ms, Instant heard) {
  Lease& lease = leases_[session];
  lease.timeout_ms = timeout_ms;
  lease.deadline_ms = deadline(heard, timeout_ms);
  if (lease.bucket_ms == 0 || lease.deadline_ms < lease.bucket_ms) list(session, lease);
}

void Expiry::list(SessionId session, Lease& lease) {
  lease.bucket_ms = lease.deadline_ms;
  buckets_[lease.bucket_ms].push_back(session);
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
    const auto [bucket_ms, due] = std::move(*buckets_.begin());
    buckets_.erase(buckets_.begin());
    for (const SessionId session : due) {
      const auto found = leases_.find(session);
      // Closed, or listed elsewhere since. A session counts in one bucket only; otherwise frequent reconnects
      // would add more and more entries.
      if (found == leases_.end() || found->second.bucket_ms != bucket_ms) continue;
      if (found->second.deadline_ms > horizon.ms) {
        list(session, found->second);
        continue;
      }
      out.push_back(session);
      leases_.erase(found);
    }
  }
  return out;
}

std::size_t Expiry::bucket_entries() const {
  std::size_t entries = 0;
  for (const auto& [deadline_ms, sessions] : buckets_) entries += sessions.size();
  return entries;
}

std::map<std::int64_t, std::vector<SessionId>> Expiry::by_deadline() const {
  std::map<std::int64_t, std::vector<SessionId>> out;
  for (const auto& [session, lease] : leases_) out[lease.deadline_ms].push_back(session);
  return out;
}

}  // namespace drover::replica

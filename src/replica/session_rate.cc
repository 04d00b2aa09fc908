// SPDX-License-Identifier: Apache-2.0
#include "replica/session_rate.h"

#include <algorithm>

#include "base/client_address.h"

namespace drover::replica {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// With more addresses than this within a second, the limit for all is the one that counts.
constexpr std::size_t kAddressesMax = 16'384;

}  // namespace

bool SessionRate::has_token(BusyUntil until, std::int64_t per_second, std::int64_t now_ns) {
  return per_second <= 0 || take_token(until, per_second, now_ns) <= now_ns + kSecondNs;
}

SessionRate::BusyUntil SessionRate::take_token(BusyUntil until, std::int64_t per_second,
                                               std::int64_t now_ns) {
  return per_second <= 0 ? 0 : std::max(until, now_ns) + kSecondNs / per_second;
}

bool SessionRate::allow(std::string_view address, Instant now) {
  const std::int64_t now_ns = now.ms * 1'000'000;
  if (!has_token(all_busy_until_, limits_.per_second, now_ns)) return false;
  if (limits_.per_second_per_address > 0) {
    if (busy_until_.size() >= kAddressesMax) forget_full_buckets(now_ns);
    const std::string_view client = client_network(address);
    const auto found = busy_until_.find(client);
    const BusyUntil until = found == busy_until_.end() ? 0 : found->second;
    if (!has_token(until, limits_.per_second_per_address, now_ns)) return false;
    const BusyUntil next = take_token(until, limits_.per_second_per_address, now_ns);
    if (found != busy_until_.end()) {
      found->second = next;
    } else if (busy_until_.size() < kAddressesMax) {
      busy_until_.emplace(client, next);
    }
  }
  all_busy_until_ = take_token(all_busy_until_, limits_.per_second, now_ns);
  return true;
}

void SessionRate::forget_full_buckets(std::int64_t now_ns) {
  boost::unordered::erase_if(busy_until_, [&](const auto& entry) { return entry.second <= now_ns; });
}

}  // namespace drover::replica

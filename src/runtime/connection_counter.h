// SPDX-License-Identifier: Apache-2.0
//
// Counts connections, in total and per address, and decides whether one more is accepted. An IPv6 /64 network
// counts as one address.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/client_address.h"
#include "base/ensure.h"

namespace drover::server {

class ConnectionCounter {
 public:
  // 0: no limit.
  ConnectionCounter(std::size_t per_ip_max, std::size_t total_max)
      : per_ip_max_(per_ip_max), total_max_(total_max) {}

  enum class Verdict { kWelcome, kTooManyFromThere, kTooMany };
  // Counts the connection if it is accepted; leave() must follow.
  Verdict enter(std::string_view ip) {
    std::lock_guard lock(mutex_);
    if (total_max_ != 0 && total_ >= total_max_) {
      ++rejected_;
      return Verdict::kTooMany;
    }
    const std::string_view client = client_network(ip);
    const auto found = by_client_.find(client);
    if (per_ip_max_ != 0 && found != by_client_.end() && found->second >= per_ip_max_) {
      ++rejected_;
      return Verdict::kTooManyFromThere;
    }
    ++(found != by_client_.end() ? found : by_client_.emplace(client, 0).first)->second;
    ++total_;
    return Verdict::kWelcome;
  }

  void leave(std::string_view ip) {
    std::lock_guard lock(mutex_);
    const auto found = by_client_.find(client_network(ip));
    ENSURE(total_ > 0 && found != by_client_.end(), "only a counted connection leaves");
    --total_;
    if (--found->second == 0) by_client_.erase(found);
  }

  std::size_t total() const {
    std::lock_guard lock(mutex_);
    return total_;
  }
  std::size_t total_max() const { return total_max_; }
  std::uint64_t rejected() const {
    std::lock_guard lock(mutex_);
    return rejected_;
  }

 private:
  const std::size_t per_ip_max_;
  const std::size_t total_max_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> by_client_;
  std::size_t total_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// How many connections there are, in all and from each address, and whether one more is welcome.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace drover::server {

class ConnectionCounter {
 public:
  // 0: no limit.
  ConnectionCounter(std::size_t per_ip_max, std::size_t total_max)
      : per_ip_max_(per_ip_max), total_max_(total_max) {}

  enum class Verdict { kWelcome, kTooManyFromThere, kTooMany };
  // Counts it when it is welcome; leave() must follow.
  Verdict enter(const std::string& ip) {
    std::lock_guard lock(mutex_);
    if (total_max_ != 0 && total_ >= total_max_) {
      ++rejected_;
      return Verdict::kTooMany;
    }
    std::size_t& from_there = by_ip_[ip];
    if (per_ip_max_ != 0 && from_there >= per_ip_max_) {
      ++rejected_;
      return Verdict::kTooManyFromThere;
    }
    ++from_there;
    ++total_;
    return Verdict::kWelcome;
  }

  void leave(const std::string& ip) {
    std::lock_guard lock(mutex_);
    --total_;
    const auto found = by_ip_.find(ip);
    if (--found->second == 0) by_ip_.erase(found);
  }

  std::size_t total() const {
    std::lock_guard lock(mutex_);
    return total_;
  }
  std::uint64_t rejected() const {
    std::lock_guard lock(mutex_);
    return rejected_;
  }

 private:
  const std::size_t per_ip_max_;
  const std::size_t total_max_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> by_ip_;
  std::size_t total_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// Limits the total size of all request bodies in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace drover::server {

// Outlives all shares.
class HttpBudget {
 public:
  explicit HttpBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // The share of one request, until it is destroyed or cleared.
  class Share {
   public:
    explicit Share(HttpBudget& budget) : budget_(budget) {}
    ~Share() { clear(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False: the limit would be exceeded.
    bool grow(std::size_t bytes) {
      if (budget_.held_.fetch_add(bytes) + bytes > budget_.bytes_max_) {
        budget_.held_.fetch_sub(bytes);
        return false;
      }
      held_ += bytes;
      return true;
    }
    void clear() { budget_.held_.fetch_sub(std::exchange(held_, 0)); }

   private:
    HttpBudget& budget_;
    std::size_t held_ = 0;
  };

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> held_{0};
};

}  // namespace drover::server

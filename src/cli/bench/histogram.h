// SPDX-License-Identifier: Apache-2.0
//
// A histogram of latencies from nanoseconds to minutes in 20 kB: 64 buckets per power of two, so that every
// value is known to 1.6 % (as in HdrHistogram).
//
//   0 … 63          a bucket each
//   64 … 127        a bucket each (64 for this power of two)
//   128 … 255       a bucket for two values, and so on
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace drover::cli::observe {

// One thread adds; any thread may read at the same time and sees a part of the values.
class Histogram {
 public:
  void add(std::int64_t value);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  std::int64_t max() const { return max_.load(std::memory_order_relaxed); }
  double mean() const;
  // The percentile for a share (0 … 1) of all values, accurate to the width of a bucket.
  std::int64_t quantile(double share) const;

 private:
  static constexpr int kBits = 6, kPowers = 42;
  static constexpr std::size_t kPerPower = 1 << kBits;
  static std::size_t bucket_of(std::uint64_t value);
  static std::int64_t highest_in(std::size_t bucket);

  std::array<std::atomic<std::uint64_t>, kPerPower * kPowers> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::int64_t> max_{0};
};

}  // namespace drover::cli::observe

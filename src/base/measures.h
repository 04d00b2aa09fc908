// SPDX-License-Identifier: Apache-2.0
//
// Compact statistics of measured values: Extremes (min, max, mean) and Histogram (percentiles).
//
// Both can be added up. So each thread has its own, and threads share no cache line.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace drover {

struct Extremes {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t min = 0;
  std::uint64_t max = 0;

  void add(std::uint64_t value) { add(Extremes{1, value, value, value}); }
  void add(const Extremes& other) {
    if (other.count == 0) return;
    min = count == 0 ? other.min : std::min(min, other.min);
    max = std::max(max, other.max);
    count += other.count;
    sum += other.sum;
  }
  friend bool operator==(const Extremes&, const Extremes&) = default;
};

// Counts values in buckets. Buckets are exact below 8 and at most a quarter wide above. That is enough to
// tell 20 ms from 25 ms, with 112 numbers.
class Histogram {
 public:
  void add(std::uint64_t value) {
    ++buckets_[bucket_of(value)];
    extremes_.add(value);
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    extremes_.add(other.extremes_);
  }

  // The values added after `earlier`, a former state of this histogram. Only count and sum of the extremes
  // are known.
  Histogram since(const Histogram& earlier) const {
    Histogram added;
    for (std::size_t i = 0; i < kBuckets; ++i) added.buckets_[i] = buckets_[i] - earlier.buckets_[i];
    added.extremes_.count = extremes_.count - earlier.extremes_.count;
    added.extremes_.sum = extremes_.sum - earlier.extremes_.sum;
    return added;
  }

  const Extremes& extremes() const { return extremes_; }

  // The lower end of the first bucket at which at least `per_mille` of 1000 values are counted; 0 if there
  // are no values.
  std::uint64_t percentile(std::uint64_t per_mille) const {
    const std::uint64_t wanted = (extremes_.count * per_mille + 999) / 1000;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= wanted && seen > 0) return std::max(lowest_of(i), extremes_.min);
    }
    return 0;
  }

 private:
  static constexpr std::size_t kBuckets = 112;
  // Four buckets for each power of two from 4 on; 0 to 3 have one bucket each.
  static constexpr std::size_t bucket_of(std::uint64_t value) {
    if (value < 4) return static_cast<std::size_t>(value);
    const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
    const auto quarter = static_cast<std::size_t>(value >> (power - 2)) & 3;
    return std::min(kBuckets - 1, (power - 1) * 4 + quarter);
  }
  static constexpr std::uint64_t lowest_of(std::size_t bucket) {
    return bucket < 4 ? bucket : std::uint64_t{4 + bucket % 4} << (bucket / 4 - 1);
  }

  std::array<std::uint64_t, kBuckets> buckets_{};
  Extremes extremes_;
};

}  // namespace drover

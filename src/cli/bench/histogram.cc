// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace drover::cli::observe {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// There is one writer: no need for an atomic addition.
void increase(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
  counter.store(counter.load(kRelaxed) + by, kRelaxed);
}

}  // namespace

std::size_t Histogram::bucket_of(std::uint64_t value) {
  if (value < kPerPower) return static_cast<std::size_t>(value);
  const int power = std::bit_width(value) - 1;
  const std::size_t within = (value >> (power - kBits)) - kPerPower;
  const std::size_t bucket = (static_cast<std::size_t>(power - kBits + 1) << kBits) + within;
  return std::min(bucket, kPerPower * kPowers - 1);
}

std::int64_t Histogram::highest_in(std::size_t bucket) {
  if (bucket < kPerPower) return static_cast<std::int64_t>(bucket);
  const int shift = static_cast<int>(bucket >> kBits) - 1;
  const std::uint64_t first = (kPerPower + (bucket & (kPerPower - 1))) << shift;
  return static_cast<std::int64_t>(first + (std::uint64_t{1} << shift) - 1);
}

void Histogram::add(std::int64_t value) {
  value = std::max<std::int64_t>(value, 0);
  increase(buckets_[bucket_of(static_cast<std::uint64_t>(value))], 1);
  increase(count_, 1);
  increase(sum_, static_cast<std::uint64_t>(value));
  if (value > max()) max_.store(value, kRelaxed);
}

void Histogram::merge(const Histogram& other) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::uint64_t more = other.buckets_[i].load(kRelaxed);
    if (more == 0) continue;
    increase(buckets_[i], more);
    count += more;  // Not its count_, which may be ahead of what we have seen of its buckets.
  }
  increase(count_, count);
  increase(sum_, other.sum_.load(kRelaxed));
  max_.store(std::max(max(), other.max()), kRelaxed);
}

double Histogram::mean() const {
  return count() == 0 ? 0 : static_cast<double>(sum_.load(kRelaxed)) / static_cast<double>(count());
}

std::int64_t Histogram::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count())));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i].load(kRelaxed);
    if (seen >= std::max<std::uint64_t>(wanted, 1)) return std::min(highest_in(i), max());
  }
  return max();
}

}  // namespace drover::cli::observe

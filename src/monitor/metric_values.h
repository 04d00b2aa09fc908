// SPDX-License-Identifier: Apache-2.0
//
// Converts measurements to metrics.
#pragma once

#include <cstdint>

#include "base/measures.h"
#include "monitor/four_letter_words.h"

namespace drover::server {

inline Summary summary_of(std::uint64_t count, std::uint64_t sum, std::uint64_t min, std::uint64_t max) {
  return {static_cast<std::int64_t>(count), static_cast<std::int64_t>(sum), static_cast<std::int64_t>(min),
          static_cast<std::int64_t>(max)};
}

inline Summary summary_of(const Extremes& e) { return summary_of(e.count, e.sum, e.min, e.max); }

inline Percentiles percentiles_of(const Histogram& h) {
  const auto at = [&](std::uint64_t per_mille) { return static_cast<std::int64_t>(h.percentile(per_mille)); };
  return {summary_of(h.extremes()), at(500), at(950), at(990), at(999)};
}

inline Metric counter_metric(std::string_view name, std::uint64_t value) {
  return {std::string(name), static_cast<std::int64_t>(value), Metric::Kind::kCounter};
}

}  // namespace drover::server

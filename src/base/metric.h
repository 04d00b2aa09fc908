// SPDX-License-Identifier: Apache-2.0
//
// Declares metrics. A table beside each struct of counters has one row per metric: its name and how to read
// it.
//
//   struct LearnerCounts {
//     std::uint64_t commits = 0;
//   };
//   inline constexpr MetricOf<LearnerCounts> kLearnerMetrics[] = {
//       {"learner_commit_received_count", &LearnerCounts::commits},
//   };
//
// server/metrics.cc reads all tables. `mntr`, `monitor` and `/metrics` print what it has read.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/measures.h"

namespace drover {

enum class MetricKind : std::uint8_t { kCounter, kGauge };  // of a number; a counter only grows

// Values of which Prometheus gets the median and `mntr` no percentile, as Java's BASIC summaries.
struct Median {
  Extremes summary;
  std::uint64_t p50 = 0;
};

template <class Source>
struct MetricOf {
  template <class Value>
  using Field = Value Source::*;
  template <class Value>
  using Function = Value (*)(const Source&);

  std::string_view name;  // empty: the field is only part of other metrics
  std::variant<Field<std::uint64_t>, Field<std::int64_t>, Field<std::atomic<std::uint64_t>>,
               Field<std::atomic<std::int64_t>>, Field<Extremes>, Field<Histogram>, Function<std::uint64_t>,
               Function<std::int64_t>, Function<double>, Function<std::string>, Function<Extremes>,
               Function<Histogram>, Function<Median>>
      reader;
  MetricKind kind = MetricKind::kCounter;
};

// Adds every field of the table.
template <class Source>
void add_fields(const auto& table, Source& to, const Source& from) {
  for (const MetricOf<Source>& metric : table) {
    std::visit(
        [&]<class Reader>(Reader reader) {
          if constexpr (!std::is_member_object_pointer_v<Reader>) {
            return;  // computed from fields
          } else if constexpr (requires { (to.*reader).add(from.*reader); }) {
            (to.*reader).add(from.*reader);
          } else {
            to.*reader += from.*reader;
          }
        },
        metric.reader);
  }
}

}  // namespace drover

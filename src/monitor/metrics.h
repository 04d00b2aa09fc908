// SPDX-License-Identifier: Apache-2.0
//
// Metrics with their values, as `mntr`, `monitor` and `/metrics` print them. base/metric.h declares them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/metric.h"

namespace drover::server {

struct Percentiles {
  Extremes summary;
  std::uint64_t p50 = 0;
  std::uint64_t p95 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t p999 = 0;
};

// A measured value under one of Java's names.
struct Metric {
  std::string name;
  std::variant<std::int64_t, double, std::string, Extremes, Median, Percentiles> value;
  MetricKind kind = MetricKind::kGauge;
};

// One line of `mntr`: `zk_<name>\t<value>`. A summary has several: avg_ min_ max_ cnt_ sum_ and, with
// percentiles, p50_ p95_ p99_ p999_.
struct MetricLine {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
};
std::vector<MetricLine> lines_of(const Metric& metric);

// As Java's AvgMinMaxCounter shows it: rounded to four decimals; 0 if nothing was counted.
double average_of(const Extremes& values);

inline std::int64_t metric_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }
inline std::int64_t metric_value(std::int64_t number) { return number; }
inline double metric_value(double number) { return number; }
inline std::string metric_value(std::string text) { return text; }
inline Extremes metric_value(const Extremes& summary) { return summary; }
inline Median metric_value(const Median& median) { return median; }
inline Percentiles metric_value(const Histogram& h) {
  return {h.extremes(), h.percentile(500), h.percentile(950), h.percentile(990), h.percentile(999)};
}

// Reads every metric of the table that has a name.
template <class Source>
void append_metrics(const auto& table, const Source& source, std::vector<Metric>& metrics) {
  for (const MetricOf<Source>& each : table) {
    if (each.name.empty()) continue;
    std::visit(
        [&](auto reader) {
          metrics.push_back({std::string(each.name), metric_value(std::invoke(reader, source)), each.kind});
        },
        each.reader);
  }
}

// Metrics of Java internals that do not exist here (uncounted_metrics.cc).
void append_uncounted_metrics(std::vector<Metric>& metrics);

}  // namespace drover::server

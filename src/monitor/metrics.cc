// SPDX-License-Identifier: Apache-2.0
#include "monitor/metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace drover::server {
namespace {

struct LineMaker {
  const std::string& name;
  std::vector<MetricLine>& lines;

  void add(std::string_view prefix, std::uint64_t number) const {
    lines.push_back({fmt::format("{}_{}", prefix, name), static_cast<std::int64_t>(number)});
  }
  void operator()(const Extremes& summary) const {
    lines.push_back({fmt::format("avg_{}", name), average_of(summary)});
    add("min", summary.min);
    add("max", summary.max);
    add("cnt", summary.count);
    add("sum", summary.sum);
  }
  void operator()(const Median& median) const { (*this)(median.summary); }
  void operator()(const Percentiles& p) const {
    (*this)(p.summary);
    add("p50", p.p50);
    add("p95", p.p95);
    add("p99", p.p99);
    add("p999", p.p999);
  }
  void operator()(const auto& single) const { lines.push_back({name, single}); }
};

}  // namespace

double average_of(const Extremes& values) {
  if (values.count == 0) return 0;
  return std::round(static_cast<double>(values.sum) / static_cast<double>(values.count) * 10'000) / 10'000;
}

std::vector<MetricLine> lines_of(const Metric& metric) {
  std::vector<MetricLine> lines;
  std::visit(LineMaker{metric.name, lines}, metric.value);
  return lines;
}

}  // namespace drover::server

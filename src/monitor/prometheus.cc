// SPDX-License-Identifier: Apache-2.0
#include "monitor/prometheus.h"

#include <fmt/format.h>

#include <iterator>

namespace drover::server {
namespace {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void begin(const Metric& metric, std::string_view type) {
    print("# HELP {} {}\n# TYPE {} {}\n", metric.name, metric.name, metric.name, type);
  }
  void single(const Metric& metric, auto number) {
    begin(metric, metric.kind == MetricKind::kCounter ? "counter" : "gauge");
    print("{} {}\n", metric.name, number);
  }
  void quantile(const Metric& metric, std::string_view which, std::uint64_t value) {
    print("{}{{quantile=\"{}\",}} {}\n", metric.name, which, value);
  }
  void totals(const Metric& metric, const Extremes& summary) {
    print("{}_count {}\n{}_sum {}\n", metric.name, summary.count, metric.name, summary.sum);
  }

 private:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }
  std::string& out_;
};

struct MetricPrinter {
  const Metric& metric;
  Writer& writer;

  void operator()(std::int64_t number) const { writer.single(metric, number); }
  void operator()(double number) const { writer.single(metric, number); }
  void operator()(const std::string&) const {}
  void operator()(const Extremes& summary) const {
    writer.begin(metric, "summary");
    writer.totals(metric, summary);
  }
  void operator()(const Median& median) const {
    writer.begin(metric, "summary");
    writer.quantile(metric, "0.5", median.p50);
    writer.totals(metric, median.summary);
  }
  void operator()(const Percentiles& p) const {
    writer.begin(metric, "summary");
    writer.quantile(metric, "0.5", p.p50);
    writer.quantile(metric, "0.95", p.p95);
    writer.quantile(metric, "0.99", p.p99);
    writer.totals(metric, p.summary);
  }
};

}  // namespace

std::string prometheus_text(const std::vector<Metric>& metrics) {
  std::string out;
  Writer writer(out);
  for (const Metric& metric : metrics) std::visit(MetricPrinter{metric, writer}, metric.value);
  return out;
}

}  // namespace drover::server

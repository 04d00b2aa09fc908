// SPDX-License-Identifier: Apache-2.0
#include "monitor/prometheus.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

TEST(Prometheus, HasATypeForEveryMetricAndQuantilesForSummaries) {
  const Extremes summary{.count = 3, .sum = 9, .min = 1, .max = 5};
  const std::vector<Metric> metrics{
      {"znode_count", 5},
      {"avg_latency", 0.25},
      {"response_bytes", 12, MetricKind::kCounter},
      {"peer_state", "leading"},
      {"dbinittime", summary},
      {"fsynctime", Median{summary, 3}},
      {"readlatency", Percentiles{.summary = summary, .p50 = 3, .p95 = 4, .p99 = 5, .p999 = 5}}};
  EXPECT_EQ(prometheus_text(metrics), R"(# HELP znode_count znode_count
# TYPE znode_count gauge
znode_count 5
# HELP avg_latency avg_latency
# TYPE avg_latency gauge
avg_latency 0.25
# HELP response_bytes response_bytes
# TYPE response_bytes counter
response_bytes 12
# HELP dbinittime dbinittime
# TYPE dbinittime summary
dbinittime_count 3
dbinittime_sum 9
# HELP fsynctime fsynctime
# TYPE fsynctime summary
fsynctime{quantile="0.5",} 3
fsynctime_count 3
fsynctime_sum 9
# HELP readlatency readlatency
# TYPE readlatency summary
readlatency{quantile="0.5",} 3
readlatency{quantile="0.95",} 4
readlatency{quantile="0.99",} 5
readlatency_count 3
readlatency_sum 9
)");
}

}  // namespace
}  // namespace drover::server

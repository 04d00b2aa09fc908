// SPDX-License-Identifier: Apache-2.0
//
// Metrics in Prometheus' text format, under the names of ZooKeeper's exporter.
#pragma once

#include <string>
#include <vector>

#include "monitor/metrics.h"

namespace drover::server {

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

// Skips text metrics: the format has no place for them.
std::string prometheus_text(const std::vector<Metric>& metrics);

}  // namespace drover::server

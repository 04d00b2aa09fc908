// SPDX-License-Identifier: Apache-2.0
//
// Metrics in Prometheus' text form, under the names that ZooKeeper's exporter gives them.
#pragma once

#include <string>
#include <vector>

#include "monitor/four_letter_words.h"

namespace drover::server {

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

// Metrics that are words have no place in it.
std::string prometheus_text(const std::vector<Metric>& metrics);

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// /metrics: the server's metrics in Prometheus' text form, under the names that ZooKeeper's exporter gives
// them.
#pragma once

#include <string>
#include <vector>

#include "server/four_letter_words.h"
#include "server/http_router.h"
#include "server/server_inside.h"

namespace drover::server {

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

// Metrics that are words have no place in it.
std::string prometheus_text(const std::vector<Metric>& metrics);

// `inside` outlives the router.
void add_metrics(HttpRouter& router, const ServerInside& inside);

}  // namespace drover::server

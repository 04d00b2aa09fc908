// SPDX-License-Identifier: Apache-2.0
//
// /metrics, for Prometheus.
#pragma once

#include "http/router.h"
#include "runtime/server_inside.h"

namespace drover::server {

// `inside` outlives the router.
void add_metrics(HttpRouter& router, const ServerInside& inside);

}  // namespace drover::server

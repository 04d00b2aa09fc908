// SPDX-License-Identifier: Apache-2.0
#include "http/metrics_route.h"

#include "monitor/prometheus.h"

namespace drover::server {

void add_metrics(HttpRouter& router, const ServerInside& inside) {
  router.get(
      "/metrics",
      [&inside](const HttpRequest&) {
        HttpResponse response = text_response(200, prometheus_text(inside.facts({.metrics = true}).metrics));
        response.content_type = kPrometheusType;
        return response;
      },
      HttpPace::kGlance);
}

}  // namespace drover::server

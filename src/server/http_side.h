// SPDX-License-Identifier: Apache-2.0
//
// The server's HTTP interface: its paths and its ports.
//
// The admin port has ZooKeeper's commands, /metrics, and the probes of orchestrators (docs/http.md). With
// ZooKeeper's PrometheusMetricsProvider, /metrics also has its own port.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dashboard/dashboard.h"
#include "http/admin_routes.h"
#include "http/server.h"
#include "runtime/server_inside.h"

namespace drover::server {

class HttpSide {
 public:
  // Fails only if a configured port cannot be opened, or if TLS stores cannot be loaded.
  static IoResult<std::unique_ptr<HttpSide>> open(ServerInside inside);

  // Admin port; 0: disabled.
  int port() const { return admin_ ? admin_->port() : 0; }
  // One line per port: "http://127.0.0.1:8080".
  std::vector<std::string> what_is_served() const;
  // Called by one thread, from time to time.
  void reload_changed_tls();

 private:
  explicit HttpSide(ServerInside inside) : inside_(std::move(inside)), commands_(inside_) {}
  void add_routes();
  std::optional<HttpResponse> refuse(const HttpRequest& request);
  IoResult<void> open_admin();
  IoResult<void> open_metrics();

  ServerInside inside_;
  AdminRoutes commands_;
  HttpRouter admin_routes_;
  HttpRouter metrics_routes_;
  std::unique_ptr<Dashboard> dashboard_;
  std::unique_ptr<net::TlsContextHolder> tls_;
  std::unique_ptr<HttpServer> admin_;  // last: their threads use all of the above
  std::unique_ptr<HttpServer> metrics_;
};

}  // namespace drover::server

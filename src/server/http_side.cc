// SPDX-License-Identifier: Apache-2.0
#include "server/http_side.h"

#include <fmt/format.h>

#include "dashboard/access.h"
#include "dashboard/json.h"
#include "http/hosts.h"
#include "http/metrics_route.h"
#include "http/probes.h"
#include "log/log.h"

namespace drover::server {
namespace {

std::string shown_host(const std::string& host) {
  if (host.empty()) return "0.0.0.0";
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

// Adds the name of the responsible key to the error.
IoError named(std::string_view key, IoError error) {
  error.what = fmt::format("{}: {}", key, error.what);
  return error;
}

// Uses the stores of the quorum TLS, as Java does. But it does not verify the client's host name, only that
// we trust its certificate.
net::TlsOptions tls_options(const ServerConfig& config) {
  net::TlsOptions options = to_tls_options(config.quorum_tls, net::TlsRole::kServer);
  options.client_auth = config.admin.need_client_auth ? net::ClientAuth::kNeed : net::ClientAuth::kNone;
  options.client_hostname_verification = false;
  return options;
}

// Orchestrators request these by a service name, and they contain no secrets.
bool is_for_everybody(std::string_view path) {
  return path == "/live" || path == "/ready" || path == "/leader" || path == "/metrics";
}

}  // namespace

IoResult<std::unique_ptr<HttpSide>> HttpSide::open(ServerInside inside) {
  std::unique_ptr<HttpSide> side(new HttpSide(std::move(inside)));
  side->add_routes();
  TRY(side->open_admin());
  TRY(side->open_metrics());
  return side;
}

void HttpSide::add_routes() {
  add_probes(admin_routes_, inside_);
  add_metrics(admin_routes_, inside_);
  commands_.add_to(admin_routes_);
  if (inside_.config.admin.enabled) {
    dashboard_ = std::make_unique<Dashboard>(inside_);
    dashboard_->add_routes(admin_routes_);
  }
  add_metrics(metrics_routes_, inside_);
}

std::optional<HttpResponse> HttpSide::refuse(const HttpRequest& request) {
  if (is_for_everybody(request.path)) return std::nullopt;
  if (!is_our_host(request.header("Host"), inside_.config))
    return problem(421, "WrongHost",
                   "This Host header is not allowed; add the name to admin.dashboard.hosts.");
  if (request.method != HttpMethod::kGet && request.path.starts_with("/api/"))
    return refuse_change(request, inside_);
  return commands_.answer_without_body(request);
}

IoResult<void> HttpSide::open_admin() {
  const AdminSettings& settings = inside_.config.admin;
  if (!settings.enabled) return {};
  HttpServerOptions options;
  options.host = settings.address;
  options.port = settings.port.value_or(kAdminPort);
  options.idle_timeout_ms = settings.idle_timeout_ms;
  options.use_forwarded_for = inside_.config.auth.use_forwarded_for;
  options.guard = [this](const HttpRequest& request) { return refuse(request); };
  if (settings.uses_tls()) {
    TRY_ASSIGN(tls_, net::TlsContextHolder::load(tls_options(inside_.config)));
    options.tls = tls_.get();
    options.plain = !settings.force_https;
    options.came_plain = &inside_.insecure_admin;
  }
  auto opened = HttpServer::open(options, admin_routes_);
  if (opened) {
    admin_ = *std::move(opened);
  } else if (settings.port) {
    return std::unexpected(named("admin.serverPort", opened.error()));
  } else {
    log_warn(
        "http",
        "{}: this server has no HTTP port, so no commands, metrics and dashboard. Set admin.serverPort to a "
        "free port, or admin.enableServer=false",
        opened.error().what);
    dashboard_.reset();  // No port serves it.
  }
  return {};
}

IoResult<void> HttpSide::open_metrics() {
  const MetricsSettings& settings = inside_.config.metrics;
  if (!settings.prometheus) return {};
  HttpServerOptions options;
  options.host = settings.host;
  options.port = settings.port;
  auto opened = HttpServer::open(options, metrics_routes_);
  if (!opened) return std::unexpected(named("metricsProvider.httpPort", opened.error()));
  metrics_ = *std::move(opened);
  return {};
}

std::vector<std::string> HttpSide::what_is_served() const {
  std::vector<std::string> lines;
  const ServerConfig& config = inside_.config;
  if (admin_) {
    lines.push_back(fmt::format(
        "{}://{}:{}{}", config.admin.force_https ? "https" : "http", shown_host(config.admin.address),
        admin_->port(), config.admin.port_unification && !config.admin.force_https ? " (and https)" : ""));
  }
  if (metrics_)
    lines.push_back(fmt::format("http://{}:{}/metrics", shown_host(config.metrics.host), metrics_->port()));
  return lines;
}

void HttpSide::reload_changed_tls() {
  if (!tls_) return;
  if (auto changed = tls_->poll_for_changes(); !changed) {
    log_error("tls", "cannot reload the key and trust stores of HTTP, the old ones stay in use: {}",
              changed.error().what);
  } else if (*changed) {
    log_info("tls", "key and trust stores of HTTP were reloaded");
  }
}

}  // namespace drover::server

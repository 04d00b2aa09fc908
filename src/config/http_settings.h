// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's `admin.*` and `metricsProvider.*` families as the configuration holds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drover::server {

inline constexpr std::uint16_t kAdminPort = 8080;

struct AdminSettings {
  bool enabled = true;
  // Java listens everywhere, and so shows connections, paths and configuration to whoever can reach it.
  std::string address = "127.0.0.1";
  // Unset: 8080 if it is free. A server does not fail to serve its clients for a port that nobody asked for.
  std::optional<std::uint16_t> port;
  std::string command_url = "/commands";
  int idle_timeout_ms = 30'000;
  bool port_unification = false;  // HTTP and HTTPS on the one port
  bool force_https = false;       // HTTPS only
  bool need_client_auth = false;  // HTTPS only from those whose certificate we trust
  bool snapshot_enabled = true;
  bool restore_enabled = true;
  std::int64_t restore_max_state_mb = 0;  // 0: by the memory that there is (trial_state.h)
  int rate_limit_interval_ms = 300'000;   // between two snapshots, and between two restores

  // The dashboard may change nodes, for those who prove who they are.
  bool dashboard_edit = false;
  // Names by which browsers know this server, besides its address and the machine's name: lower case.
  std::vector<std::string> dashboard_hosts{};

  bool uses_tls() const { return port_unification || force_https; }
};

// A port for Prometheus alone, besides /metrics on the admin port.
struct MetricsSettings {
  bool prometheus = false;
  std::string host;  // empty: every address, as in Java; whoever names the provider wants to be scraped
  std::uint16_t port = 7000;
};

}  // namespace drover::server

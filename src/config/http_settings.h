// SPDX-License-Identifier: Apache-2.0
//
// The configuration of ZooKeeper's `admin.*` and `metricsProvider.*` families.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drover::server {

inline constexpr std::uint16_t kAdminPort = 8080;

struct AdminSettings {
  bool enabled = true;
  // Java listens on all addresses, so it shows connections, paths and configuration to everyone who can reach
  // it.
  std::string address = "127.0.0.1";
  // Unset: 8080 if it is free. If it is not, the server still starts: nobody asked for this port.
  std::optional<std::uint16_t> port;
  std::string command_url = "/commands";
  int idle_timeout_ms = 30'000;
  bool port_unification = false;  // HTTP and HTTPS on one port
  bool force_https = false;       // HTTPS only
  bool need_client_auth = false;  // HTTPS clients need a trusted certificate
  bool snapshot_enabled = true;
  bool restore_enabled = true;
  std::int64_t restore_max_state_mb = 0;  // 0: derived from the machine's memory (trial_state.h)
  int rate_limit_interval_ms = 300'000;   // between two snapshots, and between two restores

  // The dashboard can change nodes, for authenticated users.
  bool dashboard_edit = false;
  // Host names that browsers use for this server, besides its address and the machine's name. Lower case.
  std::vector<std::string> dashboard_hosts{};

  bool uses_tls() const { return port_unification || force_https; }
};

// A separate port for Prometheus, besides /metrics on the admin port.
struct MetricsSettings {
  bool prometheus = false;
  std::string host;  // empty: every address, as in Java: naming the provider means to be scraped
  std::uint16_t port = 7000;
};

}  // namespace drover::server

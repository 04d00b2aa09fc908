// SPDX-License-Identifier: Apache-2.0
//
// Asks the other servers of the ensemble for their state with `srvr` on the client port, which every
// ZooKeeper answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "config/config.h"

namespace drover::server {

// A server's answer.
struct ServerSaid {
  std::string version;
  std::string mode;  // "leader"; empty: it does not serve clients
  Zxid zxid{};
  std::int64_t connections = 0;
  std::int64_t outstanding = 0;
  std::int64_t nodes = 0;
  double latency_min = 0;
  double latency_avg = 0;
  double latency_max = 0;
};
// None: not an answer to `srvr`.
std::optional<ServerSaid> parse_srvr(std::string_view text);

struct ProbeResult {
  std::optional<ServerSaid> said;
  std::string error{};  // why there is no answer
};

// The client endpoints of the other servers. A server without a client port in its line has the same port as
// we, if it is on another machine. On this machine its port is unknown.
std::map<ServerId, Endpoint> client_endpoints(const ServerConfig& config, const Membership& members);

// Asks all servers in parallel. Takes at most one second. Blocks, and may query a name server.
std::map<ServerId, ProbeResult> probe(const std::map<ServerId, Endpoint>& servers);

}  // namespace drover::server

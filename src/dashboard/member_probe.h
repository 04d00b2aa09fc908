// SPDX-License-Identifier: Apache-2.0
//
// Asks the other servers of the ensemble how they are, with the word that every ZooKeeper answers: `srvr` on
// the client port.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "config/config.h"

namespace drover::server {

// What a server says of itself.
struct ServerSaid {
  std::string version;
  std::string mode;  // "leader"; empty: it does not serve
  Zxid zxid{};
  std::int64_t connections = 0;
  std::int64_t outstanding = 0;
  std::int64_t nodes = 0;
  double latency_min = 0;
  double latency_avg = 0;
  double latency_max = 0;
};
// None for what is no answer to `srvr`.
std::optional<ServerSaid> parse_srvr(std::string_view text);

struct ProbeResult {
  std::optional<ServerSaid> said;
  std::string error{};  // why not
};

// Where clients reach each of the other servers. One without a client port in its line has the same as we, if
// it is on another machine; on this one nobody can say.
std::map<ServerId, Endpoint> client_endpoints(const ServerConfig& config);

// Asks all of them at the same time and takes a second at most. Blocks, and may ask a name server.
std::map<ServerId, ProbeResult> probe(const std::map<ServerId, Endpoint>& servers);

}  // namespace drover::server

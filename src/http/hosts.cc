// SPDX-License-Identifier: Apache-2.0
#include "http/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "net/address.h"

namespace drover::server {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "zk1:8080" is zk1, "[::1]:8080" is ::1.
std::string host_without_port(std::string_view host) {
  if (host.starts_with('[')) return lower(host.substr(1, host.find(']') - 1));
  return lower(host.substr(0, host.rfind(':')));
}

std::string machine_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return lower(name);
}

// An attacker cannot control a name from the configuration.
bool is_configured(const std::string& host, const ServerConfig& config) {
  for (const auto& [id, member] : config.ensemble.members.servers()) {
    for (const PeerAddress& address : member.addresses) {
      if (lower(address.host) == host) return true;
    }
  }
  return (config.client && lower(config.client->host) == host) || lower(config.admin.address) == host ||
         std::ranges::find(config.admin.dashboard_hosts, host) != config.admin.dashboard_hosts.end();
}

}  // namespace

bool is_our_host(std::string_view host_header, const ServerConfig& config) {
  if (host_header.empty()) return true;
  const std::string host = host_without_port(host_header);
  if (host.empty()) return false;
  if (host == "localhost" || host == machine_name() || is_configured(host, config)) return true;
  // An IP address cannot be rebound.
  return net::Address::parse(host, 0).has_value();
}

}  // namespace drover::server

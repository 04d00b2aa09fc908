// SPDX-License-Identifier: Apache-2.0
#include "client/connect_string.h"

#include <optional>

#include "base/number.h"
#include "base/path.h"
#include "base/text.h"

namespace drover::client {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_number<std::uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

// Colons separate the port; within brackets, or when there are several, they belong to an IPv6 address.
std::optional<ServerAddress> parse_server(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
    if (!rest.empty()) port = rest.substr(1);
    if (rest == ":") return std::nullopt;
  } else if (const std::size_t colon = text.find(':');
             colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return std::nullopt;
  }
  if (host.empty()) return std::nullopt;
  ServerAddress server{std::string(host), kDefaultPort};
  if (port.empty()) return server;
  const auto number = parse_port(port);
  if (!number) return std::nullopt;
  server.port = *number;
  return server;
}

}  // namespace

std::expected<ConnectString, std::string> parse_connect_string(std::string_view text) {
  ConnectString parsed;
  text = trimmed(text);
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    parsed.chroot = text.substr(slash);
    text = text.substr(0, slash);
    if (const auto reason = invalid_path_reason(parsed.chroot); !reason.empty()) {
      return std::unexpected("bad chroot " + parsed.chroot + ": " + std::string(reason));
    }
    if (parsed.chroot == "/") parsed.chroot.clear();
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view one = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (one.empty()) continue;
    const auto server = parse_server(one);
    if (!server) return std::unexpected("bad server address '" + std::string(one) + "'");
    parsed.servers.push_back(*server);
  }
  if (parsed.servers.empty()) return std::unexpected(std::string("no server to connect to"));
  return parsed;
}

}  // namespace drover::client

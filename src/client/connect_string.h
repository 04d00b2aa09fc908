// SPDX-License-Identifier: Apache-2.0
//
// Parses "zk1:2181,zk2,[::1]:2182/app": the servers and the chroot.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace drover::client {

inline constexpr std::uint16_t kDefaultPort = 2181;

struct ServerAddress {
  std::string host;  // a name, or an address without brackets
  std::uint16_t port = kDefaultPort;
  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

struct ConnectString {
  std::vector<ServerAddress> servers;
  std::string chroot;  // "" or "/app"
};

// The error is a message for the user.
std::expected<ConnectString, std::string> parse_connect_string(std::string_view text);

}  // namespace drover::client

// SPDX-License-Identifier: Apache-2.0
//
// IP address and port, and their text as Java prints it: four-letter words, logs and the `ip` ACL scheme
// show addresses to users and scripts that know ZooKeeper's form.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::net {

// An IPv4 or IPv6 endpoint. An IPv4-mapped IPv6 address (a dual-stack listener's view of an IPv4 client) is
// converted to IPv4 on input, so that it prints and compares as IPv4.
class Address {
 public:
  Address() = default;  // 0.0.0.0:0
  static Address from_sockaddr(const sockaddr* address, socklen_t length);
  // Parses a literal, "10.0.0.1" or "::1"; never does a name lookup.
  static IoResult<Address> parse(std::string_view ip, std::uint16_t port);

  bool is_ipv6() const { return family_ == AF_INET6; }
  bool is_wildcard() const;
  bool is_loopback() const;
  std::uint16_t port() const { return port_; }
  void set_port(std::uint16_t port) { port_ = port; }

  // 4 or 16 bytes in network order, as the `ip` ACL scheme and certificates compare them.
  std::string_view ip_bytes() const;
  // "127.0.0.1", "0:0:0:0:0:0:0:1"; a link-local address carries its scope as "%2".
  std::string ip_text() const;
  // "/127.0.0.1:54321", "/[0:0:0:0:0:0:0:1]:54321".
  std::string to_text() const;

  // For bind() and connect(); returns the length used.
  socklen_t to_sockaddr(sockaddr_storage& out) const;

  friend bool operator==(const Address&, const Address&) = default;

 private:
  sa_family_t family_ = AF_INET;
  std::uint16_t port_ = 0;
  std::uint32_t scope_ = 0;
  std::uint8_t bytes_[16] = {};
};

// Resolves a host name or literal; IPv4 addresses come first, as in Java. Blocks: call it at start-up or from
// threads that may wait, never from an event loop.
IoResult<std::vector<Address>> resolve(const std::string& host, std::uint16_t port);

}  // namespace drover::net

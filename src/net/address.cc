// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace drover::net {

Address Address::from_sockaddr(const sockaddr* address, socklen_t length) {
  Address result;
  if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
    sockaddr_in in;
    std::memcpy(&in, address, sizeof in);
    result.port_ = ntohs(in.sin_port);
    std::memcpy(result.bytes_, &in.sin_addr, 4);
  } else if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in;
    std::memcpy(&in, address, sizeof in);
    result.port_ = ntohs(in.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
      std::memcpy(result.bytes_, in.sin6_addr.s6_addr + 12, 4);
      return result;
    }
    result.family_ = AF_INET6;
    result.scope_ = in.sin6_scope_id;
    std::memcpy(result.bytes_, &in.sin6_addr, 16);
  }
  return result;
}

IoResult<Address> Address::parse(std::string_view ip, std::uint16_t port) {
  const std::string text(ip);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  if (::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_port = htons(port);
    return from_sockaddr(reinterpret_cast<const sockaddr*>(&six), sizeof six);
  }
  Address four;
  four.port_ = port;
  if (::inet_pton(AF_INET, text.c_str(), four.bytes_) == 1) return four;
  return std::unexpected(data_error("not an IP address: " + text));
}

std::string_view Address::ip_bytes() const {
  return {reinterpret_cast<const char*>(bytes_), is_ipv6() ? std::size_t{16} : std::size_t{4}};
}

bool Address::is_wildcard() const {
  return std::ranges::all_of(ip_bytes(), [](char byte) { return byte == 0; });
}

bool Address::is_loopback() const {
  if (!is_ipv6()) return bytes_[0] == 127;
  return bytes_[15] == 1 && std::all_of(bytes_, bytes_ + 15, [](auto byte) { return byte == 0; });
}

std::string Address::ip_text() const {
  char text[64];
  if (!is_ipv6()) {
    std::snprintf(text, sizeof text, "%u.%u.%u.%u", bytes_[0], bytes_[1], bytes_[2], bytes_[3]);
    return text;
  }
  std::string result;
  for (int i = 0; i < 16; i += 2) {
    std::snprintf(text, sizeof text, "%s%x", i == 0 ? "" : ":", bytes_[i] * 256u + bytes_[i + 1]);
    result += text;
  }
  if (scope_ != 0) result += "%" + std::to_string(scope_);
  return result;
}

std::string Address::to_text() const {
  const std::string ip = is_ipv6() ? "[" + ip_text() + "]" : ip_text();
  return "/" + ip + ":" + std::to_string(port_);
}

socklen_t Address::to_sockaddr(sockaddr_storage& out) const {
  out = {};
  if (!is_ipv6()) {
    auto& in = reinterpret_cast<sockaddr_in&>(out);
    in.sin_family = AF_INET;
    in.sin_port = htons(port_);
    std::memcpy(&in.sin_addr, bytes_, 4);
    return sizeof in;
  }
  auto& in = reinterpret_cast<sockaddr_in6&>(out);
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port_);
  in.sin6_scope_id = scope_;
  std::memcpy(&in.sin6_addr, bytes_, 16);
  return sizeof in;
}

IoResult<std::vector<Address>> resolve(const std::string& host, std::uint16_t port) {
  if (auto literal = Address::parse(host, port)) return std::vector<Address>{*literal};
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int rc = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (rc == EAI_SYSTEM) return std::unexpected(io_error(errno, "cannot resolve " + host));
  if (rc != 0) return std::unexpected(data_error("cannot resolve " + host + ": " + ::gai_strerror(rc)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);

  std::vector<Address> result;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      if (each->ai_family != family) continue;
      result.push_back(Address::from_sockaddr(each->ai_addr, each->ai_addrlen));
      result.back().set_port(port);
    }
  }
  if (result.empty()) return std::unexpected(data_error("cannot resolve " + host + ": no IP address"));
  return result;
}

}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
#include "zab/host_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace drover::zab {
namespace {

using Ipv6 = std::array<std::uint16_t, 8>;

std::optional<std::uint16_t> number_in(std::string_view text, int base, std::uint16_t max) {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
  std::uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = part < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos || dot == 0 || dot > 3) return std::nullopt;
    const auto byte = number_in(text.substr(0, dot), 10, 255);
    if (!byte) return std::nullopt;
    address = address << 8 | *byte;
    text.remove_prefix(std::min(text.size(), dot + 1));
  }
  return address;
}

// The groups on one side of "::". The last one may be an IPv4 address, which fills two.
struct Groups {
  Ipv6 values{};
  std::size_t count = 0;
};

std::optional<Groups> parse_groups(std::string_view text) {
  Groups groups;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    const bool is_last = colon == std::string_view::npos;
    if (is_last && part.find('.') != std::string_view::npos) {
      const auto ipv4 = parse_ipv4(part);
      if (!ipv4 || groups.count > 6) return std::nullopt;
      groups.values[groups.count++] = static_cast<std::uint16_t>(*ipv4 >> 16);
      groups.values[groups.count++] = static_cast<std::uint16_t>(*ipv4);
      return groups;
    }
    const auto value = part.size() > 4 ? std::nullopt : number_in(part, 16, 0xffff);
    if (!value || groups.count == 8) return std::nullopt;
    groups.values[groups.count++] = *value;
    if (is_last) return groups;
    text.remove_prefix(colon + 1);
    if (text.empty()) return std::nullopt;  // it ends with a colon
  }
  return groups;
}

std::optional<Ipv6> parse_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  const auto head = parse_groups(text.substr(0, gap));
  if (!head) return std::nullopt;
  if (gap == std::string_view::npos) return head->count == 8 ? std::optional(head->values) : std::nullopt;
  const auto tail = parse_groups(text.substr(gap + 2));
  if (!tail || head->count + tail->count > 7) return std::nullopt;
  Ipv6 address = head->values;
  std::copy_n(tail->values.begin(), tail->count, address.end() - static_cast<std::ptrdiff_t>(tail->count));
  return address;
}

// ::ffff:10.0.0.1
std::optional<std::uint32_t> mapped_ipv4(const Ipv6& address) {
  const bool mapped =
      std::all_of(address.begin(), address.begin() + 5, [](auto group) { return group == 0; });
  if (!mapped || address[5] != 0xffff) return std::nullopt;
  return static_cast<std::uint32_t>(address[6]) << 16 | address[7];
}

std::string ipv4_text(std::uint32_t address) {
  std::string text;
  for (const int shift : {24, 16, 8, 0}) {
    text += (text.empty() ? "" : ".") + std::to_string(address >> shift & 0xff);
  }
  return text;
}

std::string ipv6_text(const Ipv6& address) {
  std::string text;
  for (const std::uint16_t group : address) {
    text += (text.empty() ? "" : ":") + hex_text(std::uint64_t{group}).substr(2);
  }
  return text;
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  return std::ranges::equal(host, kName, {}, [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
}

}  // namespace

std::string java_host_text(std::string_view host) {
  const std::size_t scope = std::min(host.find('%'), host.size());  // fe80::1%eth0
  const auto address = parse_ipv6(host.substr(0, scope));
  if (!address) return std::string(host);
  if (const auto ipv4 = mapped_ipv4(*address)) return ipv4_text(*ipv4);
  return ipv6_text(*address) + std::string(host.substr(scope));
}

bool is_local_host(std::string_view host) {
  if (host.empty() || is_localhost(host)) return true;
  const std::string text = java_host_text(host);
  if (text == "0:0:0:0:0:0:0:0" || text == "0:0:0:0:0:0:0:1") return true;
  const auto ipv4 = parse_ipv4(text);
  return ipv4 && (*ipv4 == 0 || *ipv4 >> 24 == 127);
}

}  // namespace drover::zab

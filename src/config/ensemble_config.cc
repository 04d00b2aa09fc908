// SPDX-License-Identifier: Apache-2.0
#include "config/ensemble_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "base/result.h"
#include "base/text.h"
#include "config/values.h"
#include "log/log.h"

namespace drover::server {
namespace {

// Limits that no real configuration reaches. They bound the cost of a hostile one.
constexpr std::size_t kServersMax = 1000;
constexpr std::size_t kAddressesMax = 16;
constexpr std::size_t kGroupMembersMax = 1000;

template <class T>
using Parsed = std::expected<T, std::string>;

std::unexpected<std::string> bad_line(std::string sentence) { return std::unexpected(std::move(sentence)); }

Parsed<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_whole_number(text, Notation::kDecimal);
  if (!port || *port < 0 || *port > 65535) {
    return bad_line(fmt::format("{} is not a port", escaped(text)));
  }
  return static_cast<std::uint16_t>(*port);
}

// Parses a group, server or weight number.
Parsed<std::int64_t> parse_id(std::string_view text) {
  const auto id = parse_whole_number(text, Notation::kDecimal);
  if (!id || *id < 0) return bad_line(fmt::format("{} is not a number of 0 or more", escaped(text)));
  return *id;
}

struct HostAndRest {
  std::string_view host;               // without brackets
  std::vector<std::string_view> rest;  // the parts after it, split at colons
};

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "host:1:2", "[::1]:1:2".
Parsed<HostAndRest> split_host(std::string_view text) {
  if (has_control_character(text)) return bad_line("must not contain control characters");
  if (!text.starts_with('[')) {
    auto parts = split_at(text, ':');
    return HostAndRest{parts.front(), {parts.begin() + 1, parts.end()}};
  }
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return bad_line("an address starts with [ but has no ]");
  const std::string_view host = text.substr(1, close - 1);
  text.remove_prefix(close + 1);
  if (text.empty()) return HostAndRest{host, {}};
  if (!text.starts_with(':')) return bad_line("a ] must be followed by : and a port");
  return HostAndRest{host, split_at(text.substr(1), ':')};
}

// "2181", "host:2181", "[::1]:2181".
Parsed<Endpoint> parse_endpoint(std::string_view text) {
  TRY_ASSIGN(const HostAndRest parts, split_host(text));
  if (parts.rest.empty() && !text.starts_with('[')) {
    TRY_ASSIGN(const std::uint16_t port, parse_port(parts.host));
    return Endpoint{"0.0.0.0", port};
  }
  if (parts.rest.size() != 1 || parts.host.empty()) return bad_line("a client address is port or host:port");
  TRY_ASSIGN(const std::uint16_t port, parse_port(parts.rest[0]));
  return Endpoint{std::string(parts.host), port};
}

Parsed<PeerType> parse_peer_type(std::string_view text) {
  if (equal_ignoring_case(trimmed(text), "participant")) return PeerType::kParticipant;
  if (equal_ignoring_case(trimmed(text), "observer")) return PeerType::kObserver;
  return bad_line(fmt::format("{} is neither participant nor observer", escaped(text)));
}

struct TypedAddress {
  PeerAddress address;
  std::optional<PeerType> type;
};

// "host:quorumPort:electionPort[:type]".
Parsed<TypedAddress> parse_peer_address(std::string_view text) {
  TRY_ASSIGN(const HostAndRest parts, split_host(text));
  if (parts.host.empty() || parts.rest.size() < 2 || parts.rest.size() > 3) {
    return bad_line("expected host:quorumPort:electionPort[:participant|observer][;[host:]clientPort]");
  }
  TRY_ASSIGN(const std::uint16_t quorum, parse_port(parts.rest[0]));
  TRY_ASSIGN(const std::uint16_t election, parse_port(parts.rest[1]));
  if (quorum == election) return bad_line("quorum port and election port must be different");
  TypedAddress result{.address = {std::string(parts.host), quorum, election}, .type = std::nullopt};
  if (parts.rest.size() == 3) {
    TRY_ASSIGN(result.type, parse_peer_type(parts.rest[2]));
  }
  return result;
}

Parsed<void> parse_peer_addresses(PeerSpec& spec, std::string_view text, MembershipOptions options) {
  const auto addresses = split_at(text, '|');
  if (addresses.size() > 1 && !options.multi_address) {
    return bad_line("several addresses need multiAddress.enabled=true");
  }
  if (addresses.size() > kAddressesMax) return bad_line("too many addresses");
  std::optional<PeerType> type;
  for (const std::string_view address : addresses) {
    TRY_ASSIGN(TypedAddress parsed, parse_peer_address(address));
    if (type && parsed.type && *type != *parsed.type)
      return bad_line("all addresses must have the same role");
    if (!type) type = parsed.type;
    spec.addresses.push_back(std::move(parsed.address));
  }
  spec.type = type.value_or(PeerType::kParticipant);
  return {};
}

Parsed<void> add_group(Membership& membership, std::int64_t group, std::string_view value) {
  std::vector<ServerId> members;
  for (const std::string_view part : split_at(value, ':')) {
    if (members.size() == kGroupMembersMax) return bad_line("too many servers in a group");
    TRY_ASSIGN(const std::int64_t id, parse_id(trimmed(part)));
    members.push_back(ServerId{id});
  }
  membership.groups[group] = std::move(members);
  return {};
}

Parsed<void> add_server(Membership& membership, ServerId id, std::string_view value,
                        MembershipOptions options) {
  if (membership.servers.size() == kServersMax) return bad_line("too many servers");
  TRY_ASSIGN(PeerSpec spec, parse_server_spec(id, value, options));
  membership.servers.insert_or_assign(id, std::move(spec));
  return {};
}

std::string bracketed(std::string_view host) {
  return host.find(':') == std::string_view::npos ? std::string(host) : fmt::format("[{}]", host);
}

}  // namespace

std::string to_text(const Endpoint& endpoint) {
  return fmt::format("{}:{}", endpoint.host.empty() ? "0.0.0.0" : bracketed(endpoint.host), endpoint.port);
}

std::size_t Membership::voters() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(servers, [](const auto& s) { return s.second.type == PeerType::kParticipant; }));
}

std::size_t Membership::observers() const { return servers.size() - voters(); }

Parsed<PeerSpec> parse_server_spec(ServerId id, std::string_view value, MembershipOptions options) {
  const auto parts = split_at(value, ';');
  if (parts.size() > 3) return bad_line("at most two client addresses may follow the servers' own");
  PeerSpec spec;
  spec.id = id;
  TRY(parse_peer_addresses(spec, parts[0], options));
  if (parts.size() > 1 && !parts[1].empty()) {
    TRY_ASSIGN(spec.client, parse_endpoint(trimmed(parts[1])));
  }
  if (parts.size() > 2 && !parts[2].empty()) {
    TRY_ASSIGN(spec.secure_client, parse_endpoint(trimmed(parts[2])));
  }
  return spec;
}

Parsed<bool> add_membership_key(Membership& membership, std::string_view key, std::string_view value,
                                MembershipOptions options) {
  const auto behind = [key](std::string_view prefix) -> std::optional<std::string_view> {
    return key.starts_with(prefix) ? std::optional(key.substr(prefix.size())) : std::nullopt;
  };
  if (const auto number = behind("server.")) {
    TRY_ASSIGN(const std::int64_t id, parse_id(*number));
    TRY(add_server(membership, ServerId{id}, value, options));
  } else if (const auto group = behind("group.")) {
    TRY_ASSIGN(const std::int64_t id, parse_id(*group));
    TRY(add_group(membership, id, value));
  } else if (const auto server = behind("weight.")) {
    TRY_ASSIGN(const std::int64_t id, parse_id(*server));
    TRY_ASSIGN(membership.weights[ServerId{id}], parse_id(value));
  } else if (key == "version") {
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, membership.version, 16);
    if (error != std::errc{} || stop != end) return bad_line("expected a hexadecimal number");
  } else {
    return false;
  }
  return true;
}

Parsed<void> check_membership(const Membership& membership) {
  if (membership.groups.empty() && membership.weights.empty()) return {};
  std::set<ServerId> grouped;
  for (const auto& [group, members] : membership.groups) {
    for (const ServerId id : members) {
      if (!grouped.insert(id).second)
        return bad_line(fmt::format("server {} is in more than one group", raw(id)));
    }
  }
  for (const auto& [id, server] : membership.servers) {
    if (server.type == PeerType::kParticipant && !grouped.contains(id)) {
      return bad_line(fmt::format("server {} is in no group", raw(id)));
    }
  }
  return {};
}

std::string to_text(const PeerSpec& server) {
  std::vector<PeerAddress> addresses = server.addresses;
  std::ranges::sort(addresses, {}, [](const PeerAddress& a) { return std::tie(a.host, a.quorum_port); });
  std::string text;
  for (const PeerAddress& address : addresses) {
    if (!text.empty()) text += '|';
    text += fmt::format("{}:{}:{}", bracketed(address.host), address.quorum_port, address.election_port);
  }
  text += server.type == PeerType::kObserver ? ":observer" : ":participant";
  if (server.client) text += ";" + to_text(*server.client);
  if (server.secure_client) text += (server.client ? ";" : ";;") + to_text(*server.secure_client);
  return text;
}

std::string to_text(const Membership& membership) {
  std::string text;
  for (const auto& [id, server] : membership.servers)
    text += fmt::format("server.{}={}\n", raw(id), to_text(server));
  for (const auto& [group, members] : membership.groups) {
    text += fmt::format("group.{}=", group);
    for (std::size_t i = 0; i < members.size(); ++i)
      text += fmt::format("{}{}", i == 0 ? "" : ":", raw(members[i]));
    text += '\n';
  }
  if (!membership.groups.empty()) {
    // With groups Java writes the weight of every voter, also the default weight.
    std::map<ServerId, std::int64_t> weights = membership.weights;
    for (const auto& [id, server] : membership.servers) {
      if (server.type == PeerType::kParticipant) weights.try_emplace(id, 1);
    }
    for (const auto& [id, weight] : weights) text += fmt::format("weight.{}={}\n", raw(id), weight);
  }
  return text + fmt::format("version={:x}", static_cast<std::uint64_t>(membership.version));
}

}  // namespace drover::server

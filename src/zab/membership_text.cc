// SPDX-License-Identifier: Apache-2.0
#include "zab/membership_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/properties.h"
#include "base/result.h"
#include "base/text.h"
#include "zab/host_text.h"

namespace drover::zab {
namespace {

// Limits that no real configuration reaches. They bound the cost of a hostile one.
constexpr std::size_t kServersMax = 1000;
constexpr std::size_t kAddressesMax = 16;
constexpr std::size_t kGroupMembersMax = 1000;
constexpr std::size_t kShownMax = 32;

std::unexpected<MembershipError> bad_line(std::string sentence, ErrorCode code = ErrorCode::kBadArguments) {
  return std::unexpected(MembershipError{std::move(sentence), code});
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }

// A short part of the input, safe to print.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, kShownMax));
  std::ranges::replace_if(
      result, [](char c) { return is_control(c) || static_cast<unsigned char>(c) >= 0x80; }, '?');
  return result;
}

std::string_view digits_of(std::string_view key) { return key.substr(key.find('.') + 1); }

MembershipResult<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_number(text);
  // Java's parser is for 32 bits.
  if (!port || *port != static_cast<std::int32_t>(*port)) return bad_line(shown(text) + " is not a port");
  if (*port < 0 || *port > 65535)
    return bad_line(shown(text) + " is not a port", ErrorCode::kMarshallingError);
  return static_cast<std::uint16_t>(*port);
}

// Parses a group, server or weight number. (Java accepts negative ones, and then behaves strangely.)
MembershipResult<std::int64_t> parse_id(std::string_view text) {
  TRY_ASSIGN(const std::int64_t id, parse_number(text));
  if (id < 0) return bad_line(shown(text) + " is not a number of 0 or more");
  return id;
}

// As String.split() of Java: empty parts at the end do not count, so "zk1:2888:3888:" has three. At least one
// part.
std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t end = 0;
  while (end != std::string_view::npos) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

// No host has these characters, and the text that we write of it would be read differently.
MembershipResult<void> check_host(std::string_view host) {
  if (host.find_first_of(" []\\") == std::string_view::npos) return {};
  return bad_line(shown(host) + " is not a host");
}

struct HostAndRest {
  std::string_view host;               // without brackets
  std::vector<std::string_view> rest;  // the parts after it, split at colons
};

// "host:1:2", "[::1]:1:2".
MembershipResult<HostAndRest> split_host(std::string_view text) {
  if (std::ranges::any_of(text, is_control)) return bad_line("must not contain control characters");
  if (!text.starts_with('[')) {
    auto parts = split_at(text, ':');
    TRY(check_host(parts.front()));
    return HostAndRest{parts.front(), {parts.begin() + 1, parts.end()}};
  }
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return bad_line("an address starts with [ but has no ]");
  const std::string_view host = text.substr(1, close - 1);
  TRY(check_host(host));
  text.remove_prefix(close + 1);
  if (text.empty()) return HostAndRest{host, {}};
  if (!text.starts_with(':')) return bad_line("a ] must be followed by : and a port");
  return HostAndRest{host, split_at(text.substr(1), ':')};
}

// "2181", "host:2181", "[::1]:2181".
MembershipResult<Endpoint> parse_endpoint(std::string_view text) {
  TRY_ASSIGN(const HostAndRest parts, split_host(text));
  if (parts.rest.empty() && !text.starts_with('[')) {
    TRY_ASSIGN(const std::uint16_t port, parse_port(parts.host));
    return Endpoint{"0.0.0.0", port};
  }
  if (parts.rest.size() != 1 || parts.host.empty()) return bad_line("a client address is port or host:port");
  TRY_ASSIGN(const std::uint16_t port, parse_port(parts.rest[0]));
  return Endpoint{std::string(parts.host), port};
}

bool equals_word(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, {}, [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
}

MembershipResult<PeerType> parse_peer_type(std::string_view text) {
  if (equals_word(trimmed(text), "participant")) return PeerType::kParticipant;
  if (equals_word(trimmed(text), "observer")) return PeerType::kObserver;
  return bad_line(shown(text) + " is neither participant nor observer");
}

struct TypedAddress {
  PeerAddress address;
  std::optional<PeerType> type;
};

// "host:quorumPort:electionPort[:type]".
MembershipResult<TypedAddress> parse_peer_address(std::string_view text) {
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

MembershipResult<void> parse_peer_addresses(PeerSpec& spec, std::string_view text,
                                            MembershipOptions options) {
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

MembershipResult<void> add_group(Membership& membership, std::string_view key, std::string_view value) {
  TRY_ASSIGN(const std::int64_t group, parse_id(digits_of(key)));
  if (membership.groups().size() == kServersMax) return bad_line("too many groups");
  std::vector<ServerId> members;
  for (const std::string_view part : split_at(value, ':')) {
    if (members.size() == kGroupMembersMax) return bad_line("too many servers in a group");
    TRY_ASSIGN(const std::int64_t id, parse_id(trimmed(part)));
    members.push_back(ServerId{id});
  }
  membership.set_group(group, std::move(members));
  return {};
}

MembershipResult<void> add_server(Membership& membership, std::string_view key, std::string_view value,
                                  MembershipOptions options) {
  TRY_ASSIGN(const std::int64_t id, parse_id(digits_of(key)));
  if (membership.servers().size() == kServersMax) return bad_line("too many servers");
  TRY_ASSIGN(PeerSpec spec, parse_server_spec(ServerId{id}, value, options));
  membership.add(std::move(spec));
  return {};
}

MembershipResult<void> add_weight(Membership& membership, std::string_view key, std::string_view value) {
  TRY_ASSIGN(const std::int64_t id, parse_id(digits_of(key)));
  if (membership.weights().size() == kServersMax) return bad_line("too many weights");
  TRY_ASSIGN(const std::int64_t weight, parse_id(value));
  membership.set_weight(ServerId{id}, weight);
  return {};
}

MembershipResult<void> set_version(Membership& membership, std::string_view value) {
  const auto version = parse_number(value, 16);
  if (!version) return bad_line("expected a hexadecimal number", version.error().code);
  if (*version < 0) return bad_line("expected a number of 0 or more");
  membership.set_version(*version);
  return {};
}

std::string bracketed(std::string_view host) {
  return host.find(':') == std::string_view::npos ? std::string(host) : "[" + std::string(host) + "]";
}

std::string port_text(std::uint16_t port) { return ":" + std::to_string(port); }

std::string java_text(const Endpoint& endpoint) {
  return to_text(Endpoint{java_host_text(endpoint.host), endpoint.port});
}

std::string hex_digits(std::int64_t number) { return hex_text(static_cast<std::uint64_t>(number)).substr(2); }

std::string server_line(const PeerSpec& server) {
  return "server." + std::to_string(raw(server.id)) + "=" + to_text(server);
}

// Java writes the members of a group in the order of their ids.
std::string group_line(std::int64_t group, const std::vector<ServerId>& members) {
  std::string text;
  for (const ServerId server : std::set(members.begin(), members.end())) {
    text += (text.empty() ? "" : ":") + std::to_string(raw(server));
  }
  return "group." + std::to_string(group) + "=" + text;
}

// With groups Java writes the weight of every voter, also the default weight.
Membership::Weights written_weights(const Membership& membership) {
  if (membership.groups().empty()) return {};
  Membership::Weights weights = membership.weights();
  for (const ServerId voter : membership.voters()) weights.try_emplace(voter, 1);
  return weights;
}

std::vector<std::string> lines_of(const Membership& membership) {
  std::vector<std::string> lines;
  for (const auto& [id, server] : membership.servers()) lines.push_back(server_line(server));
  for (const auto& [group, members] : membership.groups()) lines.push_back(group_line(group, members));
  for (const auto& [id, weight] : written_weights(membership)) {
    lines.push_back("weight." + std::to_string(raw(id)) + "=" + std::to_string(weight));
  }
  return lines;
}

std::string version_line(const Membership& membership) {
  return "version=" + hex_digits(membership.version());
}

}  // namespace

MembershipResult<std::int64_t> parse_number(std::string_view text, int base) {
  std::string_view digits = text;
  // from_chars knows no plus sign, and would accept "+-1" without the sign.
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return bad_line(shown(text) + " is not a number", ErrorCode::kMarshallingError);
  }
  return value;
}

MembershipResult<PeerSpec> parse_server_spec(ServerId id, std::string_view value, MembershipOptions options) {
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

MembershipResult<bool> add_membership_key(Membership& membership, std::string_view key,
                                          std::string_view value, MembershipOptions options) {
  if (key.starts_with("server.")) {
    TRY(add_server(membership, key, value, options));
  } else if (key.starts_with("group.")) {
    TRY(add_group(membership, key, value));
  } else if (key.starts_with("weight.")) {
    TRY(add_weight(membership, key, value));
  } else if (key == "version") {
    TRY(set_version(membership, value));
  } else {
    return false;
  }
  return true;
}

MembershipResult<void> check_membership(const Membership& membership) {
  if (membership.groups().empty() && membership.weights().empty()) return {};
  std::set<ServerId> grouped;
  for (const auto& [group, members] : membership.groups()) {
    for (const ServerId id : members) {
      if (!grouped.insert(id).second) {
        return bad_line("server " + std::to_string(raw(id)) + " is in more than one group");
      }
    }
  }
  for (const ServerId voter : membership.voters()) {
    if (!grouped.contains(voter)) return bad_line("server " + std::to_string(raw(voter)) + " is in no group");
  }
  return {};
}

MembershipResult<Membership> parse_membership(std::string_view text, MembershipOptions options) {
  const auto properties = parse_properties(text);
  if (!properties) {
    // Java's parser of properties throws what nobody expects; the limit of the size is ours.
    const bool malformed = properties.error().line != 0;
    return bad_line(properties.error().message,
                    malformed ? ErrorCode::kMarshallingError : ErrorCode::kBadArguments);
  }
  Membership membership;
  for (const Property& property : *properties) {
    TRY_ASSIGN(const bool known,
               add_membership_key(membership, trimmed(property.key), property.value, options));
    if (!known) return bad_line(shown(property.key) + " is not a key of a membership");
  }
  TRY(check_membership(membership));
  return membership;
}

std::string to_text(const Endpoint& endpoint) {
  return (endpoint.host.empty() ? "0.0.0.0" : bracketed(endpoint.host)) + port_text(endpoint.port);
}

std::string to_text(const PeerSpec& server) {
  std::vector<PeerAddress> addresses = server.addresses;
  for (PeerAddress& address : addresses) address.host = java_host_text(address.host);
  std::ranges::sort(addresses, {}, [](const PeerAddress& a) { return std::tie(a.host, a.quorum_port); });
  std::string text;
  for (const PeerAddress& address : addresses) {
    if (!text.empty()) text += '|';
    text += bracketed(address.host) + port_text(address.quorum_port) + port_text(address.election_port);
  }
  text += server.type == PeerType::kObserver ? ":observer" : ":participant";
  if (server.client) text += ";" + java_text(*server.client);
  if (server.secure_client) text += (server.client ? ";" : ";;") + java_text(*server.secure_client);
  return text;
}

std::string to_text(const Membership& membership) {
  std::string text;
  for (const std::string& line : lines_of(membership)) text += line + "\n";
  return text + version_line(membership);
}

std::int64_t version_of_file_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return 0;
  const auto version = parse_number(name.substr(dot + 1), 16);
  return version ? std::max(*version, std::int64_t{0}) : 0;
}

std::string file_text(const Membership& membership, VersionLine version) {
  std::vector<std::string> lines = lines_of(membership);
  if (version == VersionLine::kWritten) lines.push_back(version_line(membership));
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace drover::zab

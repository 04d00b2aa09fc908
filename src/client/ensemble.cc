// SPDX-License-Identifier: Apache-2.0
//
// The grammar is Java's (QuorumPeer.QuorumServer):
//
//   server.N=host:quorum:election[|host:quorum:election...][:role][;[host:]client[;[host:]secure]]
#include "drover/ensemble.h"

#include <algorithm>

#include "base/number.h"
#include "base/text.h"

namespace drover {
namespace {

constexpr std::size_t kMembersMax = 1000;
constexpr std::size_t kLineBytesMax = 8192;
constexpr std::size_t kHostBytesMax = 255;
constexpr std::string_view kServer = "server.";

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::optional<std::uint16_t> port_in(std::string_view text) {
  const auto port = parse_number<std::uint16_t>(trimmed(text));
  return port == 0 ? std::nullopt : port;
}

// The characters of names and addresses; a colon and a scope ("%2") only within brackets.
bool is_host(std::string_view text, bool bracketed) {
  const auto is_allowed = [&](char c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return word || c == '.' || c == '-' || c == '_' || (bracketed && (c == ':' || c == '%'));
  };
  return !text.empty() && text.size() <= kHostBytesMax && std::all_of(text.begin(), text.end(), is_allowed);
}

// Takes "host" or "[address]" and the colon behind it.
std::optional<std::string> take_host(std::string_view& text) {
  const bool bracketed = text.starts_with('[');
  if (bracketed) text.remove_prefix(1);
  const std::string_view host = take_until(text, bracketed ? ']' : ':');
  if (!is_host(host, bracketed)) return std::nullopt;
  if (bracketed && !text.starts_with(':')) return std::nullopt;
  if (bracketed) text.remove_prefix(1);
  return std::string(host);
}

bool is_wildcard(std::string_view host) {
  return host == "0.0.0.0" || host == "::" || host == "0:0:0:0:0:0:0:0";
}

// "2181" or "host:2181".
std::optional<Endpoint> client_endpoint(std::string_view text, const std::string& own_host) {
  text = trimmed(text);
  if (const auto port = port_in(text)) return Endpoint{own_host, *port};
  const auto host = take_host(text);
  const auto port = port_in(text);
  if (!host || !port) return std::nullopt;
  return Endpoint{is_wildcard(*host) ? own_host : *host, *port};
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Reads the peers and, behind the last one, the role. False: malformed.
bool read_peers(std::string_view text, EnsembleMember& member) {
  while (!text.empty()) {
    std::string_view one = trimmed(take_until(text, '|'));
    auto host = take_host(one);
    const auto quorum = port_in(take_until(one, ':'));
    const auto election = port_in(take_until(one, ':'));
    if (!host || !quorum || !election) return false;
    member.peers.push_back({*std::move(host), *quorum, *election});
    const std::string role = lower(trimmed(one));
    if (!role.empty() && role != "participant" && role != "observer") return false;
    member.observer = role == "observer";
  }
  return !member.peers.empty();
}

}  // namespace

std::string Endpoint::to_text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<EnsembleMember> parse_ensemble_member(std::string_view line) {
  line = trimmed(line);
  if (line.size() > kLineBytesMax || !line.starts_with(kServer)) return std::nullopt;
  line.remove_prefix(kServer.size());
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto id = parse_number<std::int64_t>(trimmed(line.substr(0, equals)));
  if (!id || *id < 0) return std::nullopt;
  line = trimmed(line.substr(equals + 1));
  EnsembleMember member{.id = *id, .text = std::string(line)};
  if (!read_peers(trimmed(take_until(line, ';')), member)) return std::nullopt;
  const std::string& host = member.peers[0].host;
  member.client = client_endpoint(take_until(line, ';'), host);
  member.secure_client = client_endpoint(line, host);
  return member;
}

EnsembleConfig parse_ensemble_config(std::string_view text) {
  EnsembleConfig config;
  while (!text.empty()) {
    const std::string_view line = trimmed(take_until(text, '\n'));
    if (line.starts_with("version=")) {
      const auto version = parse_number<std::uint64_t>(trimmed(line.substr(8)), 16);
      if (version) config.version = static_cast<std::int64_t>(*version);
    }
    config.has_groups = config.has_groups || line.starts_with("group.") || line.starts_with("weight.");
    auto member = parse_ensemble_member(line);
    if (!member) continue;
    const auto same = [&](const EnsembleMember& other) { return other.id == member->id; };
    const auto known = std::find_if(config.members.begin(), config.members.end(), same);
    if (known != config.members.end()) {
      *known = *std::move(member);
    } else if (config.members.size() < kMembersMax) {
      config.members.push_back(*std::move(member));
    }
  }
  return config;
}

}  // namespace drover

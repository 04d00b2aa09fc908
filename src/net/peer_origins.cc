// SPDX-License-Identifier: Apache-2.0
#include "net/peer_origins.h"

#include <algorithm>
#include <utility>

namespace drover::net {

namespace {

bool is_usual_loopback(const Address& from) {
  static const Address kUsual = *Address::parse("127.0.0.1", 0);
  return from.is_loopback() && (from.is_ipv6() || from.ip_bytes() == kUsual.ip_bytes());
}

}  // namespace

PeerOrigins::PeerOrigins(Resolver& resolver, const OriginChecks& checks, const Peers& peers, Warn warn)
    : resolver_(resolver), checks_(checks), warn_(std::move(warn)) {
  set_peers(peers);
}

PeerOrigins::~PeerOrigins() {
  for (const auto& [host, ticket] : asked_) resolver_.cancel(ticket);
}

void PeerOrigins::set_peers(const Peers& peers) {
  if (checks_.address == OriginCheck::kOff && !checks_.certificate) return;
  std::erase_if(servers_, [&](const auto& server) { return !peers.contains(server.first); });
  for (const auto& [id, hosts] : peers) {
    Server& server = servers_[id];
    const bool has_moved = !std::ranges::equal(server.hosts, hosts, {}, &Endpoint::host, &Endpoint::host);
    server.hosts = hosts;
    if (!has_moved) continue;
    std::erase_if(server.known, [&](const auto& known) {
      return std::ranges::find(server.hosts, known.first, &Endpoint::host) == server.hosts.end();
    });
    server.seen = false;
    server.warned = false;
    look_up(server);
  }
}

void PeerOrigins::look_up(Server& server) {
  for (const Endpoint& endpoint : server.hosts) {
    if (const auto literal = Address::parse(endpoint.host, 0)) {
      server.known[endpoint.host] = {*literal};
    } else if (!asked_.contains(endpoint.host)) {
      // Two servers may share a host: store the answer for all servers that name it.
      asked_[endpoint.host] = resolver_.ask(endpoint, [this, host = endpoint.host](Resolver::Addresses got) {
        asked_.erase(host);
        if (!got) return;  // Keep known addresses: an ensemble must outlive its name service.
        for (auto& [id, each] : servers_) {
          const bool is_here =
              std::ranges::any_of(each.hosts, [&](const Endpoint& e) { return e.host == host; });
          if (is_here) each.known[host] = *got;
        }
      });
    }
  }
}

// On one machine, a connection to 127.0.1.1 (which Debian assigns to the machine's own name) comes from
// 127.0.0.1: the kernel chooses it for all of 127/8. A client with another loopback address has chosen it
// explicitly.
bool PeerOrigins::is_at(const Server& server, const Address& from) {
  return std::ranges::any_of(server.known, [&](const auto& host) {
    return std::ranges::any_of(host.second, [&](const Address& at) {
      return at.is_wildcard() || at.ip_bytes() == from.ip_bytes() ||
             (at.is_loopback() && is_usual_loopback(from));
    });
  });
}

bool PeerOrigins::is_named(const Server& server, const Stream& stream) {
  return std::ranges::any_of(server.hosts,
                             [&](const Endpoint& e) { return stream.peer_certificate_names(e.host); });
}

// A name in the configuration may stand for an address in the certificate.
bool PeerOrigins::is_certified(const Server& server, const Stream& stream) {
  if (is_named(server, stream)) return true;
  return std::ranges::any_of(server.known, [&](const auto& host) {
    return std::ranges::any_of(
        host.second, [&](const Address& at) { return stream.peer_certificate_names(at.ip_text()); });
  });
}

std::optional<std::string> PeerOrigins::objection(ServerId claimed, const Stream& stream,
                                                  const Address& from) {
  const auto found = servers_.find(claimed);
  if (found == servers_.end())
    return std::nullopt;  // not checked, or not a member, which is checked elsewhere
  Server& server = found->second;
  if (checks_.certificate && stream.is_tls() && !is_certified(server, stream)) {
    look_up(server);
    return "it claims to be server " + std::to_string(raw(claimed)) + ", and its certificate does not name " +
           server.hosts.front().host + (server.hosts.size() > 1 ? " or another host of that server" : "") +
           " (see quorum.peerCertificateCheck)";
  }
  if (checks_.address == OriginCheck::kOff) return std::nullopt;
  return address_objection(claimed, server, stream, from);
}

std::optional<std::string> PeerOrigins::address_objection(ServerId claimed, Server& server,
                                                          const Stream& stream, const Address& from) {
  if (is_at(server, from) || is_named(server, stream)) {
    server.seen = true;
    return std::nullopt;
  }
  look_up(server);
  const std::string line = "it claims to be server " + std::to_string(raw(claimed)) +
                           ", which is configured at " + to_text(server.hosts.front()) +
                           (server.hosts.size() > 1 ? " and others" : "");
  if (checks_.address == OriginCheck::kStrict || server.seen) return line + " (see quorum.peerAddressCheck)";
  if (warn_ && !std::exchange(server.warned, true)) {
    warn_("connection from " + from.to_text() + " accepted: " + line +
          ". This is fine behind a NAT, a proxy or another network interface; see quorum.peerAddressCheck");
  }
  return std::nullopt;
}

bool PeerOrigins::is_of_peer(const Address& at) {
  if (checks_.address == OriginCheck::kOff) return false;
  const auto is_there = [&](const Server& server) {
    return std::ranges::any_of(server.hosts, [&](const Endpoint& e) {
      const auto known = server.known.find(e.host);
      if (known == server.known.end() || e.port != at.port()) return false;
      return std::ranges::any_of(known->second,
                                 [&](const Address& ip) { return ip.ip_bytes() == at.ip_bytes(); });
    });
  };
  // Names may have new addresses: the next call knows them.
  for (auto& [id, server] : servers_) look_up(server);
  return std::ranges::any_of(servers_, [&](const auto& server) { return is_there(server.second); });
}

}  // namespace drover::net

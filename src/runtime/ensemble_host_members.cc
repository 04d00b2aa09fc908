// SPDX-License-Identifier: Apache-2.0
//
// The links follow the members: who is dialled and where, from where members may connect, and at which
// addresses this server listens.
//
// While a membership is proposed, its servers count in addition to those in force, each with its old and its
// new addresses. Our own ports move when the new addresses are in force.
#include <algorithm>

#include "log/log.h"
#include "runtime/ensemble_host.h"
#include "runtime/peer_endpoints.h"

namespace drover::server {
namespace {

constexpr std::int64_t kMovePortsAgainMs = 10'000;

// The addresses of a server in both memberships, those in force first.
std::vector<PeerAddress> addresses_of(const zab::Memberships& memberships, ServerId server) {
  std::vector<PeerAddress> all;
  for (const Membership* each : {&memberships.committed(), &memberships.last_seen()}) {
    const auto found = each->servers().find(server);
    if (found == each->servers().end()) continue;
    for (const PeerAddress& address : found->second.addresses) {
      if (std::ranges::find(all, address) == all.end()) all.push_back(address);
    }
  }
  return all;
}

}  // namespace

net::PeerOrigins::Peers EnsembleHost::everybody() const {
  net::PeerOrigins::Peers all;
  for (const Membership* each : {&memberships_.committed(), &memberships_.last_seen()}) {
    for (const auto& [id, server] : each->servers())
      all[id] = endpoints(addresses_of(memberships_, id), &PeerAddress::election_port);
  }
  return all;
}

std::vector<net::Endpoint> EnsembleHost::quorum_endpoints(ServerId server) const {
  return endpoints(addresses_of(memberships_, server), &PeerAddress::quorum_port);
}

// Hosts of the current and the proposed membership: a server may have moved, or be about to.
PeerSasl::Hosts EnsembleHost::hosts_of_members() const {
  PeerSasl::Hosts hosts;
  for (const Membership* each : {&memberships_.committed(), &memberships_.last_seen()}) {
    for (const auto& [id, server] : each->servers()) {
      for (const PeerAddress& address : server.addresses) hosts.all.insert(address.host);
      hosts.of_server.try_emplace(id, server.addresses.back().host);
    }
  }
  return hosts;
}

std::vector<net::Endpoint> EnsembleHost::listen_at(std::vector<net::Endpoint> own) const {
  if (config_.ensemble.quorum_listen_on_all_ips) own = {{"", own.front().port}};
  return own;
}

void EnsembleHost::note_own_addresses() {
  const auto& servers = memberships_.committed().servers();
  const auto self = servers.find(*config_.ensemble.my_id);
  if (self != servers.end()) own_addresses_ = self->second.addresses;
}

void EnsembleHost::follow(const zab::Memberships& memberships) {
  memberships_ = memberships;
  const net::PeerOrigins::Peers peers = everybody();
  origins_->set_peers(peers);
  election_->set_peers(peers);
  if (sasl_) sasl_->set_hosts(hosts_of_members());
  const std::vector<PeerAddress> before = own_addresses_;
  note_own_addresses();
  // Not here: this may run in a callback of the port.
  if (own_addresses_ != before) move_ports_at_ = Instant{0};
  if (parts_.on_members) parts_.on_members(memberships_.committed());
}

void EnsembleHost::move_ports(Instant now) {
  move_ports_at_.reset();
  const std::vector<net::Endpoint> election = endpoints(own_addresses_, &PeerAddress::election_port);
  const std::vector<net::Endpoint> quorum = endpoints(own_addresses_, &PeerAddress::quorum_port);
  const auto report = [&](const char* port, const IoResult<void>& moved) {
    if (moved)
      return log_info("ensemble", "the {} port is open at the addresses of the new membership", port);
    log_error(
        "ensemble",
        "cannot move the {} port to the addresses of the new membership, so other servers cannot connect "
        "to this one; the old addresses stay open, next try in {} s: {}",
        port, kMovePortsAgainMs / 1000, moved.error().what);
    move_ports_at_ = now + kMovePortsAgainMs;
  };
  report("election", election_->rebind(listen_at(election), election));
  report("quorum", listener_->rebind(listen_at(quorum)));
}

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// The client ports follow the members: a reconfiguration may give this server another client address.
//
// The core says which ports are wanted, the main thread owns the acceptors and moves them. Connections that
// were accepted on the old port stay. If the server's line has no client address, the open ports stay, as in
// Java.
#include <algorithm>

#include "log/log.h"
#include "server/server_process.h"
#include "zab/membership_text.h"

namespace drover::server {
namespace {

bool is_anywhere(const std::string& host) { return host.empty() || host == "0.0.0.0"; }

// An address of the configuration without a host is the same as 0.0.0.0 in a member's line.
bool is_same(const std::optional<Endpoint>& a, const Endpoint& b) {
  if (!a || a->port != b.port) return false;
  return a->host == b.host || (is_anywhere(a->host) && is_anywhere(b.host));
}

}  // namespace

ServerProcess::ClientPorts ServerProcess::client_ports_in(const zab::Membership& members,
                                                          const ClientPorts& now) const {
  ClientPorts ports = now;
  const auto self = members.servers().find(*config_.ensemble.my_id);
  if (self == members.servers().end()) return ports;
  if (self->second.client) ports.plain = self->second.client;
  if (self->second.secure_client) ports.secure = self->second.secure_client;
  return ports;
}

void ServerProcess::want_client_ports(const zab::Membership& members) {
  {
    std::lock_guard lock(wanted_ports_mutex_);
    wanted_ports_ = client_ports_in(members, {});
  }
  accept_loop_->wake();
}

void ServerProcess::move_client_ports() {
  std::optional<ClientPorts> wanted;
  {
    std::lock_guard lock(wanted_ports_mutex_);
    wanted = std::exchange(wanted_ports_, std::nullopt);
  }
  if (!wanted) return;
  if (wanted->plain) move_client_port(plain_, open_ports_.plain, *wanted->plain, plain_kind());
  if (wanted->secure) {
    if (!tls_) {
      if (const auto loaded = load_client_tls(); !loaded)
        return log_error("server",
                         "the members give this server a secure client port, which cannot be opened: {}",
                         loaded.error().what);
    }
    move_client_port(secure_, open_ports_.secure, *wanted->secure, PortKind::kTls);
  }
  if (plain_) client_port_ = plain_->local().port();
  if (secure_) secure_port_ = secure_->local().port();
}

void ServerProcess::move_client_port(std::unique_ptr<Acceptor>& acceptor, std::optional<Endpoint>& open_at,
                                     const Endpoint& wanted, PortKind kind) {
  if (is_same(open_at, wanted)) return;
  // The kernel may not open two addresses with one port at a time, so the old one is closed first.
  const bool is_same_port = open_at && open_at->port == wanted.port;
  if (is_same_port) acceptor.reset();
  auto opened = open_port(wanted, kind);
  if (opened) {
    log_info("server", "clients connect to {} from now on, as the new members say", to_text(wanted));
    acceptor = std::move(*opened);
    open_at = wanted;
    return;
  }
  log_error(
      "server",
      "cannot open the client port {} of the new members; the old one stays open. Free the port and restart "
      "this server, or change its address by another reconfig: {}",
      to_text(wanted), opened.error().what);
  if (!is_same_port) return;
  auto reopened = open_port(*open_at, kind);
  if (!reopened)
    return log_error("server", "cannot open the old client port again: {}", reopened.error().what);
  acceptor = std::move(*reopened);
}

}  // namespace drover::server

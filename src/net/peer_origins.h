// SPDX-License-Identifier: Apache-2.0
//
// Checks that a connection comes from a configured address of the server that it claims to be.
//
// A greeting on the ports between servers carries a server id, which anybody can forge. A stranger cannot
// freely choose the address that it connects from. So the address is compared with all addresses of the
// claimed server; a TLS certificate that names one of its hosts counts as well.
//
// An honest server may have an address that is not configured: behind a NAT, a proxy, or a second network
// card. Therefore the default is kLearned: once a server has connected from a configured address, it must
// always do so; before that, another address is accepted with a warning.
//
// With TLS, the certificate says who the server is, and it may have to name the server that is claimed. Then
// one server's key is not enough to speak for another server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "net/resolver.h"
#include "net/stream.h"

namespace drover::net {

enum class OriginCheck : std::uint8_t { kOff, kLearned, kStrict };

struct OriginChecks {
  OriginCheck address = OriginCheck::kLearned;
  bool certificate = false;  // of a TLS link: must name a host or an address of the server
};

// Used by the loop's thread. The resolver outlives it.
class PeerOrigins {
 public:
  using Peers = std::map<ServerId, std::vector<Endpoint>>;  // with the ports that is_of_peer() compares
  // A line for the log: a server connects from an address that is not configured, and is accepted.
  using Warn = std::function<void(const std::string& line)>;

  PeerOrigins(Resolver& resolver, const OriginChecks& checks, const Peers& peers, Warn warn = {});
  ~PeerOrigins();
  PeerOrigins(const PeerOrigins&) = delete;
  PeerOrigins& operator=(const PeerOrigins&) = delete;

  // Replaces the expected addresses, when the membership changes. A server with other hosts than before is
  // learned again. There is no expectation for servers that are not in `peers`.
  void set_peers(const Peers& peers);

  // Returns why a connection may not act as `claimed`, or nullopt if it may. After an objection the names are
  // resolved again, so that a server that has moved is accepted on its next attempt.
  std::optional<std::string> objection(ServerId claimed, const Stream& stream, const Address& from);
  // True if a configured server is known to listen at this address and port. Always false if addresses are
  // not checked.
  bool is_of_peer(const Address& at);

 private:
  struct Server {
    std::vector<Endpoint> hosts;
    std::map<std::string, std::vector<Address>> known;  // by host; literals are known from the start
    bool seen = false;                                  // has connected from a configured address
    bool warned = false;
  };

  void look_up(Server& server);
  static bool is_at(const Server& server, const Address& from);
  static bool is_named(const Server& server, const Stream& stream);
  static bool is_certified(const Server& server, const Stream& stream);
  std::optional<std::string> address_objection(ServerId claimed, Server& server, const Stream& stream,
                                               const Address& from);

  Resolver& resolver_;
  const OriginChecks checks_;
  Warn warn_;
  std::map<ServerId, Server> servers_;
  std::map<std::string, Resolver::Ticket> asked_;  // hosts with a lookup in progress
};

}  // namespace drover::net

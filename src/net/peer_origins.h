// SPDX-License-Identifier: Apache-2.0
//
// Does a connection come from where the server that it claims to be is configured?
//
// A greeting on the ports between servers carries a server's number, which anybody can write. What a stranger
// cannot choose freely is where it connects from. So the address is compared with all addresses of the
// claimed server; a TLS certificate that names one of its hosts is as good.
//
// Not every honest server is seen at a configured address: behind a NAT, a proxy, or a second network card it
// is not. Therefore kLearned, the default: from the moment a server has come from a configured address it
// must come from there; before that, another address is accepted and warned about.
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

// Used by the loop's thread. The resolver outlives it.
class PeerOrigins {
 public:
  using Peers = std::map<ServerId, std::vector<Endpoint>>;  // ports do not matter
  // A line for the log: a server comes from an address that is not configured, and is accepted.
  using Warn = std::function<void(const std::string& line)>;

  PeerOrigins(Resolver& resolver, OriginCheck check, const Peers& peers, Warn warn = {});
  ~PeerOrigins();
  PeerOrigins(const PeerOrigins&) = delete;
  PeerOrigins& operator=(const PeerOrigins&) = delete;

  // Why a connection may not speak as `claimed`; nullopt: it may. After an objection the names are looked up
  // again, so that a server which has moved is accepted when it comes the next time.
  std::optional<std::string> objection(ServerId claimed, const Stream& stream, const Address& from);

 private:
  struct Server {
    std::vector<Endpoint> hosts;
    std::map<std::string, std::vector<Address>> known;  // by host; literals from the beginning
    bool seen = false;                                  // it has come from a configured address
    bool warned = false;
  };

  void look_up(Server& server);
  static bool is_at(const Server& server, const Address& from);
  static bool is_named(const Server& server, const Stream& stream);

  Resolver& resolver_;
  const OriginCheck check_;
  Warn warn_;
  std::map<ServerId, Server> servers_;
  std::map<std::string, Resolver::Ticket> asked_;  // hosts whose lookup is under way
};

}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
//
// SASL between servers, as configured: which mechanisms accept other servers and log in to them, and which
// Kerberos principals belong to the ensemble.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "base/sasl.h"
#include "config/sasl_settings.h"
#include "net/event_loop.h"
#include "net/link_auth.h"
#include "net/sasl_starter.h"

namespace drover::server {

// Used by the loop's thread, except where noted.
class PeerSasl {
 public:
  struct Hosts {
    std::set<std::string, std::less<>> all;     // a Kerberos principal must name one of them
    std::map<ServerId, std::string> of_server;  // by which each is known to the KDC
  };

  // `settings` are enabled. The loop outlives the result. An error is one line that names the place in the
  // JAAS file, or the package that is missing.
  static IoResult<std::unique_ptr<PeerSasl>> create(net::EventLoop& loop, const QuorumSaslSettings& settings);
  PeerSasl(const PeerSasl&) = delete;
  PeerSasl& operator=(const PeerSasl&) = delete;

  // When the members change.
  void set_hosts(Hosts hosts) { hosts_ = std::move(hosts); }

  // For all links of the server.
  const net::PeerAuth& auth() const { return auth_; }

 private:
  PeerSasl() = default;
  IoResult<void> open(net::EventLoop& loop, const QuorumSaslSettings& settings);

  Hosts hosts_;
  std::unique_ptr<SaslFactory> acceptor_;
  std::unique_ptr<net::SaslStarter> starter_;
  net::PeerAuth auth_;
};

// True if create() would succeed, without a loop.
IoResult<void> check_peer_sasl(const QuorumSaslSettings& settings);

}  // namespace drover::server

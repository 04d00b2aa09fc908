// SPDX-License-Identifier: Apache-2.0
//
// One attempt to connect to a server that may have several addresses. It tries all addresses at once, and the
// first connection that is up (with TLS: after its handshake) wins. So one dead network card costs no time.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "net/resolver.h"
#include "net/stream_opener.h"

namespace drover::net {

struct DialOptions {
  std::vector<Endpoint> to = {};
  const TlsContextHolder* tls = nullptr;  // null: plain
  int timeout_ms = 5000;                  // for name lookups, connections and handshakes together
};

struct Dialled {
  Stream stream;
  Address peer;
};

// Owned and used by the loop's thread. Destroying it ends the attempt; `done` may do so.
class Dialer {
 public:
  // Called once: from the loop when a connection is up, or from on_time() when all attempts failed.
  using Done = std::function<void(IoResult<Dialled>)>;

  Dialer(EventLoop& loop, Resolver& resolver, const DialOptions& options, Done done);
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  void on_time(Instant now);
  // When to call on_time().
  Instant next_time() const;

 private:
  using Openers = std::list<std::unique_ptr<StreamOpener>>;

  void begin(const Endpoint& endpoint);
  void resolved(const Endpoint& endpoint, Resolver::Addresses addresses);
  void connect(const Endpoint& endpoint, const Address& address);
  void failed(const Endpoint& endpoint, const IoError& error);
  bool is_hopeless() const { return openers_.empty() && tickets_.empty(); }
  void finish(IoResult<Dialled> result);

  EventLoop& loop_;
  Resolver& resolver_;
  std::shared_ptr<const TlsContext> tls_;
  Instant deadline_;
  Done done_;
  std::set<Resolver::Ticket> tickets_;
  Openers openers_;
  int attempts_ = 0;
  IoError error_;  // all failures so far, as one line
};

}  // namespace drover::net

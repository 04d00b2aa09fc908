// SPDX-License-Identifier: Apache-2.0
//
// A port between servers, at all its addresses: accepts, and hands over connections that are ready to be
// read, with the question "TLS or plain?" and the handshake behind them.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/resolver.h"
#include "net/stream_opener.h"

namespace drover::net {

struct PeerListenerOptions {
  // Resolved once, at the start. An empty host (quorumListenOnAllIPs) listens on every address.
  std::vector<Endpoint> at = {};
  PeerTls tls = {};
  // Connections that have not finished their handshake. One more, and the oldest is closed: whoever
  // occupies them all must go on connecting faster than a handshake takes.
  std::size_t opening_max = 64;
};

// Used by the loop's thread. The owner calls on_time() when next_time() has come, and does not destroy
// the listener from its callbacks.
class PeerListener {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_accepted(Stream stream, const Address& peer) = 0;
    // A connection came to nothing. As often as somebody likes to connect: mind the log.
    virtual void on_refused(const Address& peer, const std::string& reason) = 0;
  };

  static IoResult<std::unique_ptr<PeerListener>> open(EventLoop& loop, Owner& owner,
                                                      const PeerListenerOptions& options);
  ~PeerListener();
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;

  // One for each different endpoint, with the ports that the kernel chose where 0 was asked for.
  std::vector<Address> local() const;

  void on_time(Instant now);
  std::optional<Instant> next_time() const;

 private:
  struct Port;
  struct Opening {
    Address peer;
    Instant deadline;
    std::unique_ptr<StreamOpener> opener = {};
  };

  PeerListener(EventLoop& loop, Owner& owner, const PeerListenerOptions& options);
  void admit(Accepted accepted);
  void start_opening(Accepted accepted);
  void refuse_oldest(const std::string& reason);
  void rest();

  EventLoop& loop_;
  Owner& owner_;
  PeerListenerOptions options_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::list<Opening> opening_;  // oldest first
  std::optional<Instant> resting_until_;
};

}  // namespace drover::net

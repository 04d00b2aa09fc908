// SPDX-License-Identifier: Apache-2.0
//
// A port between servers, on all its addresses. Accepts connections, detects TLS or plain, completes the
// handshake, and hands over streams that are ready to read.
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
  // Resolved once, when the listener is opened. An empty host (quorumListenOnAllIPs) listens on every
  // address.
  std::vector<Endpoint> at = {};
  PeerTls tls = {};
  // Maximum number of connections in their handshake. If there is one more, the oldest is closed: an attacker
  // who wants to occupy all of them must keep connecting faster than a handshake takes.
  std::size_t opening_max = 64;
};

// Used by the loop's thread. The owner calls on_time() when next_time() is reached, and must not destroy or
// rebind the listener from its callbacks.
class PeerListener {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_accepted(Stream stream, const Address& peer) = 0;
    // A connection failed before it was ready. Anybody can cause this at any rate: limit the log lines.
    virtual void on_refused(const Address& peer, const std::string& reason) = 0;
  };

  static IoResult<std::unique_ptr<PeerListener>> open(EventLoop& loop, Owner& owner,
                                                      const PeerListenerOptions& options);
  ~PeerListener();
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;

  // Listens at other addresses: opens the new ones, then closes the old ones. An address in both lists stays
  // open. Connections in their handshake stay, too. On failure nothing changes; a wildcard and a single
  // address cannot replace each other on the same port, because both are open for a moment. Blocks for the
  // lookup of names, like open().
  IoResult<void> rebind(std::vector<Endpoint> at);

  // One address for each distinct endpoint, with the port that the kernel chose if 0 was requested.
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
  IoResult<std::unique_ptr<Port>> open_port(const Endpoint& at);
  Port* find_port(const Endpoint& at) const;
  Port* find_port_by_address(const Endpoint& at) const;
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

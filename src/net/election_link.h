// SPDX-License-Identifier: Apache-2.0
//
// The election port: one connection to each other server, which carries notifications in both directions.
//
// Both servers may connect at the same time, but only one connection may remain. The rule is ZooKeeper's
// (QuorumCnxManager): the server with the larger id connects. If the smaller one connects, it only sends its
// greeting (a "knock"); the larger one closes that connection and connects back. Unlike ZooKeeper it connects
// back only to the addresses of its own configuration, because anybody can forge those in a greeting.
//
//   ffffffffffff0000 0000000000000002 0000000e "127.0.0.1:3888"    greeting of server 2
//   000000b3 <179 bytes>                                           frames: one notification each
//
// A notification holds the sender's complete state, so only the newest one matters. Each peer has a queue of
// one notification. The last sent one is kept as well, because a broken connection does not tell what it has
// delivered.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "net/peer_link.h"
#include "net/peer_listener.h"
#include "net/peer_origins.h"
#include "net/peer_refusals.h"

namespace drover::net {

struct ElectionLinksConfig {
  using Peers = std::map<ServerId, std::vector<Endpoint>>;

  ServerId me{};
  std::vector<Endpoint> my_addresses = {};  // our own, sent in the greeting
  std::vector<Endpoint> listen = {};
  Peers peers = {};  // all other servers, including observers; an entry for `me` is ignored
  int connect_timeout_ms = 5000;
  int hello_timeout_ms = 10'000;
  // A link is broken if sent bytes are not acknowledged for this long. Otherwise TCP would retry for a
  // quarter of an hour, and after a long partition wait minutes before the next retry.
  int unacked_timeout_ms = 10'000;
  PeerTls tls = {};
  PeerOrigins* origins = nullptr;  // checks the addresses of peers; outlives the links. Null: no check.
};

// Used by the loop's thread; the loop and the resolver outlive it. The owner calls on_time() when next_time()
// is reached.
class ElectionLinks final : private PeerLink::Owner, private PeerListener::Owner {
 public:
  // Called from the loop and on_time(), never from the functions below. The first two callbacks may call any
  // of these functions, but must not destroy the object.
  struct Callbacks {
    std::function<void(ServerId from, std::string_view notification)> on_notification = {};
    // Called only on changes. True: a link is up. False: it broke, could not be made, or the peer did not
    // connect back.
    std::function<void(ServerId peer, bool reachable)> on_reachable = {};
    // A line for the log: why a peer is unreachable, or which connection was refused (at most one line a
    // second).
    std::function<void(const std::string& line)> on_trouble = {};
  };

  static IoResult<std::unique_ptr<ElectionLinks>> open(EventLoop& loop, Resolver& resolver,
                                                       ElectionLinksConfig config, Callbacks callbacks);
  ~ElectionLinks() override;
  ElectionLinks(const ElectionLinks&) = delete;
  ElectionLinks& operator=(const ElectionLinks&) = delete;

  // Replaces the queued notification for this peer. Connects if necessary, and retries until it is sent. Does
  // nothing for servers that are not peers (and for ourselves).
  void send(ServerId to, std::string notification);
  // Closes the links to servers that are no longer peers; keeps the others.
  void set_peers(const ElectionLinksConfig::Peers& peers);
  // Closes everything, permanently.
  void close();

  std::vector<Address> local() const;
  bool has_link(ServerId peer) const;
  std::size_t ungreeted() const { return ungreeted_.size(); }
  // Safe to read from any thread.
  const PeerRefusals& refusals() const { return refusals_; }

  void on_time(Instant now);
  std::optional<Instant> next_time() const;

 private:
  struct Peer {
    std::vector<Endpoint> addresses = {};
    std::unique_ptr<PeerLink> link = {};
    Instant up_since = {};
    // An outgoing connection: the future link, or (if our id is the smaller one) a knock.
    std::unique_ptr<PeerLink> dialled = {};
    std::optional<Instant> knock_deadline = {};  // the peer got our knock and must connect back by then
    std::optional<std::string> waiting = {};     // not sent yet
    std::string last = {};                       // sent last
    Instant retry_at = {};
    int backoff_ms = 0;
    std::optional<bool> reachable = {};
  };
  using PeerEntry = std::map<ServerId, Peer>::value_type;

  // An accepted connection that has not sent its greeting yet.
  struct Ungreeted {
    std::unique_ptr<PeerLink> link;
    Instant deadline;
  };

  ElectionLinks(EventLoop& loop, Resolver& resolver, ElectionLinksConfig config, Callbacks callbacks);
  PeerLinkOptions link_options() const;

  void on_accepted(Stream stream, const Address& peer) override;
  void on_refused(const Address& peer, const std::string& reason) override;
  void on_connected(PeerLink& link) override;
  std::size_t on_bytes(PeerLink& link, std::string_view bytes) override;
  void on_writable(PeerLink& link) override;
  void on_closed(PeerLink& link, const std::string& reason) override;

  std::size_t read_hello(PeerLink& link, std::string_view bytes);
  std::size_t read_frames(PeerLink& link, std::string_view bytes);
  void on_knock(PeerEntry& peer);
  void refuse(PeerLink& link, Refusal kind, const std::string& reason);
  void tell_refusal(const Address& peer, const std::string& reason);
  std::unique_ptr<PeerLink> take_ungreeted(const PeerLink& link);

  void dial(PeerEntry& peer);
  void dial_if_due(PeerEntry& peer, Instant now);
  void establish(PeerEntry& peer, std::unique_ptr<PeerLink> link);
  void pump(Peer& peer);
  void link_lost(PeerEntry& peer, const std::string& reason);
  void dial_failed(PeerEntry& peer, const std::string& reason);
  void back_off(Peer& peer);
  void set_reachable(PeerEntry& peer, bool reachable, const std::string& reason = {});
  PeerEntry* owner_of(const PeerLink& link);
  std::vector<PeerLink*> links() const;
  void on_peer_time(ServerId id, Instant now);

  EventLoop& loop_;
  Resolver& resolver_;
  ElectionLinksConfig config_;
  Callbacks callbacks_;
  std::string hello_;
  std::map<ServerId, Peer> peers_;
  std::list<Ungreeted> ungreeted_;  // oldest first
  std::unique_ptr<PeerListener> listener_;
  PeerRefusals refusals_;
  Instant next_refusal_line_;
  std::uint64_t refusals_untold_ = 0;
};

}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
//
// The election port: one connection to each other server, which carries notifications in both directions.
//
// Both servers may connect at the same time, but only one connection may remain. The rule is ZooKeeper's
// (QuorumCnxManager): the server with the larger id connects. If the smaller one connects, it only sends its
// greeting (a "knock"); the larger one closes that connection and connects back. Unlike ZooKeeper it connects
// back only to the addresses of its own configuration, because anybody can forge those in a greeting.
//
// A server that is about to join the ensemble is not configured yet. If guests are allowed, it may link as a
// guest, and is dialled at the addresses of its greeting. The number of guests is limited: if there is one
// more, the guest that has been silent the longest is disconnected. A guest whose link breaks is forgotten.
//
// With SASL, the connecting server authenticates right after its greeting (net/link_auth.h), before a knock,
// too. Nothing that a peer says counts before that, not even that it has knocked.
//
//   ffffffffffff0000 0000000000000002 0000000e "127.0.0.1:3888"    greeting of server 2
//   000000b3 <179 bytes>                                           frames: one notification each
//
// A notification holds the sender's complete state, so only the newest one matters. Each peer has a queue of
// one notification. The last sent one is kept as well, because a broken connection does not tell what it has
// delivered.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
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
#include "net/link_auth.h"
#include "net/peer_link.h"
#include "net/peer_listener.h"
#include "net/peer_origins.h"
#include "net/peer_refusals.h"
#include "wire/quorum.h"

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
  const PeerAuth* auth = &kNoPeerAuth;  // outlives the links
  PeerOrigins* origins = nullptr;       // checks the addresses of peers; outlives the links. Null: no check.
  // Maximum number of guests; 0: servers that are not peers are refused. Each guest costs at most about 1 MiB
  // and 20 descriptors.
  std::size_t guests_max = 0;
  Resolver::Lookup guest_lookup = resolve;  // for the names in the greetings of guests
};

// Used by the loop's thread; the loop and the resolver outlive it. The owner calls on_time() when next_time()
// is reached.
class ElectionLinks final : private PeerLink::Owner, private PeerListener::Owner {
 public:
  // Called from the loop and on_time(), never from the functions below. The first two callbacks may call any
  // of these functions, but must not destroy the object.
  struct Callbacks {
    std::function<void(ServerId from, std::string_view notification)> on_notification = {};
    // Called only on changes, and not for guests. True: a link is up. False: it broke, could not be made, or
    // the peer did not connect back.
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

  // Replaces the queued notification for this peer or guest. Connects to a peer if necessary, and retries
  // until it is sent. Does nothing for other servers (and for ourselves).
  void send(ServerId to, std::string notification);
  // A guest that becomes a peer keeps its link. A peer that is no longer one becomes a guest if it has a link
  // and guests are allowed, so that it can learn that it was removed; otherwise its link is closed. A peer
  // with new addresses keeps its link. Call PeerOrigins::set_peers() first.
  void set_peers(const ElectionLinksConfig::Peers& peers);
  // Our own addresses have changed. Listens at the new ones (see PeerListener::rebind()) and sends them in
  // later greetings. Keeps all links. On failure nothing changes.
  IoResult<void> rebind(const std::vector<Endpoint>& listen, const std::vector<Endpoint>& my_addresses);
  // Closes everything, permanently.
  void close();

  std::vector<Address> local() const;
  bool has_link(ServerId peer) const;  // or guest
  std::size_t guests() const;
  std::size_t ungreeted() const { return ungreeted_.size(); }
  // Safe to read from any thread.
  const PeerRefusals& refusals() const { return refusals_; }

  void on_time(Instant now);
  std::optional<Instant> next_time() const;

 private:
  struct Guest {
    std::uint64_t heard = 0;  // larger: heard from more recently
    int dials_left = 0;
    // Only then we authenticate to it: a stranger could guess passwords from what we send.
    bool is_authenticated = false;
    // Used by `dialled`. The shared resolver never forgets a name, so a stranger could fill it.
    std::unique_ptr<Resolver> resolver = {};
  };

  // A peer or a guest. A guest has a link, is being dialled, or waits for its next dial.
  struct Peer {
    std::optional<Guest> guest = {};
    std::vector<Endpoint> addresses = {};
    std::unique_ptr<PeerLink> link = {};
    bool is_guest_link = false;  // it came up when this was a guest, so its origin is not checked yet
    Instant up_since = {};
    // An outgoing connection: the future link, or (if our id is the smaller one) a knock.
    std::unique_ptr<PeerLink> dialled = {};
    std::unique_ptr<ConnectingAuth> auth = {};  // while `dialled` authenticates
    Instant auth_deadline = {};
    std::optional<Instant> knock_deadline = {};  // the peer got our knock and must connect back by then
    std::optional<std::string> waiting = {};     // not sent yet
    std::string last = {};                       // sent last
    Instant retry_at = {};
    int backoff_ms = 0;
    std::optional<bool> reachable = {};
  };
  using PeerEntry = std::map<ServerId, Peer>::value_type;

  // An accepted connection that has not sent its greeting yet, or has not authenticated yet.
  struct Ungreeted {
    std::unique_ptr<PeerLink> link;
    Instant deadline;
    wire::ElectionHello hello = {};           // with `auth`
    std::unique_ptr<AcceptedAuth> auth = {};  // the greeting has arrived, and SASL is on
    std::optional<Instant> quiet_until = {};  // then it does not authenticate, and need not
  };

  ElectionLinks(EventLoop& loop, Resolver& resolver, ElectionLinksConfig config, Callbacks callbacks);
  PeerLinkOptions link_options() const;

  void on_accepted(Stream stream, const Address& peer) override;
  void on_refused(const Address& peer, const std::string& reason) override;
  void on_connected(PeerLink& link) override;
  std::size_t on_bytes(PeerLink& link, std::string_view bytes) override;
  void on_writable(PeerLink& link) override;
  void on_closed(PeerLink& link, const std::string& reason) override;

  std::size_t read_frames(PeerLink& link, std::string_view bytes);

  // In election_link_greeting.cc.
  using UngreetedPlace = std::list<Ungreeted>::iterator;
  std::size_t read_ungreeted(PeerLink& link, std::string_view bytes);
  std::size_t read_hello(Ungreeted& ungreeted, std::string_view bytes);
  std::size_t read_auth(Ungreeted& ungreeted, std::string_view bytes);
  std::size_t admit(PeerLink& link, const wire::ElectionHello& hello, bool is_authenticated,
                    std::string_view bytes);
  std::optional<std::string> origin_objection(const wire::ElectionHello& hello, const PeerLink& link);
  void on_knock(PeerEntry& peer, const std::vector<std::string>& announced);
  void ungreeted_closed(PeerLink& link, const std::string& reason);
  void on_ungreeted_time(Instant now);
  void refuse(PeerLink& link, Refusal kind, const std::string& reason);
  void tell_refusal(const Address& peer, const std::string& reason);
  void tell_at_most_once_a_second(std::string line);
  UngreetedPlace find_ungreeted(const PeerLink& link);
  std::unique_ptr<PeerLink> take_ungreeted(const PeerLink& link);

  void dial(PeerEntry& peer);
  void dial_if_due(PeerEntry& peer, Instant now);
  bool is_auth_needed(const Peer& peer) const;
  void authenticate(PeerEntry& peer);
  void on_auth_started(ServerId id);
  std::size_t read_auth_answer(PeerEntry& peer, PeerLink& link, std::string_view bytes);
  void on_dialled(PeerEntry& peer, PeerLink& link);
  static void stop_dialling(Peer& peer);
  void establish(PeerEntry& peer, std::unique_ptr<PeerLink> link);
  void pump(Peer& peer);
  void link_lost(PeerEntry& peer, const std::string& reason);
  void dial_failed(PeerEntry& peer, const std::string& reason);
  void back_off(Peer& peer);
  void set_reachable(PeerEntry& peer, bool reachable, const std::string& reason = {});
  PeerEntry* owner_of(const PeerLink& link);
  std::vector<PeerLink*> links() const;
  void on_peer_time(ServerId id, Instant now);
  static bool is_link_unreported(const Peer& peer) {
    return peer.link && !peer.guest && peer.reachable != true;
  }
  void set_peer(PeerEntry& peer, const std::vector<Endpoint>& addresses);
  void set_my_addresses(const std::vector<Endpoint>& addresses);

  // In election_link_guests.cc.
  std::expected<PeerEntry*, std::string> admit_guest(ServerId id, const std::vector<std::string>& announced);
  bool become_guest(Peer& peer);
  void disconnect_quietest_guest();
  void prepare_guest_dial(Peer& peer, const std::vector<std::string>& announced);
  void guest_dial_failed(PeerEntry& guest, const std::string& reason);
  void guest_link_lost(PeerEntry& guest);
  bool is_led_to_peer(const PeerEntry& peer, const PeerLink& dialled) const;
  std::optional<std::string> late_objection(PeerEntry& peer);
  Resolver::Lookup limited_lookup() const;

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
  std::uint64_t guests_heard_ = 0;
  std::shared_ptr<std::atomic<int>> guest_lookups_;  // in progress; shared with their threads
};

}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
//
// The sockets of a member of an ensemble: election links, the quorum port, and one link per learner or one
// link to the leader. Executes the effects of the agreement protocol, and reports the results to the core.
//
// Runs on the core's thread, inside its event loop, except where noted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "host/link_guard.h"
#include "host/state_walk.h"
#include "host/stream_pace.h"
#include "net/election_link.h"
#include "net/event_loop.h"
#include "net/link_auth.h"
#include "net/peer_link.h"
#include "net/peer_listener.h"
#include "net/peer_origins.h"
#include "net/peer_refusals.h"
#include "net/resolver.h"
#include "net/tls_context_holder.h"
#include "runtime/core.h"
#include "runtime/ensemble_facts.h"
#include "runtime/log_stream_thread.h"
#include "runtime/peer_sasl.h"
#include "runtime/quorum_door.h"
#include "runtime/tree_lock.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "zab/effects.h"
#include "zab/memberships.h"

namespace drover::server {

class EnsembleHost final : public PeerPort, private net::PeerLink::Owner, private net::PeerListener::Owner {
 public:
  struct Parts {
    net::EventLoop& loop;
    Core& core;
    state::Machine& machine;
    TreeLock& lock;
    storage::Disk& disk;
    storage::DataDirs dirs;
    // Other members are in force. Called on the core's thread; must not block.
    std::function<void(const zab::Membership&)> on_members = {};
  };
  // Opens both ports. `parts` outlive the host.
  static IoResult<std::unique_ptr<EnsembleHost>> open(const ServerConfig& config, const Parts& parts,
                                                      const zab::Memberships& memberships);
  ~EnsembleHost() override;

  void carry_out(zab::Effects& effects, const zab::Memberships& memberships) override;
  void flush() override;
  void on_time(Instant now) override;
  std::optional<Instant> next_time() const override;

  // sslQuorumReloadCertFiles: new links use changed stores. Called by one thread, which can be any.
  void reload_changed_tls();

  // Facts of a link that a learner opened. Safe to call from any thread. The queued bytes are those of the
  // last send; pings keep them recent.
  std::optional<LinkFacts> facts(zab::LinkId link) const;
  // Safe to call from any thread.
  PortRefusals refusals() const { return {&refusals_, &election_->refusals()}; }

 private:
  // The public facts of a link.
  struct ShownLink {
    std::string peer;
    std::atomic<std::size_t> queued_bytes = 0;
  };
  // Transactions from the log files, on their way to a learner.
  struct LogOnItsWay {
    bool is_ready = false;  // the learner has been sent DIFF
    bool is_asked = false;  // the thread reads the next piece
    std::string behind;     // what was sent to the learner meanwhile
  };
  struct Link {
    zab::LinkId id{};
    std::unique_ptr<net::PeerLink> link;
    std::unique_ptr<host::StateStream> stream;
    std::unique_ptr<LogOnItsWay> log;
    host::StreamPace pace;              // of the stream
    std::optional<Instant> next_piece;  // of the stream, when it rests
    bool is_up = false;                 // connected and, if dialled, authenticated
    bool dirty = false;
    Instant taken_told{};              // when the core was last told that the peer takes data
    std::shared_ptr<ShownLink> shown;  // null: dialled
    ServerId dialled{};
    std::unique_ptr<net::ConnectingAuth> auth;  // dialled, while it authenticates
  };

  EnsembleHost(const ServerConfig& config, const Parts& parts, const zab::Memberships& memberships);
  IoResult<void> open_ports();
  IoResult<void> open_election_port(const net::ElectionLinksConfig& config);
  net::ElectionLinks::Callbacks election_callbacks();
  IoResult<void> load_tls();
  IoResult<void> load_sasl();

  // --- the members change: ensemble_host_members.cc ---
  void follow(const zab::Memberships& memberships);
  net::PeerOrigins::Peers everybody() const;
  std::vector<net::Endpoint> quorum_endpoints(ServerId server) const;
  PeerSasl::Hosts hosts_of_members() const;
  void note_own_addresses();
  std::vector<net::Endpoint> listen_at(std::vector<net::Endpoint> own) const;
  void move_ports(Instant now);

  // quorum port
  void on_accepted(net::Stream stream, const net::Address& peer) override;
  void on_refused(const net::Address& peer, const std::string& reason) override;
  void on_connected(net::PeerLink& link) override;
  std::size_t on_bytes(net::PeerLink& link, std::string_view bytes) override;
  void on_writable(net::PeerLink& link) override;
  void on_taken(net::PeerLink& link) override;
  void on_closed(net::PeerLink& link, const std::string& reason) override;

  // --- connections that are not identified yet: ensemble_host_greeting.cc ---
  // Returns how much was consumed. Afterwards the link waits for more, was admitted, or is closed.
  std::size_t read_greeting(Link& link, std::string_view bytes);
  void refuse(zab::LinkId id, net::Refusal kind, const std::string& reason);
  void refuse_late(zab::LinkId id);
  void begin_dialled(Link& link);
  void authenticate(Link& link);
  void on_auth_started(zab::LinkId id);
  std::size_t read_auth_answer(Link& link, std::string_view bytes);
  void dial_failed(zab::LinkId id, const std::string& reason);

  // Tells the member what has happened to a link.
  void tell(const zab::LinkEvent& event);
  void dial(const zab::Dial& dial);
  void send(zab::LinkSend& send);
  void begin_stream(Link& link);
  void pump(Link& link);
  void end_stream(Link& link);
  // --- transactions from the log files: ensemble_host_log.cc ---
  void begin_log(Link& link, const zab::LogRange& range);
  void ask_for_piece(Link& link);
  void take_log_answers();
  void on_log_found(Link& link, const LogStreamThread::Answer& answer);
  void on_log_piece(Link& link, const LogStreamThread::Answer& answer);
  void end_log(Link& link);
  void close(zab::LinkId id);
  void check_queue(Link& link);
  static std::size_t queued_bytes(const Link& link);
  void show(Link& link, const net::Address& peer);
  void forget(zab::LinkId id);
  Link* find(const net::PeerLink& link);

  const ServerConfig& config_;
  Parts parts_;
  zab::Memberships memberships_;  // the member's, as of its last effects
  host::LinkLimits limits_;
  // In the members in force. A server that is not one of them keeps those that it had.
  std::vector<PeerAddress> own_addresses_;
  std::optional<Instant> move_ports_at_;  // set while the ports are not those of own_addresses_
  std::unique_ptr<net::TlsContextHolder> server_tls_;
  std::unique_ptr<net::TlsContextHolder> client_tls_;
  std::unique_ptr<net::Resolver> resolver_;
  std::unique_ptr<net::PeerOrigins> origins_;
  std::unique_ptr<PeerSasl> sasl_;  // null: SASL is off
  std::optional<QuorumDoor> door_;
  std::unique_ptr<net::ElectionLinks> election_;
  std::unique_ptr<net::PeerListener> listener_;
  std::map<zab::LinkId, Link> links_;
  mutable std::mutex shown_mutex_;
  std::map<zab::LinkId, std::shared_ptr<ShownLink>> shown_;  // accepted links
  std::vector<std::unique_ptr<net::PeerLink>> graveyard_;    // closed, perhaps in their own callback
  std::vector<zab::LinkId> broken_;  // closed by us; the core hears of it as soon as it is idle
  std::uint64_t next_link_ = 0;
  net::PeerRefusals refusals_;  // on the quorum port
  Instant next_refusal_line_;
  std::unique_ptr<LogStreamThread> logs_;  // null: snapshotSizeFactor is negative
};

}  // namespace drover::server

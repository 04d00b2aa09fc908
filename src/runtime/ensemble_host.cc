// SPDX-License-Identifier: Apache-2.0
#include "runtime/ensemble_host.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "base/ensure.h"
#include "log/log.h"
#include "runtime/ensemble_settings.h"
#include "runtime/peer_endpoints.h"
#include "runtime/settings.h"
#include "wire/quorum.h"

namespace drover::server {
namespace {

// How often the agreement protocol hears that a learner takes data.
constexpr std::int64_t kTakenToldEveryMs = 100;
constexpr const char* kDuringAuth =
    " during the SASL authentication; the log of that server may say why (see quorum.auth.enableSasl)";
// Election links of servers that are not members.
constexpr std::size_t kGuestsMax = 16;

host::LinkLimits link_limits(const ServerConfig& config) {
  const int timeout_ms = config.ensemble.quorum_connection_timeout_ms;
  return {.greeting_ms = timeout_ms > 0 ? timeout_ms : config.tick_time_ms * config.ensemble.sync_limit_ticks,
          .txn_bytes_max = txn_bytes_max(config)};
}

net::OriginChecks origin_checks(const ServerConfig& config) {
  return {.address = config.ensemble.origin_check, .certificate = checks_peer_certificates(config)};
}

}  // namespace

EnsembleHost::EnsembleHost(const ServerConfig& config, const Parts& parts,
                           const zab::Memberships& memberships)
    : config_(config), parts_(parts), memberships_(memberships), limits_(link_limits(config)) {}

IoResult<std::unique_ptr<EnsembleHost>> EnsembleHost::open(const ServerConfig& config, const Parts& parts,
                                                           const zab::Memberships& memberships) {
  std::unique_ptr<EnsembleHost> host(new EnsembleHost(config, parts, memberships));
  TRY(host->load_tls());
  TRY(host->load_sasl());
  TRY(host->open_ports());
  if (config.ensemble.snapshot_size_factor >= 0)
    host->logs_ = std::make_unique<LogStreamThread>(
        parts.disk,
        host::LogStreamOptions{.dirs = parts.dirs, .size_factor = config.ensemble.snapshot_size_factor},
        [&loop = parts.loop] { loop.wake(); });
  return host;
}

EnsembleHost::~EnsembleHost() {
  for (auto& [id, link] : links_) end_stream(link);
}

IoResult<void> EnsembleHost::load_tls() {
  if (!config_.ensemble.ssl_quorum && !config_.ensemble.port_unification) return {};
  TRY_ASSIGN(server_tls_,
             net::TlsContextHolder::load(to_tls_options(config_.quorum_tls, net::TlsRole::kServer)));
  TRY_ASSIGN(client_tls_,
             net::TlsContextHolder::load(to_tls_options(config_.quorum_tls, net::TlsRole::kClient)));
  return {};
}

IoResult<void> EnsembleHost::load_sasl() {
  const EnsembleConfig& e = config_.ensemble;
  if (config_.sasl.quorum.enabled) {
    TRY_ASSIGN(sasl_, PeerSasl::create(parts_.loop, config_.sasl.quorum));
    sasl_->set_hosts(hosts_of_members());
  }
  door_.emplace(host::LinkGuard(*e.my_id, e.reconfig_enabled, limits_),
                sasl_ ? sasl_->auth() : net::kNoPeerAuth);
  return {};
}

IoResult<void> EnsembleHost::open_ports() {
  const EnsembleConfig& e = config_.ensemble;
  own_addresses_ = e.members.servers().at(*e.my_id).addresses;
  note_own_addresses();
  const net::PeerTls tls{.server = server_tls_.get(),
                         .client = e.ssl_quorum ? client_tls_.get() : nullptr,
                         .accepts_plain = !e.ssl_quorum || e.port_unification};
  TRY_ASSIGN(resolver_, net::Resolver::create(parts_.loop));
  origins_ =
      std::make_unique<net::PeerOrigins>(*resolver_, origin_checks(config_), everybody(),
                                         [](const std::string& line) { log_warn("ensemble", "{}", line); });
  net::ElectionLinksConfig election;
  election.me = *e.my_id;
  election.my_addresses = endpoints(own_addresses_, &PeerAddress::election_port);
  election.listen = listen_at(election.my_addresses);
  election.peers = everybody();
  if (e.reconfig_enabled) election.guests_max = kGuestsMax;
  election.origins = origins_.get();
  if (sasl_) election.auth = &sasl_->auth();
  election.connect_timeout_ms = e.connect_timeout_ms;
  election.hello_timeout_ms = static_cast<int>(limits_.greeting_ms);
  election.tls = tls;
  TRY(open_election_port(election));
  net::PeerListenerOptions quorum;
  quorum.at = listen_at(endpoints(own_addresses_, &PeerAddress::quorum_port));
  quorum.tls = tls;
  TRY_ASSIGN(listener_, net::PeerListener::open(parts_.loop, *this, quorum));
  return {};
}

// The previous process may not have released the port yet.
IoResult<void> EnsembleHost::open_election_port(const net::ElectionLinksConfig& config) {
  const int tries_max = config_.ensemble.election_port_bind_retries;  // 0: no limit
  for (int tries = 1;; ++tries) {
    auto opened = net::ElectionLinks::open(parts_.loop, *resolver_, config, election_callbacks());
    if (opened) {
      election_ = std::move(*opened);
      return {};
    }
    if (tries == tries_max) return std::unexpected(opened.error());
    log_warn("election", "{}: trying again in a second", opened.error().what);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

net::ElectionLinks::Callbacks EnsembleHost::election_callbacks() {
  return {.on_notification =
              [this](ServerId from, std::string_view frame) {
                const auto notification = wire::decode_notification(frame);
                if (!notification) return;
                const Instant now = parts_.loop.now();
                parts_.core.input(now, [&](replica::Member& member, replica::Effects& effects) {
                  member.on_notification(from, *notification, now, effects);
                });
              },
          .on_reachable =
              [this](ServerId peer, bool reachable) {
                parts_.core.input(parts_.loop.now(), [&](replica::Member& member, replica::Effects&) {
                  member.on_reachable(peer, reachable);
                });
              },
          .on_trouble = [](const std::string& line) { log_info("election", "{}", line); }};
}

void EnsembleHost::reload_changed_tls() {
  if (!config_.ensemble.ssl_quorum_reload_cert_files) return;
  for (net::TlsContextHolder* holder : {server_tls_.get(), client_tls_.get()}) {
    if (holder == nullptr) continue;
    if (auto changed = holder->poll_for_changes(); !changed) {
      log_error("tls", "cannot reload the key and trust stores of the quorum, the old ones stay in use: {}",
                changed.error().what);
    } else if (*changed) {
      log_info("tls", "key and trust stores of the quorum were reloaded");
    }
  }
}

// --- effects of the agreement protocol ---

void EnsembleHost::carry_out(zab::Effects& effects, const zab::Memberships& memberships) {
  // First: the rest may be for servers that were no members before.
  if (effects.memberships_changed) follow(memberships);
  for (const zab::NotificationSend& each : effects.notify) {
    std::string frame;
    wire::append_notification(frame, each.notification);
    election_->send(each.to, std::move(frame));
  }
  for (zab::LinkSend& each : effects.send) send(each);
  for (const zab::LinkId id : effects.close) close(id);
  if (effects.dial) dial(*effects.dial);
}

void EnsembleHost::send(zab::LinkSend& send) {
  const auto found = links_.find(send.link);
  if (found == links_.end()) return;
  Link& link = found->second;
  if (send.snapshot) return begin_stream(link);
  if (send.log) return begin_log(link, *send.log);
  if (link.stream) {
    link.stream->keep_behind(send.bytes);
  } else if (link.log && link.log->is_ready) {
    link.log->behind.append(send.bytes);
  } else {
    link.link->output().append(send.bytes);
    link.dirty = true;
  }
  check_queue(link);
}

std::size_t EnsembleHost::queued_bytes(const Link& link) {
  return link.link->queued_bytes() + (link.stream ? link.stream->bytes_behind() : 0) +
         (link.log ? link.log->behind.size() : 0);
}

void EnsembleHost::check_queue(Link& link) {
  const std::size_t queued = queued_bytes(link);
  if (!limits_.is_too_much(queued)) return;
  log_warn("ensemble", "closing the link to a learner that reads too slowly: {} MB are waiting for it",
           queued >> 20);
  broken_.push_back(link.id);
}

void EnsembleHost::flush() {
  for (auto& [id, link] : links_) {
    if (!link.dirty) continue;
    link.dirty = false;
    link.link->flush();
    if (link.shown) link.shown->queued_bytes.store(queued_bytes(link), std::memory_order_relaxed);
  }
  graveyard_.clear();
}

void EnsembleHost::tell(const zab::LinkEvent& event) {
  const Instant now = parts_.loop.now();
  parts_.core.input(
      now, [&](replica::Member& member, replica::Effects& effects) { member.on_link(event, now, effects); });
}

void EnsembleHost::dial(const zab::Dial& dial) {
  ENSURE(!links_.contains(dial.link), "a link is dialled once");
  Link& link = links_[dial.link];
  link.id = dial.link;
  link.dialled = dial.server;
  net::DialOptions attempt;
  attempt.to = quorum_endpoints(dial.server);
  attempt.tls = config_.ensemble.ssl_quorum ? client_tls_.get() : nullptr;
  attempt.timeout_ms =
      static_cast<int>(std::clamp<std::int64_t>(dial.timeout_ms, 1, std::numeric_limits<int>::max()));
  link.link = net::PeerLink::dial(parts_.loop, *resolver_, *this, std::move(attempt));
}

void EnsembleHost::close(zab::LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  end_stream(found->second);
  end_log(found->second);
  found->second.link->flush();
  found->second.link->close();
  graveyard_.push_back(std::move(found->second.link));
  forget(id);
}

// --- sending the state to a learner ---

void EnsembleHost::begin_stream(Link& link) {
  ENSURE(!link.stream, "a learner gets one state at a time");
  link.stream = std::make_unique<host::StateStream>(parts_.machine);
  link.pace = {};
  TreeLock::Reading reading(parts_.lock, TreeSlot::kStreams);
  link.stream->begin(link.link->output());
  link.dirty = true;
  link.link->ask_writable();
}

void EnsembleHost::pump(Link& link) {
  using host::WalkProgress;
  auto progress = WalkProgress::kMore;
  while (progress == WalkProgress::kMore && link.link->queued_bytes() < host::kStreamPieceBytes) {
    {
      TreeLock::Reading reading(parts_.lock, TreeSlot::kStreams);
      progress = link.stream->step();
    }
    link.stream->append_to(link.link->output());
  }
  if (progress == WalkProgress::kCutOff) {
    broken_.push_back(link.id);
    return;
  }
  if (progress == WalkProgress::kMore) {
    // Zero: in the next round of the loop, after the packets that have arrived meanwhile.
    link.next_piece = parts_.loop.now() + link.pace.rest_ms(parts_.machine.last_zxid);
    return link.link->flush();
  }
  end_stream(link);
  link.dirty = true;
  tell({link.id, zab::LinkEvent::Kind::kStateSent});
}

void EnsembleHost::end_stream(Link& link) {
  if (!link.stream) return;
  TreeLock::Reading reading(parts_.lock, TreeSlot::kStreams);
  link.stream.reset();
}

// --- events of the links ---

EnsembleHost::Link* EnsembleHost::find(const net::PeerLink& link) {
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [&](const auto& each) { return each.second.link.get() == &link; });
  return found == links_.end() ? nullptr : &found->second;
}

void EnsembleHost::on_connected(net::PeerLink& link) {
  Link* found = find(link);
  if (!found) return;
  if (sasl_ && sasl_->auth().connector) return authenticate(*found);
  begin_dialled(*found);
}

std::size_t EnsembleHost::on_bytes(net::PeerLink& link, std::string_view bytes) {
  Link* found = find(link);
  if (!found) return bytes.size();
  const zab::LinkId id = found->id;
  std::size_t consumed = 0;
  if (found->auth) {
    consumed = read_auth_answer(*found, bytes);
  } else if (door_->is_waiting_for(id)) {
    consumed = read_greeting(*found, bytes);
  }
  const auto still = links_.find(id);
  if (still == links_.end() || still->second.auth || door_->is_waiting_for(id)) return consumed;
  return consumed + parts_.core.on_link_bytes(id, bytes.substr(consumed), parts_.loop.now());
}

void EnsembleHost::on_writable(net::PeerLink& link) {
  on_taken(link);  // A quick socket took the data before anything was queued.
  Link* found = find(link);
  if (found && found->log) ask_for_piece(*found);
  if (found && found->stream) pump(*found);  // The link may be gone afterwards.
}

void EnsembleHost::on_taken(net::PeerLink& link) {
  Link* found = find(link);
  const Instant now = parts_.loop.now();
  if (!found || !found->shown || now - found->taken_told < kTakenToldEveryMs) return;
  found->taken_told = now;
  tell({found->id, zab::LinkEvent::Kind::kTaken});
}

void EnsembleHost::on_closed(net::PeerLink& link, const std::string& reason) {
  Link* found = find(link);
  if (!found) return;
  const zab::LinkId id = found->id;
  const bool was_up = found->is_up;
  if (door_->is_waiting_for(id)) {
    refusals_.count(door_->is_authenticating(id) ? net::Refusal::kCredentials : net::Refusal::kNoGreeting);
  }
  log_info("ensemble", "{}: {}{}", was_up ? "lost a link on the quorum port" : "cannot reach the leader",
           reason, found->auth ? kDuringAuth : "");
  end_stream(*found);
  end_log(*found);
  graveyard_.push_back(std::move(found->link));
  forget(id);
  tell({id, was_up ? zab::LinkEvent::Kind::kDown : zab::LinkEvent::Kind::kDialFailed});
}

// --- time ---

void EnsembleHost::on_time(Instant now) {
  take_log_answers();
  election_->on_time(now);
  listener_->on_time(now);
  std::vector<zab::LinkId> due;
  for (auto& [id, link] : links_) {
    if (link.next_piece && *link.next_piece <= now) {
      link.next_piece.reset();
      link.link->ask_writable();
    }
    if (const auto next = link.link->next_time(); next && *next <= now) due.push_back(id);
  }
  // Refusing one link may close others, too.
  for (const zab::LinkId id : door_->late(now)) refuse_late(id);
  for (const zab::LinkId id : due) {
    if (const auto found = links_.find(id); found != links_.end()) found->second.link->on_time(now);
  }
  for (const zab::LinkId id : std::exchange(broken_, {})) {
    close(id);
    tell({id, zab::LinkEvent::Kind::kDown});
  }
  if (move_ports_at_ && *move_ports_at_ <= now) move_ports(now);
}

std::optional<Instant> EnsembleHost::next_time() const {
  std::optional<Instant> next = election_->next_time();
  const auto consider = [&](const std::optional<Instant>& other) {
    if (other && (!next || *other < *next)) next = other;
  };
  consider(listener_->next_time());
  consider(move_ports_at_);
  consider(door_->next_time());
  for (const auto& [id, link] : links_) {
    consider(link.link->next_time());
    consider(link.next_piece);
  }
  if (!broken_.empty()) consider(Instant{0});
  return next;
}

// --- facts for monitoring ---

void EnsembleHost::show(Link& link, const net::Address& peer) {
  link.shown = std::make_shared<ShownLink>();
  link.shown->peer = peer.to_text();
  std::lock_guard lock(shown_mutex_);
  shown_[link.id] = link.shown;
}

void EnsembleHost::forget(zab::LinkId id) {
  links_.erase(id);
  door_->remove(id);
  std::lock_guard lock(shown_mutex_);
  shown_.erase(id);
}

std::optional<LinkFacts> EnsembleHost::facts(zab::LinkId id) const {
  std::lock_guard lock(shown_mutex_);
  const auto found = shown_.find(id);
  if (found == shown_.end()) return std::nullopt;
  return LinkFacts{found->second->peer, found->second->queued_bytes.load(std::memory_order_relaxed)};
}

}  // namespace drover::server

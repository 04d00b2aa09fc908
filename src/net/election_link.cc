// SPDX-License-Identifier: Apache-2.0
#include "net/election_link.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ensure.h"
#include "net/frame.h"
#include "wire/quorum.h"

namespace drover::net {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kBackoffMinMs = 50;
constexpr int kBackoffMaxMs = 2000;
// If a link breaks sooner, the other side perhaps never wanted it: then back off further.
constexpr int kSettledMs = 2000;
// How long the peer may take to connect back after our knock.
constexpr int kConnectBackMs = 1000;

// SASL is off here, or the peer was silent for too long before it began.
std::string describe_bad_frame(std::string_view bytes) {
  if (wire::begins_with_auth(bytes) == true) return std::string(kAuthIsUnexpected);
  return "it sent a frame of invalid length";
}

void take_earlier(std::optional<Instant>& earliest, std::optional<Instant> t) {
  if (t) earliest = std::min(earliest.value_or(*t), *t);
}

}  // namespace

ElectionLinks::ElectionLinks(EventLoop& loop, Resolver& resolver, ElectionLinksConfig config,
                             Callbacks callbacks)
    : loop_(loop),
      resolver_(resolver),
      config_(std::move(config)),
      callbacks_(std::move(callbacks)),
      guest_lookups_(std::make_shared<std::atomic<int>>(0)) {
  set_my_addresses(config_.my_addresses);
  set_peers(config_.peers);
}

ElectionLinks::~ElectionLinks() = default;

IoResult<std::unique_ptr<ElectionLinks>> ElectionLinks::open(EventLoop& loop, Resolver& resolver,
                                                             ElectionLinksConfig config,
                                                             Callbacks callbacks) {
  std::unique_ptr<ElectionLinks> made(
      new ElectionLinks(loop, resolver, std::move(config), std::move(callbacks)));
  TRY_ASSIGN(made->listener_,
             PeerListener::open(loop, *made, {.at = made->config_.listen, .tls = made->config_.tls}));
  return made;
}

PeerLinkOptions ElectionLinks::link_options() const {
  return {.read_bytes = kReadBytes,
          .input_bytes_max = kFrameHeaderBytes + wire::kNotificationBytesMax + 1,
          .low_water_bytes = 0,
          .unacked_timeout_ms = config_.unacked_timeout_ms};
}

// --- the owner's requests ---

void ElectionLinks::send(ServerId to, std::string notification) {
  ENSURE(!notification.empty() && notification.size() <= wire::kNotificationBytesMax,
         "a notification fits in a frame");
  const auto found = peers_.find(to);
  if (found == peers_.end()) return;
  found->second.waiting = std::move(notification);
  pump(found->second);
  dial_if_due(*found, loop_.now());
}

void ElectionLinks::set_peers(const ElectionLinksConfig::Peers& peers) {
  for (const auto& [id, addresses] : peers) {
    if (id != config_.me) set_peer(*peers_.try_emplace(id).first, addresses);
  }
  for (auto it = peers_.begin(); it != peers_.end();) {
    const bool stays = it->second.guest || peers.contains(it->first) || become_guest(it->second);
    it = stays ? std::next(it) : peers_.erase(it);
  }
  while (guests() > config_.guests_max) disconnect_quietest_guest();
}

void ElectionLinks::set_peer(PeerEntry& entry, const std::vector<Endpoint>& addresses) {
  Peer& peer = entry.second;
  if (!peer.guest && peer.addresses == addresses) return;
  const bool is_dialling = peer.dialled != nullptr;
  peer.addresses = addresses;
  stop_dialling(peer);
  peer.backoff_ms = 0;
  peer.retry_at = loop_.now();
  peer.guest.reset();
  if (is_dialling) dial(entry);
}

IoResult<void> ElectionLinks::rebind(const std::vector<Endpoint>& listen,
                                     const std::vector<Endpoint>& my_addresses) {
  if (!listener_) return std::unexpected(data_error("the election port is closed"));
  TRY(listener_->rebind(listen));
  set_my_addresses(my_addresses);
  return {};
}

void ElectionLinks::set_my_addresses(const std::vector<Endpoint>& addresses) {
  wire::ElectionHello hello{.server = config_.me, .addresses = {}};
  for (const Endpoint& address : addresses) hello.addresses.push_back(to_text(address));
  hello_.clear();
  wire::append_hello(hello_, hello);
}

void ElectionLinks::close() {
  listener_.reset();
  ungreeted_.clear();
  peers_.clear();
}

std::vector<Address> ElectionLinks::local() const {
  return listener_ ? listener_->local() : std::vector<Address>{};
}

bool ElectionLinks::has_link(ServerId peer) const {
  const auto found = peers_.find(peer);
  return found != peers_.end() && found->second.link != nullptr;
}

// --- making links ---

void ElectionLinks::dial(PeerEntry& entry) {
  Peer& peer = entry.second;
  if (peer.guest) --peer.guest->dials_left;
  Resolver& resolver = peer.guest && peer.guest->resolver ? *peer.guest->resolver : resolver_;
  peer.dialled = PeerLink::dial(
      loop_, resolver, *this,
      {.to = peer.addresses, .tls = config_.tls.client, .timeout_ms = config_.connect_timeout_ms},
      link_options());
}

void ElectionLinks::dial_if_due(PeerEntry& entry, Instant now) {
  const Peer& peer = entry.second;
  if (!peer.waiting || peer.link || peer.dialled || peer.knock_deadline || now < peer.retry_at) return;
  dial(entry);
}

void ElectionLinks::on_connected(PeerLink& link) {
  PeerEntry* const peer = owner_of(link);
  ENSURE(peer != nullptr && peer->second.dialled.get() == &link, "only peers and guests are dialled");
  if (is_led_to_peer(*peer, link)) {
    refusals_.count(Refusal::kWrongAddress);
    peer->second.guest->dials_left = 0;
    return dial_failed(*peer, link.peer().to_text() + " is the address of a member");
  }
  link.output() += hello_;
  if (is_auth_needed(peer->second)) return authenticate(*peer);
  on_dialled(*peer, link);
}

// The greeting is in the output, and we are authenticated if necessary.
void ElectionLinks::on_dialled(PeerEntry& peer, PeerLink& link) {
  peer.second.auth.reset();
  if (peer.first > config_.me) {
    peer.second.knock_deadline = loop_.now() + config_.connect_timeout_ms;
    return link.finish();
  }
  link.flush();
  establish(peer, std::move(peer.second.dialled));
}

void ElectionLinks::stop_dialling(Peer& peer) {
  peer.auth.reset();
  peer.dialled.reset();
  peer.knock_deadline.reset();
}

// --- authenticating to a server ---

bool ElectionLinks::is_auth_needed(const Peer& peer) const {
  return config_.auth->connector && (!peer.guest || peer.guest->is_authenticated);
}

void ElectionLinks::authenticate(PeerEntry& peer) {
  peer.second.auth_deadline = loop_.now() + config_.hello_timeout_ms;
  peer.second.auth =
      std::make_unique<ConnectingAuth>(*config_.auth, peer.first, peer.second.addresses.front().host,
                                       [this, id = peer.first] { on_auth_started(id); });
  peer.second.dialled->flush();
}

void ElectionLinks::on_auth_started(ServerId id) {
  PeerEntry& peer = *peers_.find(id);
  if (peer.second.auth->state() == ConnectingAuth::State::kFailed) {
    return dial_failed(peer, std::string(peer.second.auth->failure()));
  }
  peer.second.dialled->output() += peer.second.auth->first_packet();
  peer.second.dialled->flush();
}

std::size_t ElectionLinks::read_auth_answer(PeerEntry& peer, PeerLink& link, std::string_view bytes) {
  ConnectingAuth& auth = *peer.second.auth;
  const std::size_t understood = auth.on_bytes(bytes, link.output());
  if (auth.state() == ConnectingAuth::State::kFailed) {
    return dial_failed(peer, std::string(auth.failure())), 0;
  }
  link.flush();
  if (auth.state() != ConnectingAuth::State::kPassed) return understood;
  on_dialled(peer, link);
  return understood + read_frames(link, bytes.substr(understood));
}

// The newer link replaces the older one: the peer needs only one link, too.
void ElectionLinks::establish(PeerEntry& entry, std::unique_ptr<PeerLink> link) {
  Peer& peer = entry.second;
  stop_dialling(peer);
  peer.link = std::move(link);
  peer.is_guest_link = peer.guest.has_value();
  peer.up_since = loop_.now();
  // A link that broke before may have lost the last notification.
  if (!peer.waiting && !peer.last.empty()) peer.waiting = peer.last;
  pump(peer);
  set_reachable(entry, true);
}

void ElectionLinks::pump(Peer& peer) {
  if (!peer.link || !peer.waiting) return;
  if (peer.link->queued_bytes() == 0) {
    wire::Writer(peer.link->output()).string(*peer.waiting);
    peer.last = *std::exchange(peer.waiting, std::nullopt);
    peer.link->flush();
  }
  if (peer.link->queued_bytes() > 0) peer.link->ask_writable();
}

void ElectionLinks::on_writable(PeerLink& link) {
  if (PeerEntry* const peer = owner_of(link)) pump(peer->second);
}

// --- notifications ---

std::size_t ElectionLinks::on_bytes(PeerLink& link, std::string_view bytes) {
  PeerEntry* const peer = owner_of(link);
  if (peer == nullptr) return read_ungreeted(link, bytes);
  if (peer->second.auth && peer->second.dialled.get() == &link) return read_auth_answer(*peer, link, bytes);
  return read_frames(link, bytes);
}

std::size_t ElectionLinks::read_frames(PeerLink& link, std::string_view bytes) {
  std::size_t understood = 0;
  while (PeerEntry* const peer = owner_of(link)) {
    std::string_view frame;
    const FrameStatus status = next_frame(bytes.substr(understood), wire::kNotificationBytesMax, frame);
    if (status == FrameStatus::kNeedMore) return understood;
    if (status == FrameStatus::kBadLength || frame.empty()) {
      return link_lost(*peer, describe_bad_frame(bytes.substr(understood))), 0;
    }
    if (const auto objection = late_objection(*peer)) {
      refusals_.count(Refusal::kWrongAddress);
      return link_lost(*peer, *objection), 0;
    }
    if (peer->second.guest) peer->second.guest->heard = ++guests_heard_;
    understood += kFrameHeaderBytes + frame.size();
    callbacks_.on_notification(peer->first, frame);
  }
  return 0;  // The owner of the links has closed this one.
}

// --- losing links ---

void ElectionLinks::on_closed(PeerLink& link, const std::string& reason) {
  PeerEntry* const peer = owner_of(link);
  if (peer == nullptr) return ungreeted_closed(link, reason);
  if (peer->second.link.get() == &link) return link_lost(*peer, reason);
  const bool was_heard = link.is_finishing();
  stop_dialling(peer->second);
  if (!was_heard) return dial_failed(*peer, reason);
  peer->second.knock_deadline = loop_.now() + kConnectBackMs;
}

void ElectionLinks::link_lost(PeerEntry& entry, const std::string& reason) {
  Peer& peer = entry.second;
  if (peer.guest) return guest_link_lost(entry);
  if (loop_.now() - peer.up_since >= kSettledMs) peer.backoff_ms = 0;
  peer.link.reset();
  if (!peer.waiting && !peer.last.empty()) peer.waiting = peer.last;
  back_off(peer);
  set_reachable(entry, false, reason);
}

void ElectionLinks::dial_failed(PeerEntry& peer, const std::string& reason) {
  stop_dialling(peer.second);
  if (peer.second.guest) return guest_dial_failed(peer, reason);
  back_off(peer.second);
  if (!peer.second.link) set_reachable(peer, false, reason);
}

void ElectionLinks::back_off(Peer& peer) {
  peer.backoff_ms = std::clamp(2 * peer.backoff_ms, kBackoffMinMs, kBackoffMaxMs);
  peer.retry_at = loop_.now() + peer.backoff_ms;
}

// Calls a callback of the owner, which may remove the peer.
void ElectionLinks::set_reachable(PeerEntry& peer, bool reachable, const std::string& reason) {
  if (peer.second.guest || peer.second.reachable == reachable) return;
  peer.second.reachable = reachable;
  const ServerId id = peer.first;
  if (!reachable && callbacks_.on_trouble) {
    callbacks_.on_trouble("no election link to server " + std::to_string(raw(id)) + ": " + reason);
  }
  if (callbacks_.on_reachable) callbacks_.on_reachable(id, reachable);
}

// Compares pointers only: the link may be destroyed. Null for connections without a greeting.
ElectionLinks::PeerEntry* ElectionLinks::owner_of(const PeerLink& link) {
  for (PeerEntry& peer : peers_) {
    if (peer.second.link.get() == &link || peer.second.dialled.get() == &link) return &peer;
  }
  return nullptr;
}

// --- time ---

void ElectionLinks::on_time(Instant now) {
  if (listener_) listener_->on_time(now);
  on_ungreeted_time(now);
  for (PeerLink* const link : links()) {
    // An event of one link may have closed others.
    if (const auto left = links(); std::ranges::find(left, link) != left.end()) link->on_time(now);
  }
  std::vector<ServerId> ids;
  ids.reserve(peers_.size());
  for (const PeerEntry& peer : peers_) ids.push_back(peer.first);
  for (const ServerId id : ids) on_peer_time(id, now);
}

// Every branch may call a callback of the owner, which may change the peers.
void ElectionLinks::on_peer_time(ServerId id, Instant now) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  const auto deadline = found->second.knock_deadline;
  if (deadline && *deadline <= now) return dial_failed(*found, "it did not connect back");
  if (found->second.auth && found->second.auth_deadline <= now) {
    return dial_failed(*found, "the SASL authentication took too long");
  }
  // A guest has become a peer. set_peers() calls no callbacks.
  if (is_link_unreported(found->second)) return set_reachable(*found, true);
  dial_if_due(*found, now);
}

std::optional<Instant> ElectionLinks::next_time() const {
  std::optional<Instant> next;
  if (listener_) take_earlier(next, listener_->next_time());
  if (!ungreeted_.empty()) take_earlier(next, ungreeted_.front().deadline);
  for (const Ungreeted& each : ungreeted_) take_earlier(next, each.quiet_until);
  for (const PeerLink* const link : links()) take_earlier(next, link->next_time());
  for (const auto& [id, peer] : peers_) {
    take_earlier(next, peer.knock_deadline);
    if (peer.auth) take_earlier(next, peer.auth_deadline);
    if (is_link_unreported(peer)) take_earlier(next, loop_.now());
    if (peer.waiting && !peer.link && !peer.dialled && !peer.knock_deadline) {
      take_earlier(next, peer.retry_at);
    }
  }
  return next;
}

std::vector<PeerLink*> ElectionLinks::links() const {
  std::vector<PeerLink*> result;
  for (const Ungreeted& waiting : ungreeted_) result.push_back(waiting.link.get());
  for (const auto& [id, peer] : peers_) {
    if (peer.link) result.push_back(peer.link.get());
    if (peer.dialled) result.push_back(peer.dialled.get());
  }
  return result;
}

}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
//
// Guests of the election port: servers that are not peers, because they are about to join or were removed.
//
// Any host can be a guest, so each guest costs a limited amount of memory, descriptors, threads and time. A
// guest is dialled only because it knocked, a few times at most, and never at an address of a peer: the peer
// would take our greeting for a new link of ours and close the old one.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"
#include "net/election_link.h"

namespace drover::net {
namespace {

constexpr std::size_t kGuestAddressesMax = 4;
constexpr int kGuestDialsMax = 3;
// Lookups of guests' names in progress, each in its own thread. They end when the name service answers, even
// if the guest was forgotten before.
constexpr int kGuestLookupsMax = 16;
constexpr std::size_t kHostBytesMax = 253;  // RFC 1035, without the last dot

// No other characters, because errors with the name go to the log.
bool is_host_name(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return !text.empty() && text.size() <= kHostBytesMax && std::ranges::all_of(text, is_allowed);
}

// Reads `host:port` or `[v6]:port`, the syntax of which decode_hello() has checked. Nullopt: no server can be
// dialled there. Java sends wildcards, too, and ignores them.
std::optional<Endpoint> dialable(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  int port = 0;
  for (const char digit : text.substr(colon + 1)) port = port * 10 + (digit - '0');
  const auto literal = Address::parse(host, 0);
  if (port < 1 || port > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
  if (literal ? literal->is_wildcard() : !is_host_name(host)) return std::nullopt;
  return Endpoint{std::string(host), static_cast<std::uint16_t>(port)};
}

std::vector<Endpoint> dialable(const std::vector<std::string>& announced) {
  std::vector<Endpoint> result;
  for (const std::string& text : announced) {
    if (result.size() == kGuestAddressesMax) break;
    if (auto endpoint = dialable(text)) result.push_back(*std::move(endpoint));
  }
  return result;
}

// Java gives an observer without an id the largest one.
bool is_id_of_one_server(ServerId id) {
  return raw(id) >= 0 && raw(id) != std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::size_t ElectionLinks::guests() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(peers_, [](const PeerEntry& peer) { return peer.second.guest.has_value(); }));
}

// --- coming and going ---

// Returns why a server that is not a peer is refused, or its entry.
std::expected<ElectionLinks::PeerEntry*, std::string> ElectionLinks::admit_guest(
    ServerId id, const std::vector<std::string>& announced) {
  const std::string who =
      "it claims to be server " + std::to_string(raw(id)) + ", which is not another member";
  if (config_.guests_max == 0 || id == config_.me || !is_id_of_one_server(id)) return std::unexpected(who);
  if (id < config_.me && dialable(announced).empty()) {
    return std::unexpected(who + ", and its greeting has no address to connect back to");
  }
  if (!peers_.contains(id) && guests() >= config_.guests_max) {
    disconnect_quietest_guest();
    tell_at_most_once_a_second("too many servers that are not members: disconnected the quietest of them");
  }
  PeerEntry& entry = *peers_.try_emplace(id).first;
  if (!entry.second.guest) entry.second.guest = Guest{};
  entry.second.guest->heard = ++guests_heard_;
  return &entry;
}

// A removed server without a link is forgotten: it connects or knocks if it wants to know more.
bool ElectionLinks::become_guest(Peer& peer) {
  if (config_.guests_max == 0 || !peer.link) return false;
  stop_dialling(peer);
  peer.reachable.reset();
  peer.guest = Guest{.heard = ++guests_heard_};
  return true;
}

// Writes no line to the log, because set_peers() calls no callbacks.
void ElectionLinks::disconnect_quietest_guest() {
  const auto quieter = [](const PeerEntry& a, const PeerEntry& b) {
    if (!a.second.guest || !b.second.guest) return a.second.guest.has_value();
    return a.second.guest->heard < b.second.guest->heard;
  };
  const auto quietest = std::ranges::min_element(peers_, quieter);
  ENSURE(quietest != peers_.end() && quietest->second.guest,
         "only guests are disconnected for another guest");
  peers_.erase(quietest);
  refusals_.count(Refusal::kCrowded);
}

void ElectionLinks::guest_link_lost(PeerEntry& guest) {
  guest.second.link.reset();
  if (!guest.second.dialled) peers_.erase(guest.first);
}

// --- dialling back ---

void ElectionLinks::prepare_guest_dial(Peer& peer, const std::vector<std::string>& announced) {
  peer.addresses = dialable(announced);
  peer.guest->dials_left = kGuestDialsMax;
  const bool has_names =
      std::ranges::any_of(peer.addresses, [](const Endpoint& e) { return !Address::parse(e.host, 0); });
  if (!has_names) return;
  auto resolver = Resolver::create(loop_, limited_lookup());
  // Without descriptors no server can be dialled either.
  if (!resolver) return peer.addresses.clear();
  peer.guest->resolver = *std::move(resolver);
}

Resolver::Lookup ElectionLinks::limited_lookup() const {
  return [lookup = config_.guest_lookup, running = guest_lookups_](
             const std::string& host, std::uint16_t port) -> Resolver::Addresses {
    Resolver::Addresses found = std::unexpected(data_error("too many name lookups in progress"));
    if (running->fetch_add(1) < kGuestLookupsMax) found = lookup(host, port);
    running->fetch_sub(1);
    return found;
  };
}

bool ElectionLinks::is_led_to_peer(const PeerEntry& peer, const PeerLink& dialled) const {
  return peer.second.guest && config_.origins != nullptr && config_.origins->is_of_peer(dialled.peer());
}

void ElectionLinks::guest_dial_failed(PeerEntry& guest, const std::string& reason) {
  Peer& peer = guest.second;
  tell_at_most_once_a_second("cannot connect back to server " + std::to_string(raw(guest.first)) +
                             ", which is not a member: " + reason);
  if (peer.link) return;
  if (!peer.waiting || peer.guest->dials_left <= 0) {
    peers_.erase(guest.first);
    return;
  }
  back_off(peer);
}

// --- becoming a peer ---

// The link of a former guest is checked when it is used, not when the guest becomes a peer: the names of the
// new peer are not resolved yet at that time.
std::optional<std::string> ElectionLinks::late_objection(PeerEntry& entry) {
  Peer& peer = entry.second;
  if (!peer.is_guest_link || peer.guest) return std::nullopt;
  peer.is_guest_link = false;
  if (config_.origins == nullptr) return std::nullopt;
  return config_.origins->objection(entry.first, peer.link->stream(), peer.link->peer());
}

}  // namespace drover::net

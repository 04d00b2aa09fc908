// SPDX-License-Identifier: Apache-2.0
#include "net/peer_listener.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "net/tls_context_holder.h"

namespace drover::net {
namespace {

constexpr int kAcceptsPerRound = 64;
constexpr int kRestMs = 1000;  // used when not even the spare descriptor helps

}  // namespace

struct PeerListener::Port final : EventLoop::Handler {
  Port(PeerListener& o, Endpoint e, Listener l) : owner(o), at(std::move(e)), listener(std::move(l)) {}
  ~Port() override {
    if (is_watched) owner.loop_.remove(listener.fd(), this);
  }

  void on_ready(std::uint32_t) override {
    for (int i = 0; i < kAcceptsPerRound; ++i) {
      Accepted accepted;
      switch (listener.accept(accepted)) {
        case AcceptStatus::kAccepted: owner.admit(std::move(accepted)); break;
        case AcceptStatus::kNone: return;
        case AcceptStatus::kDropped: owner.owner_.on_refused({}, "out of file descriptors"); break;
        case AcceptStatus::kExhausted: return owner.rest();
      }
    }
  }

  PeerListener& owner;
  Endpoint at;  // as requested
  Listener listener;
  bool is_watched = false;
};

PeerListener::PeerListener(EventLoop& loop, Owner& owner, const PeerListenerOptions& options)
    : loop_(loop), owner_(owner), options_(options) {}

PeerListener::~PeerListener() = default;

IoResult<std::unique_ptr<PeerListener>> PeerListener::open(EventLoop& loop, Owner& owner,
                                                           const PeerListenerOptions& options) {
  std::unique_ptr<PeerListener> made(new PeerListener(loop, owner, options));
  TRY(made->rebind(options.at));
  return made;
}

IoResult<void> PeerListener::rebind(std::vector<Endpoint> at) {
  // With quorumListenOnAllIPs, several addresses of a server become the same port several times.
  std::ranges::sort(at);
  const auto [first, last] = std::ranges::unique(at);
  at.erase(first, last);
  std::vector<std::pair<Port*, Endpoint>> kept;
  std::vector<std::unique_ptr<Port>> opened;
  for (const Endpoint& endpoint : at) {
    Port* ours = find_port(endpoint);
    if (ours == nullptr) {
      auto port = open_port(endpoint);
      if (port) {
        opened.push_back(*std::move(port));
        continue;
      }
      if (port.error().code == EADDRINUSE) ours = find_port_by_address(endpoint);
      if (ours == nullptr) return std::unexpected(std::move(port).error());
    }
    kept.emplace_back(ours, endpoint);
  }
  std::erase_if(ports_, [&](const auto& port) {
    return std::ranges::none_of(kept, [&](const auto& each) { return each.first == port.get(); });
  });
  for (auto& [port, endpoint] : kept) port->at = endpoint;
  std::ranges::move(opened, std::back_inserter(ports_));
  std::ranges::sort(ports_, {}, [](const auto& port) -> const Endpoint& { return port->at; });
  return {};
}

IoResult<std::unique_ptr<PeerListener::Port>> PeerListener::open_port(const Endpoint& at) {
  TRY_ASSIGN(Listener listener, Listener::open({.host = at.host, .port = at.port, .keepalive = true}));
  auto port = std::make_unique<Port>(*this, at, std::move(listener));
  TRY(loop_.add(port->listener.fd(), EPOLLIN, port.get()));
  port->is_watched = true;
  return port;
}

PeerListener::Port* PeerListener::find_port(const Endpoint& at) const {
  const auto found =
      std::ranges::find(ports_, at, [](const auto& port) -> const Endpoint& { return port->at; });
  return found == ports_.end() ? nullptr : found->get();
}

// A name and an address, or two names, may mean one address.
PeerListener::Port* PeerListener::find_port_by_address(const Endpoint& at) const {
  const auto addresses = resolve(at.host.empty() ? "0.0.0.0" : at.host, at.port);
  if (!addresses) return nullptr;
  const Address& wanted = addresses->front();
  const auto is_wanted = [&](const auto& port) {
    const Address& local = port->listener.local();
    if (wanted.is_wildcard() && local.is_wildcard()) return wanted.port() == local.port();
    return wanted == local;
  };
  const auto found = std::ranges::find_if(ports_, is_wanted);
  return found == ports_.end() ? nullptr : found->get();
}

std::vector<Address> PeerListener::local() const {
  std::vector<Address> result;
  result.reserve(ports_.size());
  for (const auto& port : ports_) result.push_back(port->listener.local());
  return result;
}

void PeerListener::admit(Accepted accepted) {
  if (options_.tls.server != nullptr) return start_opening(std::move(accepted));
  owner_.on_accepted(Stream(std::move(accepted.socket)), accepted.peer);
}

void PeerListener::start_opening(Accepted accepted) {
  if (opening_.size() >= options_.opening_max) refuse_oldest("too many connections without a handshake");
  auto tls = options_.tls.server->current();
  const Address peer = accepted.peer;
  const auto place = opening_.insert(
      opening_.end(), Opening{.peer = peer, .deadline = loop_.now() + tls->handshake_timeout_ms()});
  auto opener = StreamOpener::accepted(
      loop_, std::move(accepted.socket),
      {.tls = std::move(tls), .peer = {.address = peer}, .accepts_plain = options_.tls.accepts_plain},
      [this, place, peer](IoResult<Stream> stream) {
        opening_.erase(place);
        stream ? owner_.on_accepted(*std::move(stream), peer) : owner_.on_refused(peer, stream.error().what);
      });
  if (opener) {
    place->opener = *std::move(opener);
    return;
  }
  opening_.erase(place);
  owner_.on_refused(peer, opener.error().what);
}

void PeerListener::refuse_oldest(const std::string& reason) {
  const Address peer = opening_.front().peer;
  opening_.pop_front();
  owner_.on_refused(peer, reason);
}

// Pauses accepting: a level-triggered loop would spin on connections that it cannot accept.
void PeerListener::rest() {
  for (const auto& port : ports_) loop_.modify(port->listener.fd(), 0, port.get());
  resting_until_ = loop_.now() + kRestMs;
  owner_.on_refused({}, "out of file descriptors or memory: accepting no connections for one second");
}

void PeerListener::on_time(Instant now) {
  while (!opening_.empty() && opening_.front().deadline <= now) {
    refuse_oldest("the handshake took too long");
  }
  if (resting_until_ && *resting_until_ <= now) {
    resting_until_.reset();
    for (const auto& port : ports_) loop_.modify(port->listener.fd(), EPOLLIN, port.get());
  }
}

std::optional<Instant> PeerListener::next_time() const {
  std::optional<Instant> next = resting_until_;
  if (!opening_.empty()) next = std::min(next.value_or(opening_.front().deadline), opening_.front().deadline);
  return next;
}

}  // namespace drover::net

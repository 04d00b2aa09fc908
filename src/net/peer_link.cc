// SPDX-License-Identifier: Apache-2.0
#include "net/peer_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace drover::net {
namespace {

constexpr std::size_t kOutputKeptBytes = 1024 * 1024;  // capacity that an idle link keeps
constexpr std::size_t kWorthMovingBytes = 64 * 1024;

void break_when_unacknowledged(int fd, int timeout_ms) {
  const auto milliseconds = static_cast<unsigned int>(timeout_ms);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace

PeerLink::PeerLink(EventLoop& loop, Owner& owner, const PeerLinkOptions& options)
    : loop_(loop), owner_(owner), options_(options) {}

PeerLink::~PeerLink() {
  close();
  if (destroyed_ != nullptr) *destroyed_ = true;
}

// Runs a callback. Returns false if it destroyed or closed the link; then no member may be accessed.
template <class Call>
bool PeerLink::survives(Call call) {
  bool destroyed = false;
  ENSURE(destroyed_ == nullptr, "a link's callbacks do not nest");
  destroyed_ = &destroyed;
  call();
  if (destroyed) return false;
  destroyed_ = nullptr;
  return is_open();
}

// --- coming up ---

IoResult<std::unique_ptr<PeerLink>> PeerLink::accept(EventLoop& loop, Owner& owner, Stream stream,
                                                     const Address& peer, const PeerLinkOptions& options) {
  std::unique_ptr<PeerLink> link(new PeerLink(loop, owner, options));
  TRY(link->open(std::move(stream), peer));
  return link;
}

std::unique_ptr<PeerLink> PeerLink::dial(EventLoop& loop, Resolver& resolver, Owner& owner,
                                         DialOptions attempt, const PeerLinkOptions& options) {
  std::unique_ptr<PeerLink> link(new PeerLink(loop, owner, options));
  link->dialer_ = std::make_unique<Dialer>(
      loop, resolver, attempt,
      [raw = link.get()](IoResult<Dialled> result) { raw->on_dialled(std::move(result)); });
  return link;
}

void PeerLink::on_dialled(IoResult<Dialled> result) {
  dialer_.reset();
  if (!result) return end(result.error().what);
  if (auto opened = open(std::move(result->stream), result->peer); !opened) return end(opened.error().what);
  if (!survives([this] { owner_.on_connected(*this); })) return;
  flush();
}

IoResult<void> PeerLink::open(Stream stream, const Address& peer) {
  const std::uint32_t events = stream.events_for({.read = true});
  TRY(loop_.add(stream.fd(), events, this));
  registered_ = events;
  stream_ = std::move(stream);
  peer_ = peer;
  // Bytes right after the handshake may have been read together with it.
  has_backlog_ = stream_.has_buffered();
  if (options_.unacked_timeout_ms > 0) break_when_unacknowledged(stream_.fd(), options_.unacked_timeout_ms);
  return {};
}

void PeerLink::on_time(Instant now) {
  if (dialer_) return dialer_->on_time(now);
  if (has_backlog_ && stream_.is_open()) receive_some();
}

std::optional<Instant> PeerLink::next_time() const {
  if (dialer_) return dialer_->next_time();
  if (has_backlog_ && stream_.is_open()) return loop_.now();
  return std::nullopt;
}

// --- going down ---

void PeerLink::finish() {
  is_finishing_ = true;
  in_.consume(in_.size());
  if (stream_.is_open()) flush();
}

void PeerLink::close() {
  dialer_.reset();
  if (!stream_.is_open()) return;
  loop_.remove(stream_.fd(), this);
  if (!is_broken_ && !said_goodbye_) stream_.shutdown();
  stream_.close();
}

void PeerLink::end(const std::string& reason) {
  close();
  owner_.on_closed(*this, reason);
}

// The owner may be sending to all its links right now, so a link must not disappear under it. epoll reports a
// socket that is shut down whatever events are registered.
void PeerLink::break_later(std::string reason) {
  is_broken_ = true;
  broken_reason_ = std::move(reason);
  has_backlog_ = false;
  out_.clear();
  sent_ = 0;
  ::shutdown(stream_.fd(), SHUT_RDWR);
}

// --- bytes ---

void PeerLink::on_ready(std::uint32_t events) {
  const std::size_t waited = queued_bytes();
  flush();
  if (is_broken_) return end(std::string(broken_reason_));
  if (queued_bytes() < waited && !survives([this] { owner_.on_taken(*this); })) return;
  // With TLS, either direction may have waited for either event.
  const bool only_writable = (events & ~std::uint32_t{EPOLLOUT}) == 0 && !stream_.is_tls();
  if (wants_writable_ && queued_bytes() <= options_.low_water_bytes) {
    wants_writable_ = false;
    if (!survives([this] { owner_.on_writable(*this); })) return;
  }
  if (!only_writable) return receive_some();
  update_events();
}

void PeerLink::flush() {
  if (!is_open()) return;
  if (queued_bytes() > 0) send_some();
  if (is_broken_) return;
  if (is_finishing_ && queued_bytes() == 0 && !said_goodbye_) {
    said_goodbye_ = true;
    stream_.shutdown();
  }
  update_events();
}

void PeerLink::send_some() {
  const IoCount wrote = stream_.write(std::string_view(out_).substr(sent_));
  switch (wrote.status) {
    case IoStatus::kOk: sent_ += wrote.bytes; return forget_sent();
    case IoStatus::kAgain: return;
    case IoStatus::kClosed: return break_later("the peer closed the connection");
    case IoStatus::kError: return break_later(stream_.error_text());
  }
}

// Moves the rest only if it is shorter than the sent part, so that each byte is moved about once at most.
void PeerLink::forget_sent() {
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
    if (out_.capacity() > kOutputKeptBytes) out_.shrink_to_fit();
  } else if (sent_ >= kWorthMovingBytes && sent_ >= out_.size() / 2) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
}

void PeerLink::ask_writable() {
  wants_writable_ = true;
  if (is_open()) update_events();
}

void PeerLink::receive_some() {
  const IoCount got = stream_.read(in_.room(options_.read_bytes), options_.read_bytes);
  switch (got.status) {
    case IoStatus::kAgain: has_backlog_ = false; return update_events();
    case IoStatus::kClosed: return end("the peer closed the connection");
    case IoStatus::kError: return end(stream_.error_text());
    case IoStatus::kOk: break;
  }
  in_.filled(got.bytes);
  has_backlog_ = stream_.has_buffered();
  deliver();
}

void PeerLink::deliver() {
  std::size_t understood = 0;
  if (!is_finishing_ && !survives([&] { understood = owner_.on_bytes(*this, in_.bytes()); })) return;
  // The callback may have called finish().
  in_.consume(is_finishing_ ? in_.size() : understood);
  in_.shrink_if_empty(2 * options_.read_bytes);
  if (in_.size() >= options_.input_bytes_max) {
    return end("it sent a packet of more than " + std::to_string(options_.input_bytes_max) + " bytes");
  }
  update_events();
}

void PeerLink::update_events() {
  const std::uint32_t events =
      stream_.events_for({.read = true, .write = queued_bytes() > 0 || wants_writable_});
  if (events != registered_) loop_.modify(stream_.fd(), registered_ = events, this);
}

}  // namespace drover::net

// SPDX-License-Identifier: Apache-2.0
#include "runtime/io_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "log/log.h"
#include "net/tls_context.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

constexpr std::size_t kArenaBytes = 1 << 20;
constexpr std::size_t kReceiveMax = 128 * 1024;  // per connection and read
constexpr std::size_t kReceiveMin = 16 * 1024;   // if less is free: process first
constexpr std::int64_t kSweepMs = 1000;

}  // namespace

void ClientConnection::on_ready(std::uint32_t events) { loop.on_ready(*this, events); }

IoLoop::IoLoop(replica::FrontId id, const IoLoopConfig& config, std::unique_ptr<net::EventLoop> loop,
               const state::Machine& machine, TreeLock& lock, ConnectionCounter& counter, IoLoopHost& host)
    : id_(id),
      config_(config),
      loop_(std::move(loop)),
      lock_(lock),
      counter_(counter),
      host_(host),
      front_(config.front, machine),
      arena_(std::make_unique_for_overwrite<char[]>(kArenaBytes)) {}

IoLoop::~IoLoop() = default;

void IoLoop::stop() {
  stopping_.store(true, std::memory_order_release);
  loop_->wake();
}

void IoLoop::add(NewConnection connection) {
  {
    std::lock_guard lock(inbox_mutex_);
    new_connections_.push_back(std::move(connection));
  }
  loop_->wake();
}

void IoLoop::run() {
  last_tick_ = next_tick_ = next_sweep_ = loop_->refresh_now();
  while (!stopping_.load(std::memory_order_acquire)) round(timeout());
}

int IoLoop::timeout() const {
  if (!again_.empty() || front_.has_resting()) return 0;
  Instant next = std::min(next_tick_, next_sweep_);
  if (hosts_core_) {
    if (const auto core = core_->next_time()) next = std::min(next, *core);
  }
  return static_cast<int>(std::max<std::int64_t>(0, next - monotonic_now()));
}

void IoLoop::round(int timeout_ms) {
  loop_->run_once(timeout_ms);
  process();
  tick();
  if (hosts_core_) core_->on_time(loop_->now());
  if (hosts_core_ && run_core()) {
    TreeLock::Reading reading(lock_, io_slot(static_cast<std::size_t>(id_)));
    front_.collect();
  }
  flush_changed();
  answer_words();
  take_new_connections();
  graveyard_.clear();
}

// Twice: transactions that the first run gave to the log may be durable when it returns.
bool IoLoop::run_core() {
  const bool first = core_->run(loop_->now());
  return core_->run(loop_->now()) || first;
}

// Processes the frames of this round. The core's results come first: an event must be in the output before a
// read can show the change that caused it.
void IoLoop::process() {
  {
    TreeLock::Reading reading(lock_, io_slot(static_cast<std::size_t>(id_)));
    front_.collect();
    front_.list_on(loop_->now());
    std::vector<std::uint32_t> again;
    again.swap(again_);
    for (const std::uint32_t index : again) {
      if (connections_[index] && connections_[index]->phase == ClientConnection::Phase::kClient) {
        feed(*connections_[index], {});
      }
    }
    for (const Received& part : received_) {
      if (connections_[part.index])
        feed(*connections_[part.index], {arena_.get() + part.offset, part.length});
    }
  }
  received_.clear();
  arena_used_ = 0;
  log_logins();
  replica::ToReplica& outbox = front_.outbox();
  if (outbox.empty()) return;
  const Instant heard_until = outbox.heard_until;
  core_->post(id_, std::move(outbox));
  outbox = replica::ToReplica{};
  outbox.heard_until = heard_until;
}

void IoLoop::log_logins() {
  for (const auto& [success, text] : front_.take_sasl_outcomes()) {
    if (success) {
      log_info("sasl", "{} has logged in", text);
    } else {
      log_warn("sasl", "login failed: {}", text);
    }
  }
}

ClientConnection* IoLoop::of(replica::ConnId id) {
  if (!front_.exists(id)) return nullptr;
  ENSURE(id.slot < index_of_slot_.size(), "every connection of the front has a socket");
  return connections_[index_of_slot_[id.slot]].get();
}

// Processes bytes of a connection: first the remaining ones, then the new ones.
void IoLoop::feed(ClientConnection& c, std::string_view bytes) {
  if (c.phase == ClientConnection::Phase::kGreeting) {
    c.in.append(bytes);
    greet(c);
    bytes = {};
  }
  if (c.phase != ClientConnection::Phase::kClient) return;
  std::size_t taken = 0;
  if (c.in.empty()) {
    taken = front_.on_bytes(c.id, bytes, loop_->now());
    c.in.assign(bytes.substr(taken));
  } else {
    c.in.append(bytes);
    taken = front_.on_bytes(c.id, c.in, loop_->now());
    c.in.erase(0, taken);
  }
  if (c.in.empty() && c.in.capacity() > 64) std::string().swap(c.in);
  c.held = !c.in.empty() && !front_.reading(c.id);
  // A frame that has begun must be completed in time. A frame that we do not read has no deadline.
  if (c.in.empty() || c.held) {
    c.deadline = {};
  } else if (taken > 0 || c.deadline == Instant{}) {
    c.deadline = loop_->now() + config_.started_frame_ms;
  }
}

void IoLoop::greet(ClientConnection& c) {
  if (c.in.size() < 4) return;
  const Word* word = recognise(c.in);
  if (!word) return begin_client(c);
  begin_word(c, *word);
}

void IoLoop::begin_client(ClientConnection& c) {
  ENSURE(c.phase == ClientConnection::Phase::kGreeting, "a connection reaches the front once");
  replica::Front::Peer peer;
  peer.ip = c.peer.ip_text();
  peer.remote = c.peer.to_text().substr(1);
  peer.secure = c.stream.is_tls();
  peer.identities.push_back({"ip", peer.ip});
  if (const auto subject = c.stream.peer_subject()) {
    // A certificate can have no subject, and a server no super user; the two must not match.
    if (!subject->empty() && *subject == config_.x509_super_user)
      peer.identities.push_back({"super", *subject});
    peer.identities.push_back({"x509", *subject});
  }
  c.id = front_.open(peer, loop_->now());
  c.phase = ClientConnection::Phase::kClient;
  if (c.id.slot >= index_of_slot_.size()) index_of_slot_.resize(c.id.slot + 1);
  index_of_slot_[c.id.slot] = c.index;
}

void IoLoop::begin_word(ClientConnection& c, const Word& word) {
  std::string_view behind = std::string_view(c.in).substr(4);
  // The only word with an argument waits for the argument, unless the word is not allowed.
  const bool allowed = config_.words.allows(word.name);
  if (word.action == Word::Action::kSetTraceMask && allowed && behind.size() < kTraceMaskBytes) return;
  c.phase = ClientConnection::Phase::kWord;
  word_requests_.push_back({c.index, &word, std::string(behind.substr(0, kTraceMaskBytes))});
}

// Called without any lock, because the answer takes all of them.
void IoLoop::answer_words() {
  std::vector<WordRequest> requests;
  requests.swap(word_requests_);
  for (const WordRequest& request : requests) {
    if (!connections_[request.index]) continue;
    ClientConnection& c = *connections_[request.index];
    c.word = config_.words.allows(request.word->name)
                 ? host_.answer_word(*request.word, request.bytes_behind, c.peer.to_text().substr(1))
                 : refusal(*request.word);
    c.deadline = loop_->now() + config_.first_frame_ms;
    flush_word(c);
  }
}

void IoLoop::on_ready(ClientConnection& c, std::uint32_t events) {
  switch (c.phase) {
    case ClientConnection::Phase::kDetecting: return detect(c);
    case ClientConnection::Phase::kTls: return handshake(c);
    case ClientConnection::Phase::kWord:
      if (!c.word.empty()) flush_word(c);
      return;
    case ClientConnection::Phase::kGreeting:
    case ClientConnection::Phase::kClient: break;
  }
  if ((events & EPOLLOUT) && c.unsent) {
    flush(c);
    if (!connections_[c.index] || connections_[c.index].get() != &c) return;
  }
  // epoll would report a dead socket that we do not read forever.
  if (c.paused && (events & (EPOLLHUP | EPOLLERR))) return close(c);
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
}

void IoLoop::detect(ClientConnection& c) {
  char first[2];
  const net::IoCount seen = c.stream.peek(first, sizeof first);
  if (seen.status == net::IoStatus::kAgain) return;
  if (seen.status != net::IoStatus::kOk) return close(c);
  if (!net::looks_like_tls({first, seen.bytes})) {
    ++(c.peer.is_loopback() ? stats_.plain_from_here : stats_.plain_from_elsewhere);
    return begin_protocol(c);
  }
  if (auto started = c.stream.start_tls(c.tls, {"", c.peer}); !started) {
    log_warn("tls", "{}: {}", c.peer.to_text(), started.error().what);
    return close(c);
  }
  begin_handshake(c);
  handshake(c);
}

void IoLoop::begin_handshake(ClientConnection& c) {
  ENSURE(c.phase != ClientConnection::Phase::kTls, "a connection has one TLS handshake");
  c.phase = ClientConnection::Phase::kTls;
  c.deadline = loop_->now() + config_.tls_handshake_ms;
  ++stats_.tls_handshakes;
}

void IoLoop::handshake(ClientConnection& c) {
  switch (c.stream.handshake()) {
    case net::IoStatus::kOk: return begin_protocol(c);
    case net::IoStatus::kAgain: return update_events(c);
    case net::IoStatus::kClosed:
    case net::IoStatus::kError: break;
  }
  ++stats_.tls_failures;
  log_info("tls", "handshake with {} failed: {}", c.peer.to_text(), c.stream.error_text());
  close(c);
}

void IoLoop::begin_protocol(ClientConnection& c) {
  if (c.phase == ClientConnection::Phase::kTls) --stats_.tls_handshakes;
  c.phase = ClientConnection::Phase::kGreeting;
  c.deadline = loop_->now() + config_.first_frame_ms;
  c.tls.reset();
  update_events(c);
  receive(c);
}

void IoLoop::receive(ClientConnection& c) {
  if (c.phase == ClientConnection::Phase::kClient && !front_.reading(c.id)) {
    // Further requests of the client wait in the kernel.
    c.paused = true;
    ++stats_.paused;
    return update_events(c);
  }
  do {
    if (kArenaBytes - arena_used_ < kReceiveMin) {
      process();
      if (c.phase == ClientConnection::Phase::kClient && !front_.reading(c.id)) return;
    }
    ENSURE(kArenaBytes - arena_used_ >= kReceiveMin, "processing empties the arena");
    const std::size_t room = std::min(kReceiveMax, kArenaBytes - arena_used_);
    const net::IoCount got = c.stream.read(arena_.get() + arena_used_, room);
    if (got.status == net::IoStatus::kAgain) return;
    if (got.status != net::IoStatus::kOk) return close(c);
    received_.push_back({c.index, arena_used_, got.bytes});
    arena_used_ += got.bytes;
  } while (c.stream.has_buffered());
}

void IoLoop::flush_changed() {
  front_.take_changed(changed_);
  for (const replica::ConnId id : changed_) {
    if (ClientConnection* c = of(id)) flush(*c);
  }
}

// Sends the output; closes if the front wants that and nothing is left; resumes reading where possible.
void IoLoop::flush(ClientConnection& c) {
  if (c.phase != ClientConnection::Phase::kClient) return;
  std::string& out = front_.output(c.id);
  if (!out.empty()) {
    if (!write_out(c, out)) return close(c);
    front_.on_sent(c.id);
  } else {
    c.unsent = false;  // The front has dropped the rest; waiting to send nothing would never end.
    c.sent = 0;
  }
  if (front_.closing(c.id)) {
    if (!c.unsent) return close(c);
    if (c.deadline == Instant{}) c.deadline = loop_->now() + config_.first_frame_ms;
    c.paused = true;
  } else {
    resume(c);
  }
  update_events(c);
}

void IoLoop::resume(ClientConnection& c) {
  if (!front_.reading(c.id)) return;
  const bool more = c.held || (c.paused && c.stream.has_buffered());
  c.paused = false;
  c.held = false;
  if (more) again_.push_back(c.index);
}

// False: the connection is broken. Unsent bytes stay, and c.unsent is set.
bool IoLoop::write_out(ClientConnection& c, std::string& out) {
  ENSURE(c.sent <= out.size(), "no more is sent than there was");
  const net::IoCount wrote = c.stream.write(std::string_view(out).substr(c.sent));
  if (wrote.status == net::IoStatus::kClosed || wrote.status == net::IoStatus::kError) return false;
  if (wrote.status == net::IoStatus::kOk) c.sent += wrote.bytes;
  c.unsent = c.sent < out.size();
  if (!c.unsent) {
    out.clear();
    c.sent = 0;
  } else if (c.sent >= out.size() / 2) {
    out.erase(0, c.sent);
    c.sent = 0;
  }
  return true;
}

void IoLoop::flush_word(ClientConnection& c) {
  if (!c.word.empty() && !write_out(c, c.word)) return close(c);
  if (!c.unsent) {
    c.stream.shutdown();
    return close(c);
  }
  update_events(c);
}

void IoLoop::update_events(ClientConnection& c) {
  const std::uint32_t wanted = c.stream.events_for({.read = !c.paused, .write = c.unsent});
  if (wanted == c.registered) return;
  c.registered = wanted;
  loop_->modify(c.stream.fd(), wanted, &c);
}

void IoLoop::close(ClientConnection& c) {
  ENSURE(connections_[c.index].get() == &c, "a connection is closed once");
  if (c.phase == ClientConnection::Phase::kClient) {
    TreeLock::Reading reading(lock_, io_slot(static_cast<std::size_t>(id_)));
    front_.close(c.id);
  }
  if (c.phase == ClientConnection::Phase::kTls) --stats_.tls_handshakes;
  loop_->remove(c.stream.fd(), &c);
  counter_.leave(c.peer.ip_text());
  c.stream.close();
  const std::uint32_t index = c.index;
  graveyard_.push_back(std::move(connections_[index]));
  free_.push_back(index);
}

void IoLoop::take_new_connections() {
  std::vector<NewConnection> connections;
  {
    std::lock_guard lock(inbox_mutex_);
    connections.swap(new_connections_);
  }
  for (NewConnection& connection : connections) open(connection);
}

void IoLoop::open(NewConnection& connection) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(connections_.size()));
    connections_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  ENSURE(!connections_[index], "a free place has no connection");
  connections_[index] = std::make_unique<ClientConnection>(
      *this, net::Stream(std::move(connection.accepted.socket)), connection.accepted.peer);
  ClientConnection& c = *connections_[index];
  c.index = index;
  c.deadline = loop_->now() + config_.first_frame_ms;
  if (connection.detect) {
    c.phase = ClientConnection::Phase::kDetecting;
    c.tls = std::move(connection.tls);
  } else if (connection.tls) {
    if (auto started = c.stream.start_tls(std::move(connection.tls), {"", c.peer}); !started) {
      return refuse(c, started.error());
    }
    begin_handshake(c);
  }
  c.registered = c.stream.events_for({.read = true, .write = false});
  if (auto added = loop_->add(c.stream.fd(), c.registered, &c); !added) refuse(c, added.error());
}

// Rejects a connection that is not in the event loop yet.
void IoLoop::refuse(const ClientConnection& c, const IoError& why) {
  log_warn("io", "{}: {}", c.peer.to_text(), why.what);
  if (c.phase == ClientConnection::Phase::kTls) --stats_.tls_handshakes;
  counter_.leave(c.peer.ip_text());
  const std::uint32_t index = c.index;
  connections_[index].reset();
  free_.push_back(index);
}

void IoLoop::tick() {
  const Instant now = loop_->now();
  if (now >= next_tick_) {
    next_tick_ = now + config_.tick_period_ms;
    // Everything that arrived before the last tick has been read. Later data may still wait: after a pause of
    // the process, more sockets can be ready than one round handles.
    front_.on_tick(std::exchange(last_tick_, now));
    core_->post(id_, std::move(front_.outbox()));
    front_.outbox() = replica::ToReplica{};
    if (hosts_core_) core_->tick(now);
  }
  if (now >= next_sweep_) {
    next_sweep_ = now + kSweepMs;
    sweep();
  }
}

// Closes connections that missed their deadline.
void IoLoop::sweep() {
  const Instant now = loop_->now();
  for (const auto& c : connections_) {
    if (!c || c->deadline == Instant{} || now < c->deadline) continue;
    ++stats_.sessionless_expired;
    log_info("io", "closing {}: no handshake or complete request in time", c->peer.to_text());
    close(*c);
  }
}

}  // namespace drover::server

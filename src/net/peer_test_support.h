// SPDX-License-Identifier: Apache-2.0
//
// For the tests of links between servers, with several servers' sockets in one thread: a loop that runs until
// a condition holds, ports without a listener, and TLS certificates created on the spot.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/event_loop.h"
#include "net/peer_link.h"
#include "net/peer_listener.h"
#include "net/resolver.h"
#include "net/tls_context_holder.h"
#include "net/tls_test_support.h"

namespace drover::net::testing {

inline constexpr int kPatienceMs = 20'000;  // after this time a test counts as hung

// Calls on_time() only when an object's next_time() asks for it, so that a forgotten next_time() makes the
// test hang.
class World {
 public:
  explicit World(Resolver::Lookup lookup = resolve)
      : loop_(*EventLoop::create()), resolver_(*Resolver::create(*loop_, std::move(lookup))) {}

  EventLoop& loop() { return *loop_; }
  Resolver& resolver() { return *resolver_; }

  // Calls on_time() of the object that the slot holds at that time, if any.
  template <class Timed>
  void keep_time(const std::unique_ptr<Timed>& slot) {
    timed_.push_back({[&slot] { return slot ? std::optional<Instant>(slot->next_time()) : std::nullopt; },
                      [&slot](Instant now) { slot->on_time(now); }});
  }

  bool until(const std::function<bool()>& condition) {
    const Instant deadline = loop_->refresh_now() + kPatienceMs;
    while (!condition()) {
      if (loop_->now() >= deadline) return false;
      turn(deadline);
    }
    return true;
  }
  // For things that must reach some age before an event.
  void run_for(int ms) {
    const Instant end = loop_->refresh_now() + ms;
    while (loop_->now() < end) turn(end);
  }
  // Handles everything that is ready. For tests which claim that nothing happens.
  void settle() {
    while (turn(loop_->now()) > 0) {
    }
  }

 private:
  struct Timed {
    std::function<std::optional<Instant>()> next_time;
    std::function<void(Instant)> on_time;
  };

  int turn(Instant deadline) {
    Instant next = deadline;
    for (const Timed& timed : timed_) next = std::min(next, timed.next_time().value_or(deadline));
    const int called = loop_->run_once(static_cast<int>(std::max<std::int64_t>(0, next - loop_->now())));
    for (const Timed& timed : timed_) {
      if (const auto due = timed.next_time(); due && *due <= loop_->now()) timed.on_time(loop_->now());
    }
    return called;
  }

  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Resolver> resolver_;
  std::vector<Timed> timed_;
};

// A local port that refuses connections until a test listens on it.
class ReservedPort {
 public:
  ReservedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_storage storage;
    socklen_t length = Address::parse("127.0.0.1", 0)->to_sockaddr(storage);
    EXPECT_EQ(::bind(socket_.fd(), reinterpret_cast<sockaddr*>(&storage), length), 0);
    length = sizeof storage;
    ::getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&storage), &length);
    port_ = Address::from_sockaddr(reinterpret_cast<sockaddr*>(&storage), length).port();
  }
  Endpoint endpoint() const { return {"127.0.0.1", port_}; }

 private:
  Socket socket_;
  std::uint16_t port_ = 0;
};

inline Endpoint endpoint_of(const Address& address) { return {address.ip_text(), address.port()}; }

// Consumes every byte and records everything.
struct Recorder : PeerLink::Owner {
  void on_connected(PeerLink&) override { ++connected; }
  std::size_t on_bytes(PeerLink&, std::string_view bytes) override {
    received += bytes;
    return bytes.size();
  }
  void on_writable(PeerLink& link) override {
    ++writable;
    queued_when_writable = link.queued_bytes();
  }
  void on_closed(PeerLink&, const std::string& reason) override { closed = reason; }

  int connected = 0;
  int writable = 0;
  std::size_t queued_when_writable = 0;
  std::string received;
  std::optional<std::string> closed;
};

// Accepts connections and keeps them.
struct Door : PeerListener::Owner {
  void on_accepted(Stream stream, const Address&) override { accepted.push_back(std::move(stream)); }
  void on_refused(const Address&, const std::string& reason) override { refused.push_back(reason); }

  std::vector<Stream> accepted;
  std::vector<std::string> refused;
};

// Mutual TLS with one certificate for all servers.
class PeerCertificates {
 public:
  explicit PeerCertificates(int handshake_timeout_ms = 5000) {
    const TempDir dir;
    const Identity identity = make_identity({.common_name = "peer", .alt_names = "IP:127.0.0.1"});
    const std::string certificate = pem_of(identity.certificate);
    const StoreOptions keys{.location = dir.write("k.pem", certificate + pem_of(identity.key))};
    const StoreOptions trust{.location = dir.write("t.pem", certificate)};
    const auto load = [&](TlsRole role) {
      return *TlsContextHolder::load({.role = role,
                                      .key_store = keys,
                                      .trust_store = trust,
                                      .client_hostname_verification = true,
                                      .handshake_timeout_ms = handshake_timeout_ms});
    };
    server_ = load(TlsRole::kServer);
    client_ = load(TlsRole::kClient);
  }

  PeerTls tls() const { return {.server = server_.get(), .client = client_.get()}; }
  PeerTls tls_or_plain() const { return {.server = server_.get(), .client = nullptr, .accepts_plain = true}; }

 private:
  std::unique_ptr<TlsContextHolder> server_;
  std::unique_ptr<TlsContextHolder> client_;
};

}  // namespace drover::net::testing

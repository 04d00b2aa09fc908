// SPDX-License-Identifier: Apache-2.0
//
// The client side of a recipe's world: one library client on the simulated network. It reads the traffic, so
// that a test can lose exactly the answer that it means.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/virtual_driver.h"
#include "drover/client.h"
#include "sim/network.h"
#include "sim/world.h"
#include "wire/records.h"

namespace drover::sim {

// The key of a client's session; with it the session can be taken over.
struct SessionKey {
  SessionId session{};
  std::string password;
};

class RecipeClient final : private Network::Host, private client::VirtualWire {
 public:
  // Parts that outlive it.
  struct Parts {
    World& world;
    Network& network;
    const std::vector<HostId>& servers;
  };
  RecipeClient(const Parts& parts, HostId host, const client::EngineOptions& options);
  ~RecipeClient() override;

  Client& client() { return *client_; }
  bool has_client() const { return client_.has_value(); }
  // Drops the world's last handle of it.
  void let_go() { client_.reset(); }
  bool is_over() const { return driver_->is_over(); }
  // Finishes the work that was requested from outside.
  void settle();
  void run(std::move_only_function<void()> work);

  // --- faults ---
  // The next `nth` of its kind; an empty `op` is any. If it has a kind, only successful operations count as
  // answered.
  void lose_reply(std::string op, int nth) { reply_traps_.push_back({std::move(op), nth, {}}); }
  void lose_request(std::string op, int nth) { request_traps_.push_back({std::move(op), nth, {}}); }
  void at_request(std::string op, int nth, std::function<void()> then) {
    watch_traps_.push_back({std::move(op), nth, std::move(then)});
  }
  bool has_traps() const { return !reply_traps_.empty() || !request_traps_.empty() || !watch_traps_.empty(); }
  void disarm();
  void disconnect();
  HostId host() const { return host_; }
  // The server that it dialled last.
  HostId server() const { return parts_.servers[server_]; }

  // --- observations ---
  std::uint64_t requests() const { return requests_; }
  std::uint64_t requests(const std::string& op) const;
  std::uint64_t watch_events() const { return watch_events_; }
  const SessionKey& key() const { return key_; }

 private:
  struct Trap {
    std::string op;
    int left = 1;
    std::function<void()> then;
  };
  void on_accepted(SocketId, Port, HostId) override {}
  void on_connected(SocketId socket) override;
  void on_dial_failed(SocketId socket) override { on_closed(socket); }
  void on_bytes(SocketId socket, std::string_view bytes) override;
  void on_closed(SocketId socket) override;
  void dial(std::size_t server) override;
  void hang_up() override;
  void send(std::string_view bytes) override;

  Instant now() const { return {kBootMs + parts_.world.now() / kMillisecond}; }
  static bool spring(std::vector<Trap>& traps, std::string_view op, std::function<void()>* then = nullptr);
  bool on_request(std::string_view frame);
  bool on_reply(std::string_view frame);
  void on_session(std::string_view frame);
  void arm_timer();

 public:
  static constexpr std::int64_t kBootMs = 1'000'000;  // no clock begins at 0

 private:
  Parts parts_;
  HostId host_;
  ActorId actor_;
  std::shared_ptr<client::VirtualDriver> driver_;
  std::optional<Client> client_;
  std::optional<SocketId> socket_;
  std::size_t server_ = 0;
  bool greeted_ = false;                       // the session request of this connection has been sent
  bool introduced_ = false;                    // and answered
  bool broken_ = false;                        // what is sent on this connection is lost
  std::string out_, in_;                       // bytes that are not yet a whole frame
  std::map<std::int32_t, std::string> asked_;  // requests of this connection, by xid
  SessionKey key_;
  std::vector<Trap> reply_traps_, request_traps_, watch_traps_;
  std::uint64_t requests_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> requests_by_op_;
  std::uint64_t watch_events_ = 0;
  std::uint64_t timer_ = 0;  // the current one
  std::optional<Instant> timer_at_;
};

// Ends another client's session, as an administrator's tool does: takes it over and closes it. Retries until
// it is gone.
class SessionKiller final : private Network::Host {
 public:
  SessionKiller(const RecipeClient::Parts& parts, HostId host, SessionKey key);
  ~SessionKiller() override;

 private:
  void on_accepted(SocketId, Port, HostId) override {}
  void on_connected(SocketId socket) override;
  void on_dial_failed(SocketId socket) override { on_closed(socket); }
  void on_bytes(SocketId socket, std::string_view bytes) override;
  void on_closed(SocketId socket) override;
  void dial();

  RecipeClient::Parts parts_;
  HostId host_;
  ActorId actor_;
  SessionKey key_;
  SocketId socket_{};
  std::string in_;
  bool asked_ = false;  // to close
  bool done_ = false;
  std::size_t next_server_ = 0;
};

}  // namespace drover::sim

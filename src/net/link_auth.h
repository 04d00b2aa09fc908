// SPDX-License-Identifier: Apache-2.0
//
// Authentication of links between servers with SASL, the same on the quorum port and the election port.
//
//   quorum port      connect (TLS)             exchange   FOLLOWERINFO …
//   election port    connect (TLS)  greeting   exchange   notifications …
//
// The connecting server speaks first and proves who it is. The accepting one sees from the first byte whether
// an exchange begins; if not, it is up to its configuration whether it goes on without. ZooKeeper does the
// same (SaslQuorumAuthServer, SaslQuorumAuthLearner). A failed exchange ends the connection on both sides.
//
// Both classes only turn bytes into bytes. Their owners have the link and the deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/sasl.h"
#include "net/sasl_starter.h"
#include "wire/quorum_auth.h"

namespace drover::net {

// Settings that all links of a server share. Everything it points to outlives the links.
struct PeerAuth {
  // --- accepted connections ---
  SaslFactory* acceptor = nullptr;  // null: SASL is off
  bool required = false;            // refuse connections without an exchange
  // Why a peer with this proven name may not link; nullopt: it may. Empty function: every name may.
  std::function<std::optional<std::string>(const std::string& name)> objection = {};

  // --- outgoing connections ---
  // Prepares an exchange with this server; `host` is one of its addresses, in case it is no member. Called by
  // the loop; what it returns runs in another thread. Empty: connect without an exchange.
  std::function<SaslStarter::Start(ServerId server, const std::string& host)> connector = {};
  SaslStarter* starter = nullptr;  // with `connector`
};
inline const PeerAuth kNoPeerAuth;  // for servers without SASL

inline constexpr std::string_view kAuthIsRequired =
    "it does not authenticate, and quorum.auth.serverRequireSasl is true here";
inline constexpr std::string_view kAuthIsUnexpected =
    "it authenticates with SASL, which was not expected (see quorum.auth.enableSasl)";

// Steps in which one side asks the other to go on. ZooKeeper's number.
inline constexpr int kAuthRoundsMax = 5;

// The accepting side of one connection. It costs nothing before an exchange begins.
class AcceptedAuth {
 public:
  enum class State : std::uint8_t {
    kWaiting,  // for more bytes
    kAbsent,   // other traffic begins here, and that is allowed
    kPassed,
    kFailed,
  };

  explicit AcceptedAuth(const PeerAuth& settings) : settings_(settings) {}

  // Reads packets from the front of `bytes` and appends the answers to `out`. Returns the number of bytes
  // consumed; those behind the end of the exchange are not. Also with kFailed there may be an answer to send.
  std::size_t on_bytes(std::string_view bytes, std::string& out);

  State state() const { return state_; }
  bool has_begun() const { return rounds_ > 0; }
  // With kPassed: who the peer has proven to be.
  const std::string& name() const { return name_; }
  // With kFailed: one line for the log.
  const std::string& failure() const { return failure_; }

 private:
  void on_packet(const wire::QuorumAuthPacket& packet, std::string& out);
  void on_success(const SaslStep& step, std::string& out);
  void fail(std::string reason) {
    state_ = State::kFailed;
    failure_ = std::move(reason);
  }

  const PeerAuth& settings_;
  std::unique_ptr<SaslConversation> conversation_;
  State state_ = State::kWaiting;
  int rounds_ = 0;
  std::string name_;
  std::string failure_;
};

// The connecting side of one connection.
class ConnectingAuth {
 public:
  enum class State : std::uint8_t {
    kStarting,  // the first step runs in another thread
    kWaiting,   // for the peer's answer
    kPassed,
    kFailed,
  };

  // Calls `started` once, from the loop: kStarting is over. Send first_packet(), or see why it failed.
  ConnectingAuth(const PeerAuth& settings, ServerId server, const std::string& host,
                 std::function<void()> started);
  ~ConnectingAuth();
  ConnectingAuth(const ConnectingAuth&) = delete;
  ConnectingAuth& operator=(const ConnectingAuth&) = delete;

  const std::string& first_packet() const { return first_packet_; }
  // Like AcceptedAuth::on_bytes().
  std::size_t on_bytes(std::string_view bytes, std::string& out);

  State state() const { return state_; }
  const std::string& failure() const { return failure_; }

 private:
  void on_started(SaslStarter::Started started);
  void on_packet(const wire::QuorumAuthPacket& packet, std::string& out);
  void on_challenge(std::string_view token, std::string& out);
  void on_success(std::string_view token);
  void fail(std::string reason) {
    state_ = State::kFailed;
    failure_ = std::move(reason);
  }

  SaslStarter& starter_;
  std::optional<SaslStarter::Ticket> ticket_;
  std::unique_ptr<SaslConversation> conversation_;
  bool is_convinced_ = false;  // our side of the exchange is done
  State state_ = State::kStarting;
  int rounds_ = 0;
  std::string first_packet_;
  std::string failure_;
};

}  // namespace drover::net

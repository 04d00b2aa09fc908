// SPDX-License-Identifier: Apache-2.0
//
// The client's side of a session: requests, replies, and how it survives a lost connection.
//
// Pure: no socket, thread or clock. Bytes, connections and time are inputs, everything to be done is an
// effect. The real client drives it from an event loop, the simulator on virtual time.
//
//   start ──► kConnecting ──► kConnected ◄──► kSuspended ──► kExpired | kAuthFailed | kClosed
//
// The last three are final; after them a new Session is needed. A request is sent at most once. If the
// connection is lost, requests that were sent have an unknown outcome. Requests that were not sent wait for
// the next connection, unless they are withdrawn.
//
// With SessionOptions::sasl a connection is connected when the login has succeeded (session_login.cc).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "base/sasl.h"
#include "base/time.h"
#include "client/connect_string.h"
#include "client/server_order.h"
#include "client/watch_registry.h"
#include "wire/records.h"
#include "wire/replies.h"

namespace drover::client {

// Identifies a request to the caller.
enum class Token : std::uint64_t {};

enum class SessionState : std::uint8_t {
  kConnecting,         // not connected yet
  kConnected,          //
  kConnectedReadOnly,  // connected to a read-only server
  kSuspended,          // the connection is lost; the session may live on
  kExpired,            // the session is gone; its ephemeral nodes are or will be
  kAuthFailed,         // the server refused our credentials
  kClosed,             // by close() or abandon()
};
inline bool is_final(SessionState state) { return state >= SessionState::kExpired; }

struct SessionOptions {
  std::size_t servers = 1;
  std::int32_t timeout_ms = 10'000;  // requested; the server decides
  std::uint64_t seed = 0;            // for the order of servers and the delays
  bool read_only_ok = false;         // accept a read-only server
  bool reset_watches = true;         // on each new connection
  bool sasl = false;                 // log in on each connection, before anything else
  // Expire locally when the server may have expired the session. Otherwise the session lasts until a server
  // says that it is gone; locks and other exclusive ownership are not safe then.
  bool expire_locally = true;
  std::int32_t frame_bytes_max = 0xfffff;            // jute.maxbuffer
  std::size_t set_watches_piece_bytes = 128 * 1024;  // servers have a jute.maxbuffer too
  std::size_t outstanding_max = 100'000;             // requests, sent or queued
  std::size_t queued_bytes_max = 64 << 20;           // of requests that wait for a connection
  // A session to resume instead of creating a new one.
  SessionId session{};
  std::string password{};
};

enum class Outcome : std::uint8_t {
  kAnswered,    // header and body are the reply
  kNotApplied,  // it was never sent
  kUnknown,     // it was sent, and the connection was lost before the reply
};

// A request has ended. Every submitted request ends exactly once, unless it is withdrawn.
struct Completed {
  Token token{};
  Outcome outcome{};
  wire::ReplyHeader header;  // not answered: why, and its xid
  std::string_view body;     // valid until the next input, at most as long as the bytes given to on_bytes()
};
struct WatchEvent {
  wire::EventType type{};
  std::string_view path;  // lifetime as Completed::body
  Zxid zxid{};            // -1: it happened while there was no connection, or the server does not say
};
struct StateChange {
  SessionState state{};
  SessionId session{};
};
using Happening = std::variant<Completed, WatchEvent, StateChange>;

struct SessionEffects {
  bool hang_up = false;  // do this first: close the connection or cancel the dial
  // The new list of servers; `dial` is an index into it.
  std::optional<std::vector<ServerAddress>> servers;
  std::optional<std::size_t> dial;  // this server; answered by on_connected() or on_disconnected()
  std::string send;
  // The next step of this connection's SASL exchange, with the server's token; the first one has none.
  // Answered by on_sasl(), unless the connection is closed before.
  std::optional<std::string> sasl;
  // Replies and events in order of arrival: an event precedes any reply that shows its change.
  std::vector<Happening> happened;

  void clear() {
    hang_up = false;
    servers.reset();
    dial.reset();
    send.clear();
    sasl.reset();
    happened.clear();
  }
};

class Session {
 public:
  explicit Session(const SessionOptions& options);

  // --- inputs ---
  // None may come for a connection after hang_up.
  void start(Instant now, SessionEffects& effects);
  void on_connected(Instant now, SessionEffects& effects);
  void on_bytes(std::string_view bytes, Instant now, SessionEffects& effects);
  void on_disconnected(Instant now, SessionEffects& effects);
  void on_sasl(SaslStep step, Instant now, SessionEffects& effects);
  void on_time(Instant now, SessionEffects& effects);
  // When to call on_time() next.
  std::optional<Instant> next_time() const;

  // Returns the request's xid. Requests are sent and completed in the order of submission. `op` must not be
  // one of the session's own (ping, auth, setWatches, closeSession). Watches are tracked by op and body.
  std::int32_t submit(Token token, wire::OpCode op, std::string_view body, Instant now,
                      SessionEffects& effects);
  // Withdraws a request that was not sent. False: it was sent, or has ended.
  bool withdraw(Token token);
  // Authenticates on this connection and on every later one. Completed by the first reply.
  void add_auth(Token token, std::string_view scheme, std::string_view auth, Instant now,
                SessionEffects& effects);
  // Closes the session after everything submitted before. Keeps trying until a server confirms it, or the
  // session is over anyway.
  void close(Instant now, SessionEffects& effects);
  // Gives up at once without telling the server, which will expire the session.
  void abandon(SessionEffects& effects);
  // Moves the session to the next server.
  void move_on(Instant now, SessionEffects& effects);
  // Replaces the list of servers (ServerOrder::replace()); indexes mean the new list from now on. If the
  // session leaves its server, it first waits for the replies to what it has sent, for a limited time; later
  // requests wait for the next server. So moving does not make the outcome of a request unknown.
  void replace_servers(const Origins& origins, Current current, Instant now, SessionEffects& effects);
  // The session holds something exclusive, such as a lock. From now on only replies that prove a quorum count
  // as signs of life: those to writes and to sync. The session sends a sync instead of a ping, leaves a
  // server that does not answer it in time, and expires if no server does. Earlier replies keep counting,
  // because to acquire something exclusive, the session must have seen a change that a quorum agreed on:
  // that reply proved a quorum, too.
  void set_holding(bool holding);

  // --- what is known ---
  // A server has confirmed close(): the session and its ephemeral nodes are gone.
  bool is_close_confirmed() const { return close_confirmed_; }
  bool is_closing() const { return closing_; }
  SessionState state() const { return state_; }
  // Why the state is kAuthFailed: one line without secrets.
  const std::string& auth_failure() const { return auth_failure_; }
  bool is_connected() const { return phase_ == Phase::kOpen; }
  SessionId id() const { return session_; }
  std::string_view password() const { return password_; }
  std::int32_t timeout_ms() const { return timeout_ms_; }
  // The session exists at least until then. A server counts the timeout from a moment that is not earlier
  // than when we sent the last request that it answered. This holds for any server, even a follower that is
  // cut off from its leader: see set_holding().
  std::optional<Instant> valid_until() const;
  Zxid last_zxid_seen() const { return last_zxid_seen_; }
  std::size_t outstanding() const { return sent_.size() + queued_.size(); }
  const WatchRegistry& watches() const { return watches_; }
  // The server of this connection or dial, or of the last one; empty: none yet, or it is not in the list.
  std::optional<std::size_t> current_server() const { return servers_.current(); }
  // How often all servers were tried in vain. 0 while one is being tried.
  std::size_t failed_rounds() const { return phase_ == Phase::kIdle ? servers_.failed_rounds() : 0; }

 private:
  enum class Phase : std::uint8_t {
    kIdle,       // until next_dial_
    kDialling,   // until on_connected()
    kHandshake,  // until the server has answered
    kLogin,      // until the SASL exchange has ended
    kOpen,
    kOver,
  };
  // The effect of the reply on the watches.
  struct Interest {
    enum class Kind : std::uint8_t { kNone, kData, kExists, kChild, kPersistent, kRecursive, kRemoval };
    Kind kind = Kind::kNone;
    std::int32_t removal = 0;
    std::string path;
  };
  struct Sent {
    Token token{};
    std::int32_t xid = 0;
    wire::OpCode op{};
    Instant at;
    Interest interest;
  };
  struct Queued {
    Sent request;
    std::string body;
  };
  // The SASL exchange of this connection.
  struct Login {
    Instant deadline;
    bool is_our_turn = true;
    bool has_begun = false;  // our first token is sent
    bool is_last = false;    // we are done when the server accepts our last token
  };
  struct Auth {
    std::optional<Token> token;  // until it is answered
    std::string scheme;
    std::string auth;
  };

  // session.cc
  void dial(Instant now, SessionEffects& effects);
  void lose(Instant now, SessionEffects& effects);
  void hang_up(Instant now, SessionEffects& effects);
  void finish(SessionState state, SessionEffects& effects);
  void fail_auth(std::string reason, SessionEffects& effects);
  void enter(SessionState state, SessionEffects& effects);
  void leave_if_idle(Instant now, SessionEffects& effects);
  void fail_all(Outcome of_sent, ErrorCode error, SessionEffects& effects);
  static bool proves_quorum(wire::OpCode op);
  bool is_past_expiry(Instant now) const;
  std::optional<Instant> expires_at() const;
  Instant proof_deadline() const;
  Instant next_ping() const { return (holding_ ? proof_asked_ : last_sent_) + ping_interval_ms(); }
  SessionId session_to_ask_for() const { return seen_read_write_ ? session_ : SessionId{}; }
  std::int64_t connect_timeout_ms() const;
  std::int64_t read_timeout_ms() const { return std::int64_t{timeout_ms_} * 2 / 3; }
  std::int64_t ping_interval_ms() const { return std::int64_t{timeout_ms_} / 3; }
  // session_login.cc
  void begin_login(Instant now, SessionEffects& effects);
  void send_token(std::string_view token, Instant now, SessionEffects& effects);
  bool on_sasl_reply(const wire::ReplyHeader& header, std::string_view body, Instant now,
                     SessionEffects& effects);
  // session_requests.cc
  void send_connect(Instant now, SessionEffects& effects);
  void send_request(Sent request, std::string_view body, Instant now, SessionEffects& effects);
  void send_auth(const Auth& auth, Instant now, SessionEffects& effects);
  void send_ping(Instant now, SessionEffects& effects);
  void send_probe(Instant now, SessionEffects& effects);
  void send_close(Instant now, SessionEffects& effects);
  void resume(Instant now, SessionEffects& effects);
  void send_queued(Instant now, SessionEffects& effects);
  std::int32_t take_xid();
  static Interest interest_of(wire::OpCode op, std::string_view body);
  // session_replies.cc
  bool on_frame(std::string_view frame, Instant now, SessionEffects& effects);
  bool on_handshake(std::string_view frame, Instant now, SessionEffects& effects);
  void open(Instant now, SessionEffects& effects);
  bool on_reply(const wire::ReplyHeader& header, std::string_view body, Instant now, SessionEffects& effects);
  bool on_event(const wire::ReplyHeader& header, std::string_view body, SessionEffects& effects);
  bool on_ping_reply();
  bool on_auth_reply(ErrorCode error, SessionEffects& effects);
  bool on_set_watches_reply(const wire::ReplyHeader& header);
  void note_interest(const Sent& request, ErrorCode error);
  void note_answered(Instant sent_at);
  void note_proved(Instant sent_at) { proved_ = std::max(proved_.value_or(sent_at), sent_at); }

  SessionOptions options_;
  ServerOrder servers_;
  SessionState state_ = SessionState::kConnecting;
  Phase phase_ = Phase::kIdle;
  bool started_ = false;
  bool closing_ = false;
  bool close_confirmed_ = false;
  std::string auth_failure_;
  bool logged_in_ = false;         // with SASL, on this connection or an earlier one
  bool server_read_only_ = false;  // of this connection
  bool seen_read_write_ = false;   // a session of a read-only server exists only there

  SessionId session_{};
  std::string password_;
  std::int32_t timeout_ms_ = 0;
  Zxid last_zxid_seen_{};            // in any reply or event; a server behind it is not acceptable
  Zxid watch_zxid_{};                // all watch events up to here have arrived
  std::optional<Instant> answered_;  // when the last answered request was sent
  bool answered_read_only_ = false;  // by a read-only server
  bool holding_ = false;
  std::optional<Instant> proved_;  // as answered_, for replies that prove a quorum
  Instant proof_asked_;            // when the last such request was sent
  Instant opened_;                 // when this connection was accepted
  // The session moves to another server when nothing is in flight, at the latest then.
  std::optional<Instant> leaving_by_;

  Instant next_dial_;
  Instant connect_deadline_;
  Login login_;
  Instant last_heard_;
  Instant last_sent_;

  std::int32_t next_xid_ = 1;
  std::deque<Sent> sent_;
  std::deque<Queued> queued_;
  std::size_t queued_bytes_ = 0;
  std::deque<Instant> pings_;  // sent and not answered
  std::vector<Auth> auths_;
  std::size_t auths_answered_ = 0;    // on this connection
  std::size_t set_watches_sent_ = 0;  // not answered
  WatchRegistry watches_;
  std::string input_;     // an unfinished frame
  std::size_t used_ = 0;  // of input_, by frames that SessionEffects may still point to
};

}  // namespace drover::client

// SPDX-License-Identifier: Apache-2.0
//
// The client's end of a session: what is asked, what is answered, and how it survives a lost connection.
//
// Pure: no socket, thread or clock. Bytes, connections and time come in as inputs, and everything to be done
// goes out as effects. The real client drives it from an event loop, the simulator from virtual time.
//
//   start ──► kConnecting ──► kConnected ◄──► kSuspended ──► kExpired | kAuthFailed | kClosed
//
// The last three are final: after them a new Session is needed. A request is sent at most once. When the
// connection is lost, what was sent has an unknown outcome; what was not sent yet waits for the next
// connection, unless it is withdrawn.
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
#include "base/time.h"
#include "client/server_order.h"
#include "client/watch_registry.h"
#include "wire/records.h"
#include "wire/replies.h"

namespace drover::client {

// The caller's name for a request.
enum class Token : std::uint64_t {};

enum class SessionState : std::uint8_t {
  kConnecting,         // never connected so far
  kConnected,          //
  kConnectedReadOnly,  // to a server without a quorum
  kSuspended,          // the connection is lost; the session may live on
  kExpired,            // the session is gone, and its ephemerals are or will be
  kAuthFailed,         // the server does not believe who we say we are
  kClosed,             // by close() or abandon()
};
inline bool is_final(SessionState state) { return state >= SessionState::kExpired; }

struct SessionOptions {
  std::size_t servers = 1;
  std::int32_t timeout_ms = 10'000;  // asked for; the server decides
  std::uint64_t seed = 0;            // of the order of servers and the delays
  bool read_only_ok = false;         // a server without a quorum is better than none
  bool reset_watches = true;         // on each new connection
  // Give the session up when the server may have done so, even without its word. Without it the session lasts
  // until a server says that it is gone; nothing that relies on exclusive ownership may then be built on it.
  bool expire_locally = true;
  std::int32_t frame_bytes_max = 0xfffff;            // jute.maxbuffer
  std::size_t set_watches_piece_bytes = 128 * 1024;  // servers have a jute.maxbuffer too
  std::size_t outstanding_max = 100'000;             // requests, sent or not
  std::size_t queued_bytes_max = 64 << 20;           // of requests that wait for a connection
  // A session to go on with instead of a new one.
  SessionId session{};
  std::string password{};
};

enum class Outcome : std::uint8_t {
  kAnswered,    // header and body say what became of it
  kNotApplied,  // it was never sent
  kUnknown,     // it was sent, and the connection was lost before the answer
};

// A request has ended. Every request that is submitted ends exactly once, except one that is withdrawn.
struct Completed {
  Token token{};
  Outcome outcome{};
  wire::ReplyHeader header;  // not answered: why, and its xid
  std::string_view body;     // valid until the next input, and no longer than the bytes given to on_bytes()
};
struct WatchEvent {
  wire::EventType type{};
  std::string_view path;  // as Completed::body
  Zxid zxid{};            // -1: it happened while there was no connection, or the server does not say
};
struct StateChange {
  SessionState state{};
  SessionId session{};
};
using Happening = std::variant<Completed, WatchEvent, StateChange>;

struct Effects {
  bool hang_up = false;             // first of all: the connection, or the dial, is no longer wanted
  std::optional<std::size_t> dial;  // this server; answered by on_connected() or on_disconnected()
  std::string send;
  // Replies and events in the order of their arrival: an event comes before any reply that shows its change.
  std::vector<Happening> happened;

  void clear() {
    hang_up = false;
    dial.reset();
    send.clear();
    happened.clear();
  }
};

class Session {
 public:
  explicit Session(const SessionOptions& options);

  // --- inputs ---
  // Of a connection that was hung up there are none.
  void start(Instant now, Effects& effects);
  void on_connected(Instant now, Effects& effects);
  void on_bytes(std::string_view bytes, Instant now, Effects& effects);
  void on_disconnected(Instant now, Effects& effects);
  void on_time(Instant now, Effects& effects);
  // When on_time() has something to do next.
  std::optional<Instant> next_time() const;

  // Returns the request's xid. Order of submission is order of sending is order of completion. `op` is none
  // of the session's own (ping, auth, setWatches, closeSession). Watches are kept by looking at op and body.
  std::int32_t submit(Token token, wire::OpCode op, std::string_view body, Instant now, Effects& effects);
  // Takes back a request that was not sent. False: it was, or has ended.
  bool withdraw(Token token);
  // Proves an identity on this connection and on every later one. Ends when the server has first answered.
  void add_auth(Token token, std::string_view scheme, std::string_view auth, Instant now, Effects& effects);
  // Ends the session behind everything submitted before; keeps trying until a server has heard it, or the
  // session is over anyway.
  void close(Instant now, Effects& effects);
  // Gives up at once and tells nobody; the server will notice by the silence.
  void abandon(Effects& effects);
  // Leaves this server for the next one; the session goes along.
  void move_on(Instant now, Effects& effects);
  // The session holds something exclusive, such as a lock. From here on only answers that a quorum stands
  // behind count as signs of life: to writes and to sync. The session sends a sync where it would send a
  // ping, leaves a server that does not answer it in time, and gives itself up when no server does. What was
  // answered before counts as it did until now: to get hold of something the session must have heard of a
  // change that a quorum agreed on.
  void set_holding(bool holding);

  // --- what is known ---
  // A server has answered close(): the session is over and so are its ephemerals.
  bool is_close_confirmed() const { return close_confirmed_; }
  bool is_closing() const { return closing_; }
  SessionState state() const { return state_; }
  bool is_connected() const { return phase_ == Phase::kOpen; }
  SessionId id() const { return session_; }
  std::string_view password() const { return password_; }
  std::int32_t timeout_ms() const { return timeout_ms_; }
  // Until then the session is certain to exist, if nothing more is heard. A server counts the timeout from a
  // moment that is not earlier than when we sent the last request that it answered. Any server, a follower
  // that is cut off from its leader too: see set_holding().
  std::optional<Instant> valid_until() const;
  Zxid last_zxid_seen() const { return last_zxid_seen_; }
  std::size_t outstanding() const { return sent_.size() + queued_.size(); }
  const WatchRegistry& watches() const { return watches_; }

 private:
  enum class Phase : std::uint8_t {
    kIdle,       // until next_dial_
    kDialling,   // until on_connected()
    kHandshake,  // until the server has answered
    kOpen,
    kOver,
  };
  // What the reply will mean for the watches.
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
  struct Auth {
    std::optional<Token> token;  // until it is answered
    std::string scheme;
    std::string auth;
  };

  // session.cc
  void dial(Instant now, Effects& effects);
  void lose(Instant now, Effects& effects);
  void hang_up(Instant now, Effects& effects);
  void finish(SessionState state, Effects& effects);
  void enter(SessionState state, Effects& effects);
  void fail_all(Outcome of_sent, ErrorCode error, Effects& effects);
  static bool proves_quorum(wire::OpCode op);
  bool is_past_expiry(Instant now) const;
  std::optional<Instant> expires_at() const;
  Instant proof_deadline() const;
  Instant next_ping() const { return (holding_ ? proof_asked_ : last_sent_) + ping_interval_ms(); }
  SessionId session_to_ask_for() const { return seen_read_write_ ? session_ : SessionId{}; }
  std::int64_t connect_timeout_ms() const;
  std::int64_t read_timeout_ms() const { return std::int64_t{timeout_ms_} * 2 / 3; }
  std::int64_t ping_interval_ms() const { return std::int64_t{timeout_ms_} / 3; }
  // session_requests.cc
  void send_connect(Instant now, Effects& effects);
  void send_request(Sent request, std::string_view body, Instant now, Effects& effects);
  void send_auth(const Auth& auth, Instant now, Effects& effects);
  void send_ping(Instant now, Effects& effects);
  void send_probe(Instant now, Effects& effects);
  void send_close(Instant now, Effects& effects);
  void resume(Instant now, Effects& effects);
  std::int32_t take_xid();
  static Interest interest_of(wire::OpCode op, std::string_view body);
  // session_replies.cc
  bool on_frame(std::string_view frame, Instant now, Effects& effects);
  bool on_handshake(std::string_view frame, Instant now, Effects& effects);
  bool on_reply(const wire::ReplyHeader& header, std::string_view body, Effects& effects);
  bool on_event(const wire::ReplyHeader& header, std::string_view body, Effects& effects);
  bool on_ping_reply();
  bool on_auth_reply(ErrorCode error, Effects& effects);
  bool on_set_watches_reply(const wire::ReplyHeader& header);
  void note_interest(const Sent& request, ErrorCode error);
  void note_answered(Instant sent_at, bool read_only);
  void note_proved(Instant sent_at) { proved_ = std::max(proved_.value_or(sent_at), sent_at); }

  SessionOptions options_;
  ServerOrder servers_;
  SessionState state_ = SessionState::kConnecting;
  Phase phase_ = Phase::kIdle;
  bool started_ = false;
  bool closing_ = false;
  bool close_confirmed_ = false;
  bool seen_read_write_ = false;  // a session of a read-only server is known to nobody else

  SessionId session_{};
  std::string password_;
  std::int32_t timeout_ms_ = 0;
  Zxid last_zxid_seen_{};            // by any reply or event: no server that is behind it will do
  Zxid watch_zxid_{};                // everything up to here that we watch has been told
  std::optional<Instant> answered_;  // when the last request that was answered had been sent
  bool answered_read_only_ = false;  // by a server without a quorum
  bool holding_ = false;
  std::optional<Instant> proved_;  // as answered_, of requests that a quorum stands behind
  Instant proof_asked_;            // when the last such request was sent
  Instant opened_;                 // when this connection was accepted

  Instant next_dial_;
  Instant connect_deadline_;
  Instant last_heard_;
  Instant last_sent_;

  std::int32_t next_xid_ = 1;
  std::deque<Sent> sent_;
  std::deque<Queued> queued_;
  std::size_t queued_bytes_ = 0;
  std::deque<Instant> pings_;  // sent, not answered
  std::vector<Auth> auths_;
  std::size_t auths_answered_ = 0;    // on this connection
  std::size_t set_watches_sent_ = 0;  // not answered
  WatchRegistry watches_;
  std::string input_;     // an unfinished frame
  std::size_t used_ = 0;  // of input_, by frames that Effects may still point to
};

}  // namespace drover::client

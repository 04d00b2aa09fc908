// SPDX-License-Identifier: Apache-2.0
//
// Output to the server, and its order.
#include <limits>
#include <utility>

#include "base/ensure.h"
#include "client/session.h"
#include "wire/requests.h"

namespace drover::client {
namespace {

using wire::OpCode;

bool is_sessions_own(OpCode op) {
  switch (op) {
    case OpCode::kPing:
    case OpCode::kAuth:
    case OpCode::kSetWatches:
    case OpCode::kSetWatches2:
    case OpCode::kSasl:
    case OpCode::kCreateSession:
    case OpCode::kCloseSession: return true;
    default: return false;
  }
}

void append_request(std::string& out, std::int32_t xid, OpCode op, std::string_view body) {
  wire::Frame frame(out);
  wire::Writer w(out);
  w.i32(xid);
  w.i32(static_cast<std::int32_t>(op));
  w.raw(body);
}

}  // namespace

// A new session has no password, but servers read 16 bytes.
void Session::send_connect(Instant now, SessionEffects& effects) {
  const std::string none(wire::kPasswordBytes, '\0');
  const SessionId session = session_to_ask_for();
  wire::ConnectRequest request;
  request.last_zxid_seen = last_zxid_seen_;
  request.timeout_ms = options_.timeout_ms;
  request.session = session;
  request.password = raw(session) == 0 ? std::string_view(none) : std::string_view(password_);
  request.read_only = options_.read_only_ok;
  request.has_read_only = true;
  last_sent_ = now;
  wire::Frame frame(effects.send);
  wire::Writer w(effects.send);
  wire::encode(w, request);
}

// A new connection starts with the login, authentication, then watches, then requests.
void Session::resume(Instant now, SessionEffects& effects) {
  for (const Auth& auth : auths_) send_auth(auth, now, effects);
  if (options_.reset_watches) {
    set_watches_sent_ =
        watches_.append_set_watches(effects.send, watch_zxid_, options_.set_watches_piece_bytes);
  } else {
    watches_.clear();
  }
  send_queued(now, effects);
  if (holding_) send_probe(now, effects);
  if (closing_) send_close(now, effects);
}

void Session::send_queued(Instant now, SessionEffects& effects) {
  while (!queued_.empty()) {
    Queued next = std::move(queued_.front());
    queued_.pop_front();
    queued_bytes_ -= next.body.size();
    send_request(std::move(next.request), next.body, now, effects);
  }
}

std::int32_t Session::take_xid() {
  const std::int32_t xid = next_xid_;
  next_xid_ = xid == std::numeric_limits<std::int32_t>::max() ? 1 : xid + 1;
  return xid;
}

// Also tracks the removal of watches: a removed watch must not be set again.
Session::Interest Session::interest_of(OpCode op, std::string_view body) {
  using Kind = Interest::Kind;
  wire::Reader r(body);
  if (op == OpCode::kAddWatch || op == OpCode::kRemoveWatches) {
    const auto request = wire::decode_path_type(r);
    if (!request || !request->path) return {};
    const std::string path(*request->path);
    if (op == OpCode::kRemoveWatches) return {Kind::kRemoval, request->type, path};
    return {request->type == 1 ? Kind::kRecursive : Kind::kPersistent, 0, path};
  }
  Kind kind = Kind::kNone;
  if (op == OpCode::kGetData) kind = Kind::kData;
  if (op == OpCode::kExists) kind = Kind::kExists;
  if (op == OpCode::kGetChildren || op == OpCode::kGetChildren2) kind = Kind::kChild;
  if (kind == Kind::kNone) return {};
  const auto request = wire::decode_path_watch(r);
  if (!request || !request->watch) return {};
  return {kind, 0, std::string(request->path)};
}

std::int32_t Session::submit(Token token, OpCode op, std::string_view body, Instant now,
                             SessionEffects& effects) {
  ENSURE(!is_sessions_own(op), "the session sends its own packets itself");
  Sent request{token, take_xid(), op, now, interest_of(op, body)};
  const std::int32_t xid = request.xid;
  const bool over = is_final(state_) || closing_;
  const bool sendable = phase_ == Phase::kOpen && !leaving_by_;
  const bool full = outstanding() >= options_.outstanding_max ||
                    (!sendable && queued_bytes_ + body.size() > options_.queued_bytes_max);
  if (over || full) {
    auto error = over ? ErrorCode::kSessionExpired : ErrorCode::kThrottledOp;
    if (state_ == SessionState::kAuthFailed) error = ErrorCode::kAuthFailed;
    effects.happened.push_back(Completed{token, Outcome::kNotApplied, {xid, Zxid{}, error}, {}});
  } else if (sendable) {
    send_request(std::move(request), body, now, effects);
  } else {
    queued_bytes_ += body.size();
    queued_.push_back({std::move(request), std::string(body)});
  }
  return xid;
}

void Session::send_request(Sent request, std::string_view body, Instant now, SessionEffects& effects) {
  append_request(effects.send, request.xid, request.op, body);
  request.at = now;
  last_sent_ = now;
  if (proves_quorum(request.op)) proof_asked_ = now;
  sent_.push_back(std::move(request));
}

bool Session::withdraw(Token token) {
  for (auto it = queued_.begin(); it != queued_.end(); ++it) {
    if (it->request.token != token) continue;
    queued_bytes_ -= it->body.size();
    queued_.erase(it);
    return true;
  }
  return false;
}

void Session::add_auth(Token token, std::string_view scheme, std::string_view auth, Instant now,
                       SessionEffects& effects) {
  if (is_final(state_) || closing_) {
    effects.happened.push_back(
        Completed{token, Outcome::kNotApplied, {wire::kAuthXid, Zxid{}, ErrorCode::kSessionExpired}, {}});
    return;
  }
  auths_.push_back({token, std::string(scheme), std::string(auth)});
  if (phase_ == Phase::kOpen) send_auth(auths_.back(), now, effects);
}

void Session::send_auth(const Auth& auth, Instant now, SessionEffects& effects) {
  std::string body;
  wire::Writer w(body);
  w.i32(0);
  w.string(auth.scheme);
  w.string(auth.auth);
  append_request(effects.send, wire::kAuthXid, OpCode::kAuth, body);
  last_sent_ = now;
}

void Session::send_ping(Instant now, SessionEffects& effects) {
  append_request(effects.send, wire::kPingXid, OpCode::kPing, {});
  pings_.push_back(now);
  last_sent_ = now;
}

// Sent instead of a ping. Only the session uses its reply.
void Session::send_probe(Instant now, SessionEffects& effects) {
  std::string body;
  wire::Writer(body).string("/");
  send_request({Token{}, take_xid(), OpCode::kSync, now, {}}, body, now, effects);
}

void Session::close(Instant now, SessionEffects& effects) {
  if (is_final(state_) || closing_) return;
  // No server knows a session that was never opened.
  if (raw(session_) == 0) return finish(SessionState::kClosed, effects);
  closing_ = true;
  if (phase_ != Phase::kOpen) return;
  leaving_by_.reset();  // This server will do.
  send_queued(now, effects);
  send_close(now, effects);
}

void Session::send_close(Instant now, SessionEffects& effects) {
  send_request({Token{}, take_xid(), OpCode::kCloseSession, now, {}}, {}, now, effects);
}

}  // namespace drover::client

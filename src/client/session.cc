// SPDX-License-Identifier: Apache-2.0
//
// Connecting, losing connections, and expiry.
#include "client/session.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "wire/requests.h"

namespace drover::client {

Session::Session(const SessionOptions& options)
    : options_(options),
      servers_(options.servers, options.seed),
      seen_read_write_(raw(options.session) != 0),
      session_(options.session),
      password_(options.password),
      timeout_ms_(options.timeout_ms) {
  // Long enough for its thirds to differ.
  ENSURE(options.timeout_ms >= 3, "the session timeout is at least 3 ms");
}

void Session::start(Instant now, SessionEffects& effects) {
  ENSURE(!started_, "a session starts once");
  started_ = true;
  dial(now, effects);
}

// All servers must be tried before the session expires. If the list is short, one server that accepts the
// connection and stays silent (as a starting server does) must not cost the session.
std::int64_t Session::connect_timeout_ms() const {
  constexpr std::int64_t kTriesMin = 3;
  const auto tries = std::max(kTriesMin, static_cast<std::int64_t>(servers_.size()));
  return std::max<std::int64_t>(1, timeout_ms_ / tries);
}

void Session::dial(Instant now, SessionEffects& effects) {
  phase_ = Phase::kDialling;
  connect_deadline_ = now + connect_timeout_ms();
  effects.dial = servers_.next();
}

void Session::on_connected(Instant now, SessionEffects& effects) {
  if (phase_ != Phase::kDialling) return;
  phase_ = Phase::kHandshake;
  last_heard_ = now;
  send_connect(now, effects);
}

void Session::on_disconnected(Instant now, SessionEffects& effects) {
  if (phase_ == Phase::kOver || phase_ == Phase::kIdle) return;
  lose(now, effects);
}

void Session::enter(SessionState state, SessionEffects& effects) {
  if (state == state_) return;
  state_ = state;
  effects.happened.push_back(StateChange{state, session_});
}

// The connection is lost. Requests in progress may or may not have been applied.
void Session::lose(Instant now, SessionEffects& effects) {
  const bool was_open = phase_ == Phase::kOpen;
  phase_ = Phase::kIdle;
  next_dial_ = now + servers_.delay_ms();
  leaving_by_.reset();
  effects.send.clear();
  effects.dial.reset();
  effects.sasl.reset();
  used_ = input_.size();  // Cleared with the next input, because effects may point into it.
  pings_.clear();
  auths_answered_ = 0;
  set_watches_sent_ = 0;
  if (was_open) enter(SessionState::kSuspended, effects);
  for (const Sent& lost : sent_) {
    if (lost.op == wire::OpCode::kCloseSession) continue;  // It is sent again on the next connection.
    effects.happened.push_back(
        Completed{lost.token, Outcome::kUnknown, {lost.xid, Zxid{}, ErrorCode::kConnectionLoss}, {}});
  }
  sent_.clear();
}

void Session::hang_up(Instant now, SessionEffects& effects) {
  effects.hang_up = true;
  lose(now, effects);
}

void Session::move_on(Instant now, SessionEffects& effects) {
  if (phase_ == Phase::kOver || phase_ == Phase::kIdle) return;
  hang_up(now, effects);
}

void Session::replace_servers(const Origins& origins, Current current, Instant now, SessionEffects& effects) {
  const bool leaves = servers_.replace(origins, phase_ == Phase::kOpen ? current : Current::kByList);
  if (effects.dial) effects.dial = servers_.current();  // The driver has not carried it out yet.
  if (!leaves) return;
  if (phase_ == Phase::kDialling || phase_ == Phase::kHandshake || phase_ == Phase::kLogin) {
    return hang_up(now, effects);
  }
  if (phase_ != Phase::kOpen || closing_) return;
  leaving_by_ = now + ping_interval_ms();
  leave_if_idle(now, effects);
}

void Session::leave_if_idle(Instant now, SessionEffects& effects) {
  if (phase_ == Phase::kOpen && leaving_by_ && sent_.empty()) hang_up(now, effects);
}

void Session::abandon(SessionEffects& effects) {
  if (!is_final(state_)) finish(SessionState::kClosed, effects);
}

void Session::fail_all(Outcome of_sent, ErrorCode error, SessionEffects& effects) {
  for (const Sent& lost : sent_) {
    if (lost.op == wire::OpCode::kCloseSession) continue;
    effects.happened.push_back(Completed{lost.token, of_sent, {lost.xid, Zxid{}, error}, {}});
  }
  for (const Queued& waiting : queued_) {
    const Sent& request = waiting.request;
    effects.happened.push_back(
        Completed{request.token, Outcome::kNotApplied, {request.xid, Zxid{}, error}, {}});
  }
  for (Auth& auth : auths_) {
    if (!auth.token) continue;
    effects.happened.push_back(Completed{*auth.token, Outcome::kNotApplied, {wire::kAuthXid, {}, error}, {}});
    auth.token.reset();
  }
  sent_.clear();
  queued_.clear();
  queued_bytes_ = 0;
}

void Session::finish(SessionState state, SessionEffects& effects) {
  if (phase_ != Phase::kIdle) effects.hang_up = true;
  phase_ = Phase::kOver;
  effects.send.clear();
  effects.dial.reset();
  effects.sasl.reset();
  enter(state, effects);
  const auto error = state == SessionState::kAuthFailed ? ErrorCode::kAuthFailed : ErrorCode::kSessionExpired;
  fail_all(Outcome::kUnknown, error, effects);
  watches_.clear();
}

void Session::fail_auth(std::string reason, SessionEffects& effects) {
  auth_failure_ = std::move(reason);
  finish(SessionState::kAuthFailed, effects);
}

// The reply to such a request proves that a quorum followed the leader after the request was sent.
bool Session::proves_quorum(wire::OpCode op) {
  switch (op) {
    case wire::OpCode::kCreate:
    case wire::OpCode::kCreate2:
    case wire::OpCode::kCreateContainer:
    case wire::OpCode::kCreateTtl:
    case wire::OpCode::kDelete:
    case wire::OpCode::kSetData:
    case wire::OpCode::kSetAcl:
    case wire::OpCode::kMulti:
    case wire::OpCode::kSync: return true;
    default: return false;
  }
}

void Session::set_holding(bool holding) {
  if (holding && !holding_ && answered_ && !answered_read_only_) note_proved(*answered_);
  holding_ = holding;
}

std::optional<Instant> Session::valid_until() const {
  const std::optional<Instant>& sign = holding_ ? proved_ : answered_;
  if (!sign || (!holding_ && answered_read_only_)) return std::nullopt;
  return *sign + timeout_ms_;
}

// When the session expires locally. If nothing is held, even a server that cannot prove the session is worth
// talking to.
std::optional<Instant> Session::expires_at() const {
  const std::optional<Instant>& sign = holding_ && proved_ ? proved_ : answered_;
  if (!sign) return std::nullopt;
  return *sign + timeout_ms_;
}

// A session that exists only on a read-only server owns nothing that could expire.
bool Session::is_past_expiry(Instant now) const {
  if (!options_.expire_locally || !seen_read_write_) return false;
  const auto until = expires_at();
  return until && now >= *until;
}

// A third of the timeout before it expires, so that there is time to try another server.
Instant Session::proof_deadline() const {
  return std::max(proved_.value_or(opened_), opened_) + read_timeout_ms();
}

void Session::on_time(Instant now, SessionEffects& effects) {
  if (phase_ == Phase::kOver || !started_) return;
  if (is_past_expiry(now)) return finish(SessionState::kExpired, effects);
  switch (phase_) {
    case Phase::kIdle:
      if (now >= next_dial_) dial(now, effects);
      return;
    case Phase::kDialling:
    case Phase::kHandshake:
      if (now >= connect_deadline_) hang_up(now, effects);
      return;
    case Phase::kLogin:
      if (now >= login_.deadline) hang_up(now, effects);
      return;
    case Phase::kOpen:
      if (now - last_heard_ >= read_timeout_ms()) return hang_up(now, effects);
      if (holding_ && now >= proof_deadline()) return hang_up(now, effects);
      if (leaving_by_ && now >= *leaving_by_) return hang_up(now, effects);
      if (now < next_ping()) return;
      return holding_ ? send_probe(now, effects) : send_ping(now, effects);
    case Phase::kOver: return;
  }
}

std::optional<Instant> Session::next_time() const {
  if (phase_ == Phase::kOver || !started_) return std::nullopt;
  Instant due = next_dial_;
  if (phase_ == Phase::kDialling || phase_ == Phase::kHandshake) due = connect_deadline_;
  if (phase_ == Phase::kLogin) due = login_.deadline;
  if (phase_ == Phase::kOpen) {
    due = std::min(last_heard_ + read_timeout_ms(), next_ping());
    if (holding_) due = std::min(due, proof_deadline());
    due = std::min(due, leaving_by_.value_or(due));
  }
  const auto until = expires_at();
  const bool may_expire = options_.expire_locally && seen_read_write_ && until;
  return may_expire ? std::min(due, *until) : due;
}

}  // namespace drover::client

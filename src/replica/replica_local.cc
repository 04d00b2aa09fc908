// SPDX-License-Identifier: Apache-2.0
//
// Sessions that only this server knows: no transaction creates or ends them, they expire here, and no other
// server accepts them. An ensemble has them if its configuration says so (localSessionsEnabled), to save two
// transactions per client. A server without a leader has no others.
//
// They own no ephemeral nodes. A session that wants one becomes global first, or is refused.
#include "base/ensure.h"
#include "replica/replica.h"
#include "wire/requests.h"

namespace drover::replica {

using wire::OpCode;

// --- without a leader ---

void Replica::begin_read_only() {
  ENSURE(service_ == Service::kNone, "a service ends before the next begins");
  service_ = Service::kReadOnly;
  for (Front* each : fronts_) each->set_serving(Serving::kReadOnly, {});
}

void Replica::read_only_front(FrontId front, ToReplica& batch, Instant now, Effects& effects) {
  for (const SessionTouch& touch : batch.touched) expiry_.touch(touch.session, touch.heard);
  for (const SessionRequest& request : batch.sessions) {
    if (raw(request.session) == 0) {
      create_local_session(front, request, now, effects);
    } else {
      reconnect_read_only(front, request, now, effects);
    }
  }
  for (const ClientWrite& write : batch.writes) {
    // The front has refused all others; any other write here is left over from a service that has ended.
    const auto found = sessions_.find(write.session);
    const bool closes = write.op == OpCode::kCloseSession && found != sessions_.end() &&
                        !found->second.closing && found->second.front == front &&
                        found->second.conn == write.conn;
    if (closes) await_local_close(front, write);
  }
}

// Nothing can be said here about a global session: it may live or have ended meanwhile. Its client must ask a
// server that knows, and keeps the session until then. A session that was created here and is unknown can
// only have ended.
void Replica::reconnect_read_only(FrontId front, const SessionRequest& request, Instant now,
                                  Effects& effects) {
  const auto found = sessions_.find(request.session);
  if (found != sessions_.end() && !found->second.closing)
    return move_session(found, front, request, now, effects);
  const bool ended = made_here(request.session) && !machine_.sessions.contains(request.session);
  ++stats_.reconnects_refused;
  effects.answers.push_back(
      {ended ? SessionAnswer::Kind::kNot : SessionAnswer::Kind::kDropped, front, request.conn, {}});
}

// --- their life ---

bool Replica::made_here(SessionId session) const {
  return (raw(session) >> 56) == (raw(config_.first_session) >> 56);
}

bool Replica::is_local(SessionId session) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.local;
}

void Replica::create_local_session(FrontId front, const SessionRequest& request, Instant now,
                                   Effects& effects) {
  if (!session_rate_.allow(request.address, now)) {
    ++stats_.sessions_throttled;
    effects.answers.push_back({SessionAnswer::Kind::kDropped, front, request.conn, {}});
    return;
  }
  const SessionId session = new_session_id();
  Session made{request.timeout_ms, false, front, request.conn, zab::kNoLink};
  made.local = true;
  sessions_.emplace(session, made);
  ++local_count_;
  expiry_.set(session, request.timeout_ms, now);
  ++stats_.sessions_created;
  effects.answers.push_back({SessionAnswer::Kind::kThere, front, request.conn, session});
}

// The client has connected again; the connection that it had before is no longer its own.
void Replica::move_session(SessionMap::iterator session, FrontId front, const SessionRequest& request,
                           Instant now, Effects& effects) {
  ++stats_.reconnects;
  Session& s = session->second;
  if (s.front) effects.answers.push_back({SessionAnswer::Kind::kDropped, *s.front, s.conn, {}});
  s.learner = zab::kNoLink;
  s.front = front;
  s.conn = request.conn;
  s.timeout_ms = request.timeout_ms;
  expiry_.set(request.session, request.timeout_ms, now);
  effects.answers.push_back({SessionAnswer::Kind::kThere, front, request.conn, request.session});
}

bool Replica::wants_ephemeral(OpCode op, std::string_view body) const {
  return wire::creates_ephemeral(op, body, machine_.options.multi_ops_max);
}

// From here on the leader expires the session. Its transaction is sent or proposed before anything else of
// it.
void Replica::make_global(Session& session) {
  ENSURE(session.local, "only a local session can become global");
  session.local = false;
  session.upgraded = true;
  --local_count_;
}

void Replica::forget_local(SessionId session) {
  if (!is_local(session)) return;
  ++stats_.sessions_closed;
  --local_count_;
  sessions_.erase(session);
  expiry_.remove(session);
}

void Replica::expire_local(SessionId session, Effects& effects) {
  const Session& s = sessions_.find(session)->second;
  if (s.front) effects.answers.push_back({SessionAnswer::Kind::kDropped, *s.front, s.conn, {}});
  forget_local(session);
}

void Replica::await_local_close(FrontId front, const ClientWrite& write) {
  sessions_.find(write.session)->second.closing = true;
  InFlight waiting = waiting_for(front, write, {});
  waiting.closes_local = true;
  await_own_answer(std::move(waiting));
}

}  // namespace drover::replica

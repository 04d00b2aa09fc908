// SPDX-License-Identifier: Apache-2.0
//
// Learning: requests that change something go to the leader, and are answered when their transactions come
// back. Session and xid of a transaction tell which request it belongs to.
#include "base/ensure.h"
#include "replica/replica.h"
#include "wire/requests.h"
#include "wire/txns.h"

namespace drover::replica {

using wire::OpCode;

void Replica::begin_learning(std::uint32_t epoch, Instant) {
  ENSURE(service_ == Service::kNone, "a service ends before the next begins");
  service_ = Service::kLearning;
  const Zxid floor = epoch_start(epoch);
  for (Front* each : fronts_) each->set_serving(Serving::kYes, floor);
}

void Replica::learn_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects) {
  for (const SessionTouch& touch : batch.touched) {
    const auto found = sessions_.find(touch.session);
    if (found == sessions_.end()) continue;
    if (found->second.local) {
      expiry_.touch(touch.session, touch.heard);
    } else {
      touched_.add(touch.session, found->second.timeout_ms);
    }
  }
  for (const SessionRequest& request : batch.sessions) ask_for_session(front, request, now, effects);
  const std::string_view bytes = batch.bytes;
  for (const ClientWrite& write : batch.writes) {
    submit(front, write, bytes.substr(write.offset, write.length), now, wall, effects);
  }
}

void Replica::forward(FrontId front, const ClientWrite& write, std::string_view body, Effects& effects) {
  const auto found = sessions_.find(write.session);
  const bool known = found != sessions_.end();
  // Once the leader is asked to revalidate the session for a new connection, it takes every request from here
  // as one of the new connection. The old connection's requests may be out of order then.
  const bool moved = revalidating_.contains(write.session) ||
                     (known && (found->second.front != front || found->second.conn != write.conn));
  // A leader with local sessions accepts requests of sessions that it does not know. An ended session must
  // not send any.
  const bool ended = config_.local_sessions && (!known || found->second.closing);
  if (moved || ended) {
    effects.answers.push_back({SessionAnswer::Kind::kDropped, front, write.conn, {}});
    return;
  }
  const bool local = known && found->second.local;
  if (local && write.op == OpCode::kCloseSession) return await_local_close(front, write);
  InFlight waiting = waiting_for(front, write, body);
  if (local && wants_ephemeral(write.op, body)) waiting.refusal = upgrade(found, effects);
  if (write.op == OpCode::kMulti)
    waiting.create2 = wire::create2_in_multi(body, machine_.options.multi_ops_max);
  if (write.op == OpCode::kSync) asked_syncs_.push_back(write.session);
  enter(awaiting_[write.session], std::move(waiting));
  effects.to_leader.push_back({.kind = ToLeader::Kind::kRequest,
                               .session = write.session,
                               .cxid = write.xid,
                               .op = write.op,
                               .body = std::string(body),
                               .who = write.who});
}

// Makes a local session global, ahead of the request that needs it. Or returns why it stays local: then the
// leader refuses the request because it does not know the session, and this server knows the better error.
ErrorCode Replica::upgrade(SessionMap::iterator session, Effects& effects) {
  if (!config_.local_sessions_upgrade) return ErrorCode::kEphemeralOnLocalSession;
  make_global(session->second);
  expiry_.remove(session->first);
  announce_session(session->first, session->second.timeout_ms, {}, effects);
  return ErrorCode::kOk;
}

void Replica::ask_for_session(FrontId front, const SessionRequest& request, Instant now, Effects& effects) {
  if (raw(request.session) != 0) {
    const auto found = sessions_.find(request.session);
    const bool local = found != sessions_.end() && found->second.local && !found->second.closing;
    if (local) return move_session(found, front, request, now, effects);
    revalidating_[request.session].push_back({front, request.conn, request.timeout_ms});
    effects.to_leader.push_back({.kind = ToLeader::Kind::kRevalidate,
                                 .session = request.session,
                                 .body = {},
                                 .who = nullptr,
                                 .timeout_ms = request.timeout_ms});
    return;
  }
  if (config_.local_sessions) return create_local_session(front, request, now, effects);
  // Each server limits its own clients: the leader does not see the client's address of a forwarded session.
  if (!session_rate_.allow(request.address, now)) {
    ++stats_.sessions_throttled;
    effects.answers.push_back({SessionAnswer::Kind::kDropped, front, request.conn, {}});
    return;
  }
  const SessionId session = new_session_id();
  sessions_.emplace(session, Session{request.timeout_ms, false, front, request.conn, zab::kNoLink});
  announce_session(session, request.timeout_ms, {.front = front, .conn = request.conn}, effects);
}

// Asks the leader to make the session global.
void Replica::announce_session(SessionId session, std::int32_t timeout_ms, InFlight waiting,
                               Effects& effects) {
  waiting.session = session;
  waiting.op = OpCode::kCreateSession;
  enter(awaiting_[session], std::move(waiting));
  std::string body;
  wire::Writer(body).i32(timeout_ms);
  effects.to_leader.push_back({.kind = ToLeader::Kind::kRequest,
                               .session = session,
                               .cxid = 0,
                               .op = OpCode::kCreateSession,
                               .body = std::move(body),
                               .who = nullptr});
}

void Replica::on_revalidated(const wire::Revalidated& answer, Effects& effects) {
  const auto found = revalidating_.find(answer.session);
  if (found == revalidating_.end() || found->second.empty()) return;
  // The leader answers in the order of the questions.
  const RevalidatingConn asking = found->second.front();
  found->second.erase(found->second.begin());
  if (found->second.empty()) revalidating_.erase(found);
  if (!answer.valid) {
    ++stats_.reconnects_refused;
    effects.answers.push_back({SessionAnswer::Kind::kNot, asking.front, asking.conn, {}});
    return;
  }
  ++stats_.reconnects;
  const auto [session, is_new] = sessions_.try_emplace(answer.session);
  if (!is_new && session->second.front)
    effects.answers.push_back(
        {SessionAnswer::Kind::kDropped, *session->second.front, session->second.conn, {}});
  session->second = Session{asking.timeout_ms, false, asking.front, asking.conn, zab::kNoLink};
  touched_.add(answer.session, asking.timeout_ms);
  effects.answers.push_back({SessionAnswer::Kind::kThere, asking.front, asking.conn, answer.session});
}

void Replica::take_touched(std::string& out, std::size_t bytes_max) { touched_.take(out, bytes_max); }

// --- answers ---

namespace {

// The xid alone does not tell which request a transaction belongs to. A session's connections at two servers
// may both use it, and the leader's own transactions have xid 0, which a client may use too.
bool may_answer(OpCode asked, OpCode type) {
  if (type == OpCode::kError) return true;
  return (asked == OpCode::kCloseSession) == (type == OpCode::kCloseSession) &&
         (asked == OpCode::kCreateSession) == (type == OpCode::kCreateSession);
}

}  // namespace

std::optional<Replica::InFlight> Replica::take_awaiting(SessionId session, std::int32_t xid) {
  const auto found = awaiting_.find(session);
  if (found == awaiting_.end() || found->second.front().xid != xid) return std::nullopt;
  const InFlight waiting = leave(found->second);
  if (found->second.empty()) {
    awaiting_.erase(found);
  } else if (found->second.front().own_answer) {
    own_answers_.push_back(session);
  }
  return waiting;
}

// Given when all earlier requests of the session are answered.
void Replica::await_own_answer(InFlight waiting) {
  const SessionId session = waiting.session;
  waiting.own_answer = true;
  auto& awaiting = awaiting_[session];
  enter(awaiting, std::move(waiting));
  if (awaiting.size() == 1) own_answers_.push_back(session);
}

void Replica::give_own_answers(Instant now) {
  while (!own_answers_.empty()) {
    const SessionId session = own_answers_.front();
    own_answers_.pop_front();
    const auto waiting = take_awaiting(session, awaiting_.find(session)->second.front().xid);
    if (waiting->closes_local) forget_local(session);
    refuse(*waiting, now);
  }
}

void Replica::answer_awaiting(const wire::TxnHeader& header, const state::ApplyResult& result, Instant now) {
  const auto awaited = awaiting_.find(header.session);
  const bool ours = awaited != awaiting_.end() && !awaited->second.front().own_answer &&
                    may_answer(awaited->second.front().op, result.type);
  const auto waiting = ours ? take_awaiting(header.session, header.cxid) : std::nullopt;
  if (result.type == OpCode::kCloseSession) {
    InFlight ending{.session = header.session, .op = OpCode::kCloseSession};
    if (waiting) ending = *waiting;
    end_session(ending);
    touched_.erase(header.session);
  }
  if (!waiting || !waiting->front) return;
  if (waiting->refusal != ErrorCode::kOk && result.type == OpCode::kError) {
    refuse(*waiting, now);
  } else {
    tell(*waiting, result, now);
  }
}

void Replica::on_sync_answered(Zxid committed) {
  if (asked_syncs_.empty()) return;
  answered_syncs_.push_back({committed, asked_syncs_.front()});
  asked_syncs_.pop_front();
}

void Replica::answer_synced(Instant now) {
  while (!answered_syncs_.empty() && answered_syncs_.front().after <= machine_.last_zxid) {
    const SessionId session = answered_syncs_.front().session;
    answered_syncs_.pop_front();
    const auto found = awaiting_.find(session);
    if (found == awaiting_.end() || found->second.front().op != OpCode::kSync) continue;
    const auto waiting = take_awaiting(session, found->second.front().xid);
    front(*waiting->front)
        .on_result(waiting->conn, {waiting->op, waiting->xid, nullptr, ErrorCode::kOk}, now);
  }
}

}  // namespace drover::replica

// SPDX-License-Identifier: Apache-2.0
#include "replica/replica.h"

#include <algorithm>

#include "base/ensure.h"
#include "replica/reply.h"
#include "wire/requests.h"
#include "wire/txns.h"

namespace drover::replica {
namespace {

using wire::OpCode;

const state::Identities kNobody;

// Whether a full disk forbids it. What shrinks the state must remain possible, or nobody could make room.
bool grows_state(OpCode op) {
  switch (op) {
    case OpCode::kDelete:
    case OpCode::kDeleteContainer:
    case OpCode::kCloseSession: return false;
    default: return true;
  }
}

}  // namespace

Replica::Replica(const ReplicaConfig& config, state::Machine& machine, std::vector<Front*> fronts,
                 Instant now)
    : config_(config),
      machine_(machine),
      fronts_(std::move(fronts)),
      pending_(machine.tree),
      expiry_(config.tick_ms),
      heard_until_(fronts_.size(), now),
      last_proposed_(machine.last_zxid),
      next_session_(raw(config.first_session)),
      next_reap_(now + config.container_check_ms),
      session_rate_(config.session_rate) {
  for (const auto& [session, timeout_ms] : machine_.sessions) {
    sessions_.emplace(session, Session{timeout_ms, false, std::nullopt, {}});
    expiry_.set(session, timeout_ms, now);
  }
}

void Replica::close_orphans(WallTime wall, Effects& effects) {
  std::vector<SessionId> orphans;
  for (const auto& [session, nodes] : machine_.tree.ephemerals()) {
    if (!machine_.sessions.contains(session)) orphans.push_back(session);
  }
  std::sort(orphans.begin(), orphans.end());
  for (const SessionId session : orphans) close_session(session, wall);
  hand_over(effects);
}

void Replica::on_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects) {
  for (const SessionTouch& touch : batch.touched) expiry_.touch(touch.session, touch.heard);
  Instant& heard = heard_until_[static_cast<std::size_t>(front)];
  heard = std::max(heard, batch.heard_until);
  for (const SessionRequest& request : batch.sessions) on_session_request(front, request, now, wall, effects);
  const std::string_view bytes = batch.bytes;
  for (const ClientWrite& write : batch.writes) {
    on_write(front, write, bytes.substr(write.offset, write.length), wall, effects);
  }
  hand_over(effects);
}

void Replica::on_write(FrontId front, const ClientWrite& write, std::string_view body, WallTime wall,
                       Effects& effects) {
  const auto found = sessions_.find(write.session);
  const bool known = found != sessions_.end() && !found->second.closing;
  if (known && (found->second.front != front || found->second.conn != write.conn)) {
    // The session has moved to another connection; whatever this one still says is not the client's word.
    effects.answers.push_back({SessionAnswer::Kind::kDropped, front, write.conn, {}});
    return;
  }
  if (const ErrorCode refusal = refusal_of(write.op, body); refusal != ErrorCode::kOk) {
    in_flight_.push_back({last_proposed_, write.session, write.xid, write.op, front, write.conn, refusal});
    return;
  }
  if (write.op == OpCode::kCloseSession && known) found->second.closing = true;
  propose({.session = write.session,
           .cxid = write.xid,
           .op = write.op,
           .body = body,
           .who = write.who.get(),
           .session_error = known ? ErrorCode::kOk : ErrorCode::kSessionExpired},
          {.zxid = {},
           .session = write.session,
           .xid = write.xid,
           .op = write.op,
           .front = front,
           .conn = write.conn,
           .refusal = ErrorCode::kOk},
          wall);
}

// What must not become a transaction at all.
ErrorCode Replica::refusal_of(OpCode op, std::string_view body) {
  if (disk_full_ && grows_state(op)) {
    ++stats_.writes_refused_disk_full;
    return ErrorCode::kSystemError;
  }
  // Java reads a reconfig before it takes a zxid for it, unlike every other write.
  if (op == OpCode::kReconfig && !wire::is_reconfig_request(body)) return ErrorCode::kMarshallingError;
  return ErrorCode::kOk;
}

void Replica::on_session_request(FrontId front, const SessionRequest& request, Instant now, WallTime wall,
                                 Effects& effects) {
  if (raw(request.session) != 0) {
    reconnect(front, request, now, effects);
  } else if (disk_full_ || !session_rate_.allow(request.address, now)) {
    ++stats_.sessions_throttled;
    effects.answers.push_back({SessionAnswer::Kind::kDropped, front, request.conn, {}});
  } else {
    create_session(front, request, now, wall);
  }
}

void Replica::create_session(FrontId front, const SessionRequest& request, Instant now, WallTime wall) {
  while (sessions_.contains(SessionId{next_session_}) || next_session_ == 0) ++next_session_;
  const SessionId session{next_session_++};
  sessions_.emplace(session, Session{request.timeout_ms, false, front, request.conn});
  expiry_.set(session, request.timeout_ms, now);
  ++stats_.sessions_created;

  std::string body;
  wire::Writer w(body);
  w.i32(request.timeout_ms);
  propose({.session = session, .cxid = 0, .op = OpCode::kCreateSession, .body = body, .who = &kNobody},
          {.zxid = {},
           .session = session,
           .xid = 0,
           .op = OpCode::kCreateSession,
           .front = front,
           .conn = request.conn,
           .refusal = ErrorCode::kOk},
          wall);
}

void Replica::reconnect(FrontId front, const SessionRequest& request, Instant now, Effects& effects) {
  const auto found = sessions_.find(request.session);
  // A session whose creation is not yet durable was never told to anybody, so nobody can ask for it.
  const bool alive =
      found != sessions_.end() && !found->second.closing && machine_.sessions.contains(request.session);
  if (!alive) {
    ++stats_.reconnects_refused;
    effects.answers.push_back({SessionAnswer::Kind::kNot, front, request.conn, {}});
    return;
  }
  ++stats_.reconnects;
  Session& session = found->second;
  if (session.front)
    effects.answers.push_back({SessionAnswer::Kind::kDropped, *session.front, session.conn, {}});
  session.front = front;
  session.conn = request.conn;
  session.timeout_ms = request.timeout_ms;
  expiry_.set(request.session, request.timeout_ms, now);
  effects.answers.push_back({SessionAnswer::Kind::kThere, front, request.conn, request.session});
}

void Replica::close_session(SessionId session, WallTime wall) {
  if (const auto found = sessions_.find(session); found != sessions_.end()) found->second.closing = true;
  propose({.session = session, .cxid = 0, .op = OpCode::kCloseSession, .body = {}, .who = &kNobody},
          {.zxid = {},
           .session = session,
           .xid = 0,
           .op = OpCode::kCloseSession,
           .front = std::nullopt,
           .conn = {},
           .refusal = ErrorCode::kOk},
          wall);
}

void Replica::on_tick(Instant now, WallTime wall, Effects& effects) {
  // A front that is late with its touches delays expiry; it must never cause it.
  const Instant horizon = *std::min_element(heard_until_.begin(), heard_until_.end());
  for (const SessionId session : expiry_.expired(std::min(horizon, now))) {
    ++stats_.sessions_expired;
    close_session(session, wall);
  }
  if (now >= next_reap_) {
    next_reap_ = now + config_.container_check_ms;
    reap(wall);
  }
  hand_over(effects);
}

void Replica::reap(WallTime wall) {
  const state::Tree& tree = machine_.tree;
  std::vector<std::string> candidates;
  const auto most = static_cast<std::size_t>(
      std::max<std::int64_t>(1, config_.container_max_per_minute * config_.container_check_ms / 60'000));
  const auto consider = [&](state::NodeRef ref, bool due) {
    if (!due || tree.at(ref).child_count > 0 || candidates.size() >= most) return;
    // A change in flight may have made the node young, or another one; then it is looked at next time.
    std::string path = tree.path_of(ref);
    const auto soon = pending_.find(path);
    if (soon && soon->stat == state::persisted_stat(tree.at(ref))) candidates.push_back(std::move(path));
  };
  for (const state::NodeRef ref : tree.containers()) {
    const state::Node& node = tree.at(ref);
    const bool unused_too_long =
        config_.container_never_used_ms > 0 && wall.ms - node.mtime > config_.container_never_used_ms;
    consider(ref, node.cversion > 0 || unused_too_long);
  }
  for (const state::NodeRef ref : tree.ttl_nodes()) {
    const state::Node& node = tree.at(ref);
    consider(ref, wall.ms - node.mtime > state::ttl_of_owner(node.ephemeral_owner));
  }
  std::string body;
  for (const std::string& path : candidates) {
    ++stats_.containers_deleted;
    body.clear();
    wire::Writer w(body);
    w.string(path);
    propose({.session = {}, .cxid = 0, .op = OpCode::kDeleteContainer, .body = body, .who = &kNobody},
            {.zxid = {},
             .session = {},
             .xid = 0,
             .op = OpCode::kDeleteContainer,
             .front = std::nullopt,
             .conn = {},
             .refusal = ErrorCode::kOk},
            wall);
  }
}

void Replica::propose(const state::WriteRequest& request, const InFlight& waiting, WallTime wall) {
  if (!gathering_) gathering_ = std::make_shared<LogAppend>();
  last_proposed_ = next(last_proposed_);
  if (gathering_->ends.empty()) gathering_->first = last_proposed_;
  state::prepare(machine_, pending_, request, last_proposed_, wall, gathering_->bytes);
  gathering_->ends.push_back(static_cast<std::uint32_t>(gathering_->bytes.size()));
  gathering_->last = last_proposed_;
  in_flight_.push_back(waiting);
  in_flight_.back().zxid = last_proposed_;
}

void Replica::hand_over(Effects& effects) {
  if (!gathering_) return;
  ENSURE(!effects.append, "one input hands over one batch");
  effects.append = gathering_;
  unapplied_.push_back({std::move(gathering_), 0});
  gathering_.reset();
}

void Replica::on_durable(Zxid last, Instant now) {
  ENSURE(last <= last_proposed_, "only what was proposed becomes durable");
  while (!unapplied_.empty() && machine_.last_zxid < last) {
    Unapplied& batch = unapplied_.front();
    const LogAppend& log = *batch.log;
    while (batch.next < log.ends.size() && machine_.last_zxid < last) {
      const std::uint32_t start = batch.next == 0 ? 0 : log.ends[batch.next - 1];
      apply_next(std::string_view(log.bytes).substr(start, log.ends[batch.next] - start), now);
      ++batch.next;
    }
    if (batch.next == log.ends.size()) unapplied_.pop_front();
  }
  answer_refused(now);
}

void Replica::apply_next(std::string_view entry, Instant now) {
  const auto txn = wire::decode_entry(entry);
  ENSURE(txn.has_value(), "what prepare wrote can be read");
  answer_refused(now);
  ENSURE(!in_flight_.empty() && in_flight_.front().zxid == txn->header.zxid,
         "transactions are applied in order");
  events_.clear();
  const state::ApplyResult result = state::apply(machine_, *txn, events_);
  pending_.applied(txn->header.zxid);
  ENSURE(!txn->digest || txn->digest->tree_digest == machine_.tree.digest(),
         "the tree is as prepare foresaw it");
  const InFlight waiting = in_flight_.front();
  in_flight_.pop_front();
  // Events first, to everybody: no reply may show the change to somebody who was not told.
  for (Front* each : fronts_) each->on_events(events_, txn->header.zxid);
  if (waiting.op == OpCode::kCloseSession && result.type == OpCode::kCloseSession) end_session(waiting);
  if (waiting.front) tell(waiting, result, now);
}

void Replica::end_session(const InFlight& waiting) {
  ++stats_.sessions_closed;
  const auto found = sessions_.find(waiting.session);
  // Expired by us: the connection that still holds the session ends with it.
  if (!waiting.front && found != sessions_.end() && found->second.front) {
    const FrontId where = *found->second.front;
    front(where).on_session_answer({SessionAnswer::Kind::kDropped, where, found->second.conn, {}});
  }
  sessions_.erase(waiting.session);
  expiry_.remove(waiting.session);
}

void Replica::tell(const InFlight& waiting, const state::ApplyResult& result, Instant now) {
  const FrontId where = *waiting.front;
  if (waiting.op == OpCode::kCreateSession) {
    front(where).on_session_answer({SessionAnswer::Kind::kThere, where, waiting.conn, waiting.session});
  } else {
    front(where).on_result(waiting.conn, {waiting.op, waiting.xid, &result, ErrorCode::kOk}, now);
  }
}

// Refused writes keep their place among the connection's others, so that replies stay in order.
void Replica::answer_refused(Instant now) {
  while (!in_flight_.empty() && in_flight_.front().refusal != ErrorCode::kOk &&
         in_flight_.front().zxid <= machine_.last_zxid) {
    const InFlight waiting = in_flight_.front();
    in_flight_.pop_front();
    front(*waiting.front).on_result(waiting.conn, {waiting.op, waiting.xid, nullptr, waiting.refusal}, now);
  }
}

}  // namespace drover::replica

// SPDX-License-Identifier: Apache-2.0
//
// Leading: turns requests into transactions and expires sessions.
#include <algorithm>
#include <span>

#include "base/ensure.h"
#include "replica/replica.h"
#include "wire/requests.h"
#include "wire/txns.h"

namespace drover::replica {
namespace {

using wire::OpCode;

const state::Identities kNobody;

// True if a full disk forbids the request. Requests that shrink the state must remain possible, or nothing
// could make room.
bool grows_state(OpCode op) {
  switch (op) {
    case OpCode::kDelete:
    case OpCode::kDeleteContainer:
    case OpCode::kCloseSession: return false;
    default: return true;
  }
}

}  // namespace

// --- beginning and end of leading ---

void Replica::track_sessions(Instant now) {
  sessions_.clear();
  expiry_ = Expiry(config_.tick_ms);
  for (const auto& [session, timeout_ms] : machine_.sessions) {
    sessions_.emplace(session, Session{timeout_ms, false, std::nullopt, {}, zab::kNoLink});
    expiry_.set(session, timeout_ms, now);
  }
}

// Every session gets a full timeout: no server tracked them while there was no leader.
void Replica::begin_leading(Zxid last, Instant now, WallTime wall, Effects& effects) {
  ENSURE(service_ == Service::kNone, "a service ends before the next begins");
  service_ = Service::kLeading;
  last_proposed_ = last;
  reconfig_prepared_ = {};
  exhausted_ = false;
  released_syncs_ = 0;
  const std::uint64_t ever_pending = pending_->counts().queued;  // Changes still pending are forgotten.
  pending_ =
      std::make_unique<state::PendingChanges>(machine_.tree, state::ChangeCounts{ever_pending, ever_pending});
  next_reap_ = now + config_.container_check_ms;
  reap_paced_ = now;
  track_sessions(now);
  const auto serving = config_.leader_serves ? Serving::kYes : Serving::kNo;
  for (Front* each : fronts_) each->set_serving(serving, last_proposed_);
  close_orphans(wall, effects);
}

void Replica::end_service() {
  service_ = Service::kNone;
  exhausted_ = false;  // The next epoch begins anew, and may be led by this server too.
  for (Front* each : fronts_) each->set_serving(Serving::kNo, {});
  in_flight_.clear();
  throttled_.clear();
  working_ = 0;
  gathering_.reset();
  sessions_.clear();
  local_count_ = 0;
  ended_.clear();
  expiry_ = Expiry(config_.tick_ms);
  awaiting_.clear();
  asked_syncs_.clear();
  answered_syncs_.clear();
  revalidating_.clear();
  touched_.clear();
  own_answers_.clear();
}

// Closes sessions that own ephemerals but do not exist: left behind by a crash.
void Replica::close_orphans(WallTime wall, Effects& effects) {
  std::vector<SessionId> orphans;
  for (const auto& [session, nodes] : machine_.tree.ephemerals()) {
    if (!machine_.sessions.contains(session)) orphans.push_back(session);
  }
  std::sort(orphans.begin(), orphans.end());
  for (const SessionId session : orphans) close_session(session, wall);
  hand_over(effects);
}

Replica::InFlight Replica::waiting_for(FrontId front, const ClientWrite& write, std::string_view body) const {
  return {.zxid = last_in_flight(),
          .session = write.session,
          .xid = write.xid,
          .op = write.op,
          .front = front,
          .conn = write.conn,
          .audit = audit_ ? audit_note(write, body, machine_.options) : nullptr};
}

void Replica::on_write(FrontId front, const ClientWrite& write, std::string_view body, WallTime wall,
                       Effects& effects) {
  const auto found = sessions_.find(write.session);
  const bool known = found != sessions_.end() && !found->second.closing;
  InFlight waiting = waiting_for(front, write, body);
  if (write.op == OpCode::kSync) {
    // Everything before it is proposed before it, and everything after it later.
    hand_over(effects);
    effects.ordered.push_back({nullptr});
    enter(in_flight_, std::move(waiting));
    return;
  }
  if (known && (found->second.front != front || found->second.conn != write.conn)) {
    // The session has moved to another connection; this one no longer speaks for the client.
    effects.answers.push_back({SessionAnswer::Kind::kDropped, front, write.conn, {}});
    return;
  }
  waiting.refusal = refusal_of(write.op);
  waiting.closes_local = known && found->second.local && write.op == OpCode::kCloseSession;
  if (write.op == OpCode::kCloseSession && known) found->second.closing = true;
  if (waiting.refusal != ErrorCode::kOk || waiting.closes_local) {
    enter(in_flight_, std::move(waiting));
    return;
  }
  const SessionVerdict verdict = judge_own(known ? found : sessions_.end(), write, body, wall);
  if (write.op == OpCode::kMulti)
    waiting.create2 = wire::create2_in_multi(body, machine_.options.multi_ops_max);
  propose({.session = write.session,
           .cxid = write.xid,
           .op = write.op,
           .body = body,
           .who = write.who.get(),
           .session_error = verdict.error,
           .ephemeral_error = verdict.ephemeral_error},
          waiting, wall);
}

// For a session with a connection here. A local session that wants an ephemeral node becomes global first, or
// is refused.
Replica::SessionVerdict Replica::judge_own(SessionMap::iterator found, const ClientWrite& write,
                                           std::string_view body, WallTime wall) {
  if (found == sessions_.end()) return {ErrorCode::kSessionExpired, ErrorCode::kSessionExpired};
  if (!found->second.local) return {};
  if (!config_.local_sessions_upgrade) return {ErrorCode::kOk, ErrorCode::kEphemeralOnLocalSession};
  if (!wants_ephemeral(write.op, body)) return {};
  make_global(found->second);
  propose_session(write.session, found->second.timeout_ms, {}, wall);
  return {};
}

// Why a request must not become a transaction at all.
ErrorCode Replica::refusal_of(OpCode op) {
  if (disk_full_ && grows_state(op)) {
    ++stats_.writes_refused_disk_full;
    return ErrorCode::kSystemError;
  }
  return ErrorCode::kOk;
}

void Replica::on_session_request(FrontId front, const SessionRequest& request, Instant now, WallTime wall,
                                 Effects& effects) {
  if (raw(request.session) != 0) {
    reconnect(front, request, now, effects);
  } else if (config_.local_sessions) {
    create_local_session(front, request, now, effects);
  } else if (disk_full_ || !session_rate_.allow(request.address, now)) {
    ++stats_.sessions_throttled;
    effects.answers.push_back({SessionAnswer::Kind::kDropped, front, request.conn, {}});
  } else {
    create_session(front, request, now, wall);
  }
}

SessionId Replica::new_session_id() {
  while (sessions_.contains(SessionId{next_session_}) ||
         machine_.sessions.contains(SessionId{next_session_}) || next_session_ == 0) {
    ++next_session_;
  }
  return SessionId{next_session_++};
}

void Replica::create_session(FrontId front, const SessionRequest& request, Instant now, WallTime wall) {
  const SessionId session = new_session_id();
  sessions_.emplace(session, Session{request.timeout_ms, false, front, request.conn, zab::kNoLink});
  expiry_.set(session, request.timeout_ms, now);
  ++stats_.sessions_created;
  propose_session(session, request.timeout_ms, {.front = front, .conn = request.conn}, wall);
}

void Replica::propose_session(SessionId session, std::int32_t timeout_ms, InFlight waiting, WallTime wall) {
  std::string body;
  wire::Writer(body).i32(timeout_ms);
  waiting.session = session;
  waiting.op = OpCode::kCreateSession;
  propose({.session = session, .cxid = 0, .op = OpCode::kCreateSession, .body = body, .who = &kNobody},
          waiting, wall);
}

void Replica::reconnect(FrontId front, const SessionRequest& request, Instant now, Effects& effects) {
  const auto found = sessions_.find(request.session);
  // A session whose creation is not yet durable was never told to a client, so no client can ask for it.
  const bool told = found != sessions_.end() && (found->second.local || found->second.upgraded ||
                                                 machine_.sessions.contains(request.session));
  if (!told || found->second.closing) {
    ++stats_.reconnects_refused;
    effects.answers.push_back({SessionAnswer::Kind::kNot, front, request.conn, {}});
    return;
  }
  move_session(found, front, request, now, effects);
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
  note_clocks(now, wall);
  if (service_ == Service::kNone) return;
  look_for_stale_ = !throttled_.empty();
  // A front that reports its touches late delays expiry; it must never cause it.
  const Instant horizon = *std::min_element(heard_until_.begin(), heard_until_.end());
  for (const SessionId session : expiry_.expired(std::min(horizon, now))) {
    ++stats_.sessions_expired;
    if (is_local(session)) {
      expire_local(session, effects);
    } else {
      close_session(session, wall);
    }
  }
  if (service_ != Service::kLeading) return;
  pace_reaping(now, wall);
  hand_over(effects);
}

// Like Java's ContainerManager: each check finds all nodes whose time is over, and they are deleted at the
// rate of container_max_per_minute. Nodes that do not fit into this tick are deleted in the next ones, not at
// the next check.
void Replica::pace_reaping(Instant now, WallTime wall) {
  constexpr std::int64_t kCostOfOne = 60'000;  // in milliseconds times nodes per minute
  // Unused credit is lost, except for one node: no credit adds up to a burst.
  const std::int64_t elapsed_ms = now - std::exchange(reap_paced_, now);
  reap_credit_ = std::min(reap_credit_, kCostOfOne) + elapsed_ms * config_.container_max_per_minute;
  if (now >= next_reap_) {
    next_reap_ = now + config_.container_check_ms;
    reaping_ = true;
  }
  const auto most = static_cast<std::size_t>(reap_credit_ / kCostOfOne);
  if (!reaping_ || most == 0) return;
  const std::size_t deleted = reap(most, wall);
  reap_credit_ -= static_cast<std::int64_t>(deleted) * kCostOfOne;
  reaping_ = deleted == most;  // Then there may be more.
}

std::size_t Replica::reap(std::size_t most, WallTime wall) {
  const state::Tree& tree = machine_.tree;
  std::vector<std::string> candidates;
  const auto consider = [&](state::NodeRef ref, bool due) {
    if (!due || tree.at(ref).child_count > 0 || candidates.size() >= most) return;
    // A change in flight may have made the node young, or replaced it; then it is checked next time.
    std::string path = tree.path_of(ref);
    const auto soon = pending_->find(path);
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
  return candidates.size();
}

// Gives `write` the next zxid and the batch to append the transaction to. If it returns false, there is none.
template <class Write>
void Replica::append_txn(InFlight waiting, Write write) {
  if (config_.last_counter && counter_of(last_proposed_) >= *config_.last_counter) {
    // The leader steps down when everything so far is committed. The client gets no answer, and asks again.
    exhausted_ = true;
    return;
  }
  if (!gathering_) gathering_ = std::make_shared<TxnBatch>();
  const std::size_t start = gathering_->bytes.size();
  const Zxid zxid = next(last_proposed_);
  if (!write(zxid, gathering_->bytes)) return refuse_undecodable(start, waiting);
  // A logged transaction is sent to every follower, forever.
  ENSURE(gathering_->bytes.size() - start <= machine_.options.txn_bytes_max,
         "every follower can read every transaction");
  last_proposed_ = zxid;
  if (gathering_->ends.empty()) gathering_->first = last_proposed_;
  gathering_->ends.push_back(gathering_->bytes.size());
  gathering_->last = last_proposed_;
  waiting.zxid = last_proposed_;
  enter(in_flight_, std::move(waiting));
}

void Replica::propose(const state::WriteRequest& request, const InFlight& waiting, WallTime wall) {
  state::Prepared prepared;
  append_txn(waiting, [&](Zxid zxid, std::string& out) {
    state::WriteRequest ruled = request;
    if (reconfig_) ruled.reconfig = &reconfig_;
    prepared = state::prepare(machine_, *pending_, ruled, zxid, wall, out);
    if (request.op == OpCode::kReconfig && prepared.error == ErrorCode::kOk) reconfig_prepared_ = zxid;
    // A learner waits for a transaction, whatever it says.
    return !prepared.undecodable || !waiting.front;
  });
  if (prepared.too_large) ++stats_.txns_too_large;
  // Right behind it, so that no request can create a node of such a name in between.
  std::span<const std::string> left(prepared.unlisted);
  while (const std::size_t n = state::count_for_sweep(left, machine_.options)) {
    append_txn({.op = OpCode::kMulti}, [&](Zxid zxid, std::string& out) {
      state::prepare_sweep(machine_, *pending_, left.first(n), zxid, wall, out);
      return true;
    });
    left = left.subspan(n);
  }
}

// Removes the entry that begins at `start`: the request is answered in its turn, but takes no zxid.
void Replica::refuse_undecodable(std::size_t start, const InFlight& waiting) {
  gathering_->bytes.resize(start);
  if (gathering_->ends.empty()) gathering_.reset();
  InFlight refused = waiting;
  refused.zxid = last_in_flight();
  refused.refusal = ErrorCode::kMarshallingError;
  enter(in_flight_, std::move(refused));
}

void Replica::hand_over(Effects& effects) {
  if (!gathering_) return;
  effects.ordered.push_back({std::move(gathering_)});  // returns by add_unapplied() once it is proposed
  gathering_.reset();
}

// --- for learners ---

// Which server may speak for the session? The last one that created or revalidated it; after an election the
// first one that does so, because no server remembers. With local sessions, an unknown one may be the
// learner's own.
Replica::SessionVerdict Replica::check_owner(zab::LinkId learner, SessionId session) {
  constexpr SessionVerdict kEnded{ErrorCode::kSessionExpired, ErrorCode::kSessionExpired};
  constexpr SessionVerdict kMoved{ErrorCode::kSessionMoved, ErrorCode::kSessionMoved};
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    const bool may_be_theirs = config_.local_sessions && !made_here(session) && !ended_.contains(session);
    return may_be_theirs ? SessionVerdict{ErrorCode::kOk, ErrorCode::kSessionExpired} : kEnded;
  }
  Session& s = found->second;
  if (s.closing) return kEnded;
  if (!s.front && s.learner == zab::kNoLink) s.learner = learner;
  return s.learner == learner ? SessionVerdict{} : kMoved;
}

// A learner's new session, or a local one that becomes global.
ErrorCode Replica::track_learners(zab::LinkId learner, const wire::TouchedSession& created, Instant now) {
  Session& session = sessions_[created.session];
  // If a session began again behind its own end, no server would expire it.
  if (session.closing) return ErrorCode::kSessionExpired;
  if (session.local) --local_count_;
  session = Session{created.timeout_ms, false, std::nullopt, {}, learner};
  expiry_.set(created.session, created.timeout_ms, now);
  ++stats_.sessions_created;
  return ErrorCode::kOk;
}

void Replica::on_forwarded(zab::LinkId learner, const wire::ForwardedRequest& request,
                           const state::IdentitiesPtr& who, Instant now, WallTime wall, Effects& effects) {
  if (service_ != Service::kLeading) return;
  const bool creates = request.op == OpCode::kCreateSession;
  if (!creates && !state::is_write(request.op)) return;  // Nothing to decide; the learner knows better.
  ++stats_.forwarded;
  SessionVerdict verdict;
  if (creates) {
    wire::Reader r(request.body);
    const std::int32_t timeout_ms = r.i32();
    if (!r.ok()) return;
    verdict.error = track_learners(learner, {request.session, timeout_ms}, now);
  } else {
    verdict = check_owner(learner, request.session);
    const auto found = sessions_.find(request.session);
    // Carried out for any server, even one that the session has left, as in Java: its client wanted it to
    // end. From here on nothing of the session may pass, or it would create ephemerals that are never
    // removed.
    if (request.op == OpCode::kCloseSession && found != sessions_.end()) found->second.closing = true;
    // The learner waits for a transaction, so a refusal must become one.
    if (verdict.error == ErrorCode::kOk) verdict.error = refusal_of(request.op);
    if (verdict.ephemeral_error == ErrorCode::kOk) verdict.ephemeral_error = verdict.error;
  }
  propose({.session = request.session,
           .cxid = request.cxid,
           .op = request.op,
           .body = request.body,
           .who = who ? who.get() : &kNobody,
           .session_error = verdict.error,
           .ephemeral_error = verdict.ephemeral_error},
          {.session = request.session, .xid = request.cxid, .op = request.op}, wall);
  hand_over(effects);
}

bool Replica::revalidate(zab::LinkId learner, const wire::TouchedSession& asked, Instant now,
                         Effects& effects) {
  const auto found = sessions_.find(asked.session);
  const bool alive = found != sessions_.end() && !found->second.closing && !found->second.local;
  ++(alive ? stats_.reconnects : stats_.reconnects_refused);
  ++stats_.revalidations;
  if (!alive) return false;
  Session& session = found->second;
  // The client is at the learner now, whichever server held its connection before.
  if (session.front) {
    effects.answers.push_back({SessionAnswer::Kind::kDropped, *session.front, session.conn, {}});
    session.front.reset();
  }
  session.learner = learner;
  renew(found, asked.timeout_ms, now);
  return true;
}

void Replica::touch_through(zab::LinkId learner, SessionId session, Instant now) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && found->second.learner == learner) expiry_.touch(session, now);
}

void Replica::touch(zab::LinkId learner, const wire::TouchedSession& touched, Instant now) {
  const auto found = sessions_.find(touched.session);
  if (found == sessions_.end() || found->second.closing || found->second.local) return;
  // Only the server that holds the connection knows the timeout that was agreed with the client. Any other
  // server speaks of a connection that the client has left.
  const Session& session = found->second;
  const bool holds = !session.front && (session.learner == learner || session.learner == zab::kNoLink);
  if (holds) {
    renew(found, touched.timeout_ms, now);
  } else {
    expiry_.touch(touched.session, now);
  }
}

// The client and its server agreed on the timeout when it last connected, as in Java.
void Replica::renew(SessionMap::iterator session, std::int32_t timeout_ms, Instant now) {
  if (timeout_ms > 0) session->second.timeout_ms = timeout_ms;
  expiry_.set(session->first, session->second.timeout_ms, now);
}

void Replica::set_sync_ticket(std::uint64_t ticket) {
  for (InFlight& waiting : in_flight_) {
    if (waiting.op != OpCode::kSync || waiting.ticket != 0) continue;
    waiting.ticket = ticket;
    return;
  }
}

}  // namespace drover::replica

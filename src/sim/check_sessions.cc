// SPDX-License-Identifier: Apache-2.0
#include "sim/check_sessions.h"

#include <algorithm>
#include <optional>

namespace drover::sim {

using wire::OpCode;

namespace {

bool changes_nothing(const wire::TxnEntry& txn) {
  if (std::holds_alternative<wire::ErrorTxn>(txn.record)) return true;
  const auto* multi = std::get_if<wire::MultiTxn>(&txn.record);
  if (!multi) return false;
  return std::any_of(multi->txns.begin(), multi->txns.end(),
                     [](const wire::SubTxn& sub) { return sub.type == OpCode::kError; });
}

}  // namespace

void CheckSessions::before(const wire::TxnEntry& txn, Instant now) {
  const wire::TxnHeader& header = txn.header;
  if (const auto* created = std::get_if<wire::CreateSessionTxn>(&txn.record))
    return create(txn, created->timeout_ms);
  if (std::holds_alternative<wire::CloseSessionTxn>(txn.record)) return close(txn, now);
  if (const auto* multi = std::get_if<wire::MultiTxn>(&txn.record); multi && raw(header.session) == 0)
    return check_sweep(header.zxid, *multi);
  if (raw(header.session) == 0 || changes_nothing(txn)) return;
  if (is_live(header.session) || may_be_local(header.session)) return;
  const Zxid ended = closed_at(header.session);
  if (raw(ended) != 0) {
    failures_.add("I8: ", header.zxid, " of session ", header.session, ", which was closed at ", ended);
  } else {
    failures_.add("I8: ", header.zxid, " of session ", header.session, ", which was never created");
  }
}

// It names nodes again that the end of a session has already deleted.
void CheckSessions::check_sweep(Zxid zxid, const wire::MultiTxn& sweep) {
  for (const wire::SubTxn& sub : sweep.txns) {
    wire::Reader r(sub.record);
    const auto record = wire::decode_txn_record(r, sub.type, /*in_multi=*/true);
    const auto* removed = record ? std::get_if<wire::DeleteTxn>(&*record) : nullptr;
    if (!removed) {
      failures_.add("I8: ", zxid, " is nobody's, and does more than delete");
    } else if (model_.machine().tree.get(removed->path)) {
      failures_.add("I8: ", zxid, " deletes ", removed->path, ", which is there, for a session that is over");
    }
  }
}

void CheckSessions::create(const wire::TxnEntry& txn, std::int32_t timeout_ms) {
  Session& session = sessions_[txn.header.session];
  if (raw(session.created) != 0) {
    failures_.add("I8: session ", txn.header.session, " is created at ", txn.header.zxid, " and was at ",
                  session.created);
  }
  session.created = txn.header.zxid;
  session.closed = Zxid{};
  session.timeout_ms = timeout_ms;
  if (const auto told = local_timeouts_ms_.find(txn.header.session); told != local_timeouts_ms_.end())
    session.timeout_ms = std::min(timeout_ms, told->second);
}

// A second close of one session changes nothing: two leaders may both have decided it.
void CheckSessions::close(const wire::TxnEntry& txn, Instant now) {
  Session& session = sessions_[txn.header.session];
  if (!is_live(txn.header.session)) return;
  session.closed = txn.header.zxid;
  const bool expired = txn.header.cxid == 0;
  if (expired) check_not_too_early(txn.header.session, session, txn.header.zxid, now);
}

// Counts only what the same leader is certain to have heard before it decided.
void CheckSessions::check_not_too_early(SessionId id, const Session& session, Zxid closed, Instant now) {
  const std::uint32_t epoch = epoch_of(closed);
  const CheckOrder::Reign* reign = order_.reign(epoch);
  std::optional<Instant> heard;
  const auto consider = [&](bool certain, Instant when) {
    if (certain) heard = std::max(heard.value_or(when), when);
  };
  // A standalone server recovers what it logged before a crash; only later transactions are of this life.
  if (reign) consider(closed > reign->last, reign->since);
  consider(session.told && epoch_of(session.created) == epoch, session.created_after);
  consider(raw(session.heard_at) != 0 && epoch_of(session.heard_at) == epoch, session.heard_after);
  if (!heard) return;
  const std::int64_t least_ms = std::int64_t{session.timeout_ms} * (100 - clock_drift_percent_) / 100;
  if (now - *heard < least_ms) {
    failures_.add("I8: session ", id, " expired at ", closed, " after ", now - *heard,
                  " ms, with a timeout of ", session.timeout_ms, " ms");
  }
}

void CheckSessions::after(const wire::TxnEntry& txn) {
  const SessionId session = txn.header.session;
  if (std::holds_alternative<wire::CloseSessionTxn>(txn.record)) {
    if (model_.machine().tree.ephemerals_of(session))
      failures_.add("I8: ephemerals of session ", session, " outlive its end at ", txn.header.zxid);
    return;
  }
  // Nodes of earlier transactions are gone with their session; so only a new one can be an orphan.
  const bool orphan = model_.machine().tree.ephemerals_of(session) && !is_live(session);
  if (orphan)
    failures_.add("I8: ", txn.header.zxid, " leaves an ephemeral of session ", session, ", which is over");
}

bool CheckSessions::may_be_local(SessionId session) const {
  const auto found = sessions_.find(session);
  return local_ && (found == sessions_.end() || raw(found->second.created) == 0);
}

void CheckSessions::on_session(SessionId id, std::int32_t timeout_ms, Instant asked) {
  if (may_be_local(id)) {
    const auto told = local_timeouts_ms_.try_emplace(id, timeout_ms).first;
    told->second = std::min(told->second, timeout_ms);
    return;
  }
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || raw(found->second.created) == 0) {
    return failures_.add("I8: a client has session ", id, ", which was never created");
  }
  Session& session = found->second;
  session.timeout_ms = std::min(session.timeout_ms, timeout_ms);
  if (session.told) return;
  session.told = true;
  session.created_after = asked;
}

void CheckSessions::on_write(SessionId id, Zxid zxid, ServerId server, Instant asked) {
  const CheckOrder::Reign* reign = order_.reign(epoch_of(zxid));
  if (!reign || reign->server != server || may_be_local(id)) return;
  Session& session = sessions_[id];
  if (session.heard_at >= zxid) return;
  session.heard_at = zxid;
  session.heard_after = asked;
}

void CheckSessions::on_closed(SessionId id) {
  if (may_be_local(id)) return;
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || raw(found->second.closed) == 0)
    failures_.add("I8: a client was told that session ", id, " is closed, and it is not");
}

Zxid CheckSessions::closed_at(SessionId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? Zxid{} : found->second.closed;
}

void CheckSessions::on_drained(ServerId server, const state::Machine& machine) {
  if (!machine.sessions.empty())
    failures_.add("I13: server ", server, " has ", machine.sessions.size(),
                  " sessions, but all clients are gone");
  if (machine.tree.ephemeral_count() != 0)
    failures_.add("I13: server ", server, " has ", machine.tree.ephemeral_count(),
                  " ephemerals, but all clients are gone");
}

}  // namespace drover::sim

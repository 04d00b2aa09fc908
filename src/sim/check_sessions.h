// SPDX-License-Identifier: Apache-2.0
//
// The life of sessions: created once, silent after the end, and not expired too early (I8).
//
// When a leader last heard from a session is mostly unknown to an observer: touches travel with pings and may
// get lost with a follower. Three moments are certain, and each gives the session a full timeout: its
// creation, the start of a leader's epoch, and a write that the leader received on its own connection.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "base/time.h"
#include "sim/check_order.h"
#include "sim/oracle_failures.h"
#include "sim/oracle_model.h"
#include "wire/txns.h"

namespace drover::sim {

class CheckSessions {
 public:
  CheckSessions(Failures& failures, const Model& model, const CheckOrder& order,
                std::int64_t clock_drift_percent)
      : failures_(failures), model_(model), order_(order), clock_drift_percent_(clock_drift_percent) {}

  // Call before and after the model applies it.
  void before(const wire::TxnEntry& txn, Instant now);
  void after(const wire::TxnEntry& txn);

  // A client has the session: it asked at `asked`, and this server accepted it.
  void on_session(SessionId session, std::int32_t timeout_ms, Instant asked);
  // A write of the session was committed as `zxid`; the client had asked this server at `asked`.
  void on_write(SessionId session, Zxid zxid, ServerId server, Instant asked);
  // The client was told that the session is closed.
  void on_closed(SessionId session);

  bool is_live(SessionId session) const { return model_.machine().sessions.contains(session); }
  // With local sessions the history knows only those that have become global.
  void set_local_sessions(bool local) { local_ = local; }
  bool may_be_local(SessionId session) const;
  // The zxid of its end in the history; 0: it has not ended.
  Zxid closed_at(SessionId session) const;
  void on_drained(ServerId server, const state::Machine& machine);

 private:
  struct Session {
    Zxid created{};
    Zxid closed{};
    std::int32_t timeout_ms = 0;  // the shortest that any server agreed to
    bool told = false;            // a client has it
    Instant created_after;        // when that client asked for it
    Zxid heard_at{};              // a write that its leader received itself
    Instant heard_after;
  };
  void create(const wire::TxnEntry& txn, std::int32_t timeout_ms);
  void close(const wire::TxnEntry& txn, Instant now);
  void check_sweep(Zxid zxid, const wire::MultiTxn& sweep);
  void check_not_too_early(SessionId id, const Session& session, Zxid closed, Instant now);

  Failures& failures_;
  const Model& model_;
  const CheckOrder& order_;
  std::int64_t clock_drift_percent_;
  bool local_ = false;
  // The shortest that a client was told before the history had the session.
  boost::unordered_flat_map<SessionId, std::int32_t> local_timeouts_ms_;
  boost::unordered_flat_map<SessionId, Session> sessions_;
};

}  // namespace drover::sim

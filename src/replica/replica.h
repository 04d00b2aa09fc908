// SPDX-License-Identifier: Apache-2.0
//
// One server's brain: it orders writes, decides sessions, and applies what is durable.
//
// Pure: time and durability come in as inputs, everything to be done goes out as effects. A write is
// prepared against the state as it will be, handed to the log, and applied (so that anybody can see it)
// only when on_durable() says that it survives power loss. Acknowledging early is impossible by structure.
//
// The caller holds the tree's writer lock around on_durable(), which is the only input that changes the
// tree. The fronts hear of each transaction as it is applied, before the next one is: they fire watches
// and answer reads that waited for it from exactly the state it made.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "base/time.h"
#include "replica/effects.h"
#include "replica/expiry.h"
#include "replica/front.h"
#include "replica/messages.h"
#include "replica/session_rate.h"
#include "state/machine.h"
#include "state/pending_changes.h"
#include "state/prepare.h"

namespace drover::replica {

struct ReplicaConfig {
  std::int64_t tick_ms = 3000;
  SessionId first_session{};  // ids count up from here
  std::int64_t container_check_ms = 60'000;
  std::int64_t container_max_per_minute = 10'000;
  std::int64_t container_never_used_ms = 0;  // 0: such containers stay
  SessionRateLimits session_rate;            // of new ones
};

struct ReplicaStats {
  std::uint64_t sessions_created = 0;
  std::uint64_t sessions_expired = 0;
  std::uint64_t sessions_closed = 0;
  std::uint64_t sessions_throttled = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t reconnects_refused = 0;
  std::uint64_t containers_deleted = 0;
  std::uint64_t writes_refused_disk_full = 0;
};

class Replica {
 public:
  // `machine` is what recovery gave; it and the fronts outlive the replica. Every session in it gets a full
  // timeout from now on.
  Replica(const ReplicaConfig& config, state::Machine& machine, std::vector<Front*> fronts, Instant now);

  // Sessions that own ephemerals but do not exist: left behind by a crash. Call once, before other inputs.
  void close_orphans(WallTime wall, Effects& effects);

  void on_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects);
  // Everything up to `last` is durable. Call it also when nothing new is while has_refused(): writes that
  // were refused are answered here too.
  void on_durable(Zxid last, Instant now);
  void on_tick(Instant now, WallTime wall, Effects& effects);

  // While the disk is full, writes that grow the state are refused before they become transactions;
  // deletes and the end of sessions still go through, on space that the log has in reserve.
  void set_disk_full(bool full) { disk_full_ = full; }

  bool has_refused() const {
    return !in_flight_.empty() && in_flight_.front().refusal != ErrorCode::kOk &&
           in_flight_.front().zxid <= machine_.last_zxid;
  }
  std::size_t in_flight() const { return in_flight_.size(); }
  Zxid last_proposed() const { return last_proposed_; }
  const Expiry& expiry() const { return expiry_; }
  const ReplicaStats& stats() const { return stats_; }
  std::size_t session_count() const { return sessions_.size(); }

 private:
  struct Session {
    std::int32_t timeout_ms = 0;
    bool closing = false;
    std::optional<FrontId> front;  // where its connection is
    ConnId conn;
  };
  // A transaction on its way: who waits for it.
  struct InFlight {
    Zxid zxid{};
    SessionId session{};
    std::int32_t xid = 0;
    wire::OpCode op{};
    std::optional<FrontId> front;
    ConnId conn;
    // Not kOk: refused without a transaction, and answered when everything before it is.
    ErrorCode refusal = ErrorCode::kOk;
  };
  struct Unapplied {
    LogAppendPtr log;
    std::size_t next = 0;  // entry
  };

  void on_write(FrontId front, const ClientWrite& write, std::string_view body, WallTime wall,
                Effects& effects);
  ErrorCode refusal_of(wire::OpCode op, std::string_view body);
  void on_session_request(FrontId front, const SessionRequest& request, Instant now, WallTime wall,
                          Effects& effects);
  void create_session(FrontId front, const SessionRequest& request, Instant now, WallTime wall);
  void reconnect(FrontId front, const SessionRequest& request, Instant now, Effects& effects);
  void close_session(SessionId session, WallTime wall);
  void reap(WallTime wall);
  void propose(const state::WriteRequest& request, const InFlight& waiting, WallTime wall);
  void hand_over(Effects& effects);
  void apply_next(std::string_view entry, Instant now);
  void end_session(const InFlight& waiting);
  void tell(const InFlight& waiting, const state::ApplyResult& result, Instant now);
  void answer_refused(Instant now);
  Front& front(FrontId id) { return *fronts_[static_cast<std::size_t>(id)]; }

  ReplicaConfig config_;
  state::Machine& machine_;
  std::vector<Front*> fronts_;
  state::PendingChanges pending_;
  boost::unordered_flat_map<SessionId, Session> sessions_;
  Expiry expiry_;
  std::vector<Instant> heard_until_;  // by front
  std::deque<InFlight> in_flight_;
  std::deque<Unapplied> unapplied_;
  std::shared_ptr<LogAppend> gathering_;
  state::TreeEvents events_;  // scratch
  Zxid last_proposed_{};
  std::int64_t next_session_ = 0;
  Instant next_reap_;
  SessionRate session_rate_;
  bool disk_full_ = false;
  ReplicaStats stats_;
};

}  // namespace drover::replica

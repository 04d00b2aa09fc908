// SPDX-License-Identifier: Apache-2.0
//
// Requests and state of one server: turns writes into transactions or passes them to the leader, manages
// sessions, and applies what is agreed on.
//
// Pure: time and durability come in as inputs, all actions go out as effects. A transaction is applied (so
// that clients can see it) only when the caller says that it is decided: a quorum has it on disk, and this
// server too. So the structure makes it impossible to acknowledge a write too early.
//
// The handling of a request depends on the service:
//
//   kLeading    prepares it, has it logged, applies it                  replica_leading.cc
//   kLearning   sends it to the leader and waits for its transaction    replica_learning.cc
//   kReadOnly   has sessions of its own and shows its last state        replica_local.cc
//   kNone       refuses: it does not know who leads
//
// If the number of requests in progress is limited, others wait first       replica_throttle.cc
//
// A global session is created by a transaction; every server knows it, and the leader expires it. A local
// session is known only to this server, and ends with this server's service (replica_local.cc).
//
// The caller holds the tree's writer lock around everything that applies transactions or changes the service.
// The fronts hear of each transaction as it is applied, before the next one is: they fire watches and answer
// the reads that waited for it from exactly the state that it made.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "base/measures.h"
#include "base/throttles.h"
#include "base/time.h"
#include "replica/audit.h"
#include "replica/connection_throttle.h"
#include "replica/effects.h"
#include "replica/ended_sessions.h"
#include "replica/expiry.h"
#include "replica/front.h"
#include "replica/messages.h"
#include "replica/session_rate.h"
#include "replica/touched_sessions.h"
#include "state/machine.h"
#include "state/pending_changes.h"
#include "state/prepare.h"
#include "wire/quorum.h"

namespace drover::replica {

enum class Service : std::uint8_t { kNone, kLeading, kLearning, kReadOnly };

struct ReplicaConfig {
  bool standalone = false;  // what it applies counts as agreed with no other server
  std::int64_t tick_ms = 3000;
  SessionId first_session{};  // ids count up from here; the top byte of all of them is this server's
  std::int64_t container_check_ms = 60'000;
  std::int64_t container_max_per_minute = 10'000;
  std::int64_t container_never_used_ms = 0;  // 0: never-used containers stay
  SessionRateLimits session_rate{};          // limits for new sessions
  ConnectionThrottleLimits connection_throttle{};
  RequestThrottleLimits request_throttle{};
  std::uint64_t seed = 1;               // for its random choices
  bool leader_serves = true;            // leaderServes: a leader serves clients itself
  bool local_sessions = false;          // in an ensemble: new sessions are local
  bool local_sessions_upgrade = false;  // they become global when they want an ephemeral node
  // The counter of an epoch's last transaction. One more would overflow into the epoch (ZOOKEEPER-1277).
  // nullopt: it may, as a standalone server has no epochs.
  std::optional<std::uint32_t> last_counter = 0xffff'fffe;
  // This server's name in the audit log; nullopt: there is no audit log.
  std::optional<std::string> audit_user{};
};

// How old transactions are in milliseconds, by the clock of the server that made them. A transaction whose
// time is in the future is not counted.
struct TxnAges {
  // Age when applied, by the role of this server.
  Histogram standalone;
  Histogram leading;
  Histogram learning;
  // The last one of each batch, in an ensemble: age when a proposal came, and when it was on this disk.
  Histogram proposed;
  Histogram durable;
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
  std::uint64_t txns_too_large = 0;  // writes refused because no follower could read their transaction
  std::uint64_t stale_requests = 0;  // worked on all the same
  std::uint64_t stale_requests_dropped = 0;
  std::uint64_t throttled_ops = 0;  // got THROTTLEDOP
  Histogram throttled_ms;           // how long requests waited for request_throttle_max_requests
  std::uint64_t forwarded = 0;      // writes that learners forwarded to this leader
  std::uint64_t revalidations = 0;  // sessions that learners asked about
  std::uint64_t txns_applied = 0;
  std::uint64_t txns_agreed_on = 0;  // of these, agreed on with others while this server served
  TxnAges ages;
};

class Replica {
 public:
  // `machine` is the result of recovery; it and the fronts outlive the replica. It starts without service.
  Replica(const ReplicaConfig& config, state::Machine& machine, std::vector<Front*> fronts, Instant now);

  void on_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects);
  // Everything up to `last` is decided. While has_answers(), call this even if nothing new is decided:
  // refused writes and syncs are answered here too.
  void on_committed(Zxid last, Instant now);
  void on_tick(Instant now, WallTime wall, Effects& effects);

  // While the disk is full, writes that grow the state are refused before they become transactions. Deletes
  // and the end of sessions still go through, on space that the log has in reserve.
  void set_disk_full(bool full) { disk_full_ = full; }

  // --- called by Member ---
  // Under the writer lock. `last`: the zxid before the first proposal.
  void begin_leading(Zxid last, Instant now, WallTime wall, Effects& effects);
  void begin_learning(std::uint32_t epoch, Instant now);
  void begin_read_only();
  void end_service();
  // The content of /zookeeper/config; empty if the state has none. Valid until the tree changes.
  std::string_view membership_text() const;
  // Every server writes it for itself, outside of any transaction, as in Java.
  void publish_membership(std::string_view text, std::int64_t version, WallTime wall);
  // How a leader decides a reconfiguration. `prepared`: the last one that became a transaction.
  using ReconfigRule = std::function<CodeResult<std::string>(const wire::ReconfigRequest& request, Zxid zxid,
                                                             bool may_write, Zxid prepared)>;
  void set_reconfig_rule(ReconfigRule rule);
  // The batch is logged, and will be applied once decided; any server may have proposed it.
  void add_unapplied(TxnBatchPtr batch, Instant now);
  // For the monitor: our own disk has it, whatever the others say.
  void note_durable(Zxid last, Instant now);
  // Transactions logged after `last` are taken back. Applied ones are not.
  void forget_unapplied_after(Zxid last);
  // A transaction produced another digest than it carries, so this state is not the leader's; or it cannot be
  // read at all. Nothing more is applied.
  struct Divergence {
    Zxid at{};
    bool readable = true;
  };
  const std::optional<Divergence>& divergence() const { return divergence_; }
  // Digests of transactions up to here mean nothing: the state was sent while they were being applied.
  void set_inexact_until(Zxid zxid) { inexact_until_ = zxid; }
  // The last transaction whose digest matched this state, or that has no digest.
  Zxid compared_at() const { return compared_at_; }
  void forget_divergence() { divergence_.reset(); }

  // Leading.
  void on_forwarded(zab::LinkId learner, const wire::ForwardedRequest& request,
                    const state::IdentitiesPtr& who, Instant now, WallTime wall, Effects& effects);
  bool revalidate(zab::LinkId learner, const wire::TouchedSession& session, Instant now, Effects& effects);
  // A learner has heard from the session.
  void touch(zab::LinkId learner, const wire::TouchedSession& touched, Instant now);
  // A learner forwards a request, so the session's client was there. Clients rely on this: the answer to a
  // write or a sync means that the lease began when the request was sent or later. A ping reports the session
  // only after a while.
  void touch_through(zab::LinkId learner, SessionId session, Instant now);
  // The oldest sync without a ticket gets this one; it is answered once `released` reaches it.
  void set_sync_ticket(std::uint64_t ticket);
  void set_released_syncs(std::uint64_t released) { released_syncs_ = released; }
  std::uint64_t released_syncs() const { return released_syncs_; }
  // No more transactions fit into the epoch.
  bool is_exhausted() const { return exhausted_; }

  // Learning.
  void on_revalidated(const wire::Revalidated& answer, Effects& effects);
  // The leader has answered the oldest sync; `committed` is what was committed before it.
  void on_sync_answered(Zxid committed);
  // Sessions heard since the last call; those that do not fit into `bytes_max` come the next time.
  void take_touched(std::string& out, std::size_t bytes_max);

  // Lines of requests whose result is known since the last call.
  std::vector<AuditLine> take_audit_lines() { return audit_ ? audit_->take() : std::vector<AuditLine>{}; }

  bool has_answers() const;
  // Some requests that were throttled can go on, or may be stale: call release_throttled() under the writer
  // lock.
  bool has_releasable() const;
  void release_throttled(Instant now, WallTime wall, Effects& effects);
  std::size_t in_flight() const { return in_flight_.size() + awaiting_.size() + throttled_.size(); }
  Zxid last_proposed() const { return last_proposed_; }
  Service service() const { return service_; }
  const Expiry& expiry() const { return expiry_; }
  const ReplicaStats& stats() const { return stats_; }
  const state::ChangeCounts& change_counts() const { return pending_->counts(); }
  std::size_t session_count() const { return sessions_.size(); }
  const ConnectionThrottle& connection_throttle() const { return connection_throttle_; }
  std::size_t local_session_count() const { return local_count_; }
  bool is_local(SessionId session) const;

 private:
  struct Session {
    std::int32_t timeout_ms = 0;
    bool closing = false;
    std::optional<FrontId> front;  // the front of its connection, if it is here
    ConnId conn;
    zab::LinkId learner = zab::kNoLink;  // otherwise the link of its server; none: the first that asks
    bool local = false;
    bool upgraded = false;  // was local: its client knows it, but its transaction may not be applied yet
  };
  using SessionMap = boost::unordered_flat_map<SessionId, Session>;
  // A request on its way, and the client that waits for it.
  struct InFlight {
    Zxid zxid{};
    SessionId session{};
    std::int32_t xid = 0;
    wire::OpCode op{};
    std::optional<FrontId> front{};
    ConnId conn{};
    // Not kOk: refused without a transaction, and answered when everything before it is.
    ErrorCode refusal = ErrorCode::kOk;
    std::uint64_t ticket = 0;                 // of a sync
    std::vector<std::uint32_t> create2 = {};  // of a multi: the elements that want a Stat
    bool closes_local = false;  // ends a local session: no transaction, but a place in the order
    bool own_answer = false;    // of a learner: its leader was not asked
    AuditNotePtr audit{};       // null: nothing of it goes into the audit log
  };
  // A request that waits until fewer are in progress.
  struct Throttled {
    FrontId front{};
    ClientWrite write;
    std::string body;
    Instant since;
  };
  struct Unapplied {
    TxnBatchPtr log;
    std::size_t next = 0;  // entry
  };
  struct AnsweredSync {
    Zxid after{};
    SessionId session{};
  };
  struct RevalidatingConn {
    FrontId front{};
    ConnId conn;
    std::int32_t timeout_ms = 0;
  };

  // replica.cc
  void audit_refused(const ToReplica& batch);
  bool admit(FrontId front, const SessionRequest& request, Instant now, Effects& effects);
  void end_session(const InFlight& waiting);
  void tell(const InFlight& waiting, const state::ApplyResult& result, Instant now);
  void refuse(const InFlight& waiting, Instant now);
  void apply_next(std::string_view entry, Instant now);
  void answer_proposed(const wire::TxnEntry& txn, const state::ApplyResult& result, Instant now);
  void answer_due(Instant now);
  bool is_due(const InFlight& waiting) const;
  void note_clocks(Instant now, WallTime wall) { wall_ahead_ms_ = wall.ms - now.ms; }
  void count_age(Histogram& ages, std::int64_t made_ms, Instant now);
  void count_applied(const wire::TxnHeader& header, Instant now);
  Front& front(FrontId id) { return *fronts_[static_cast<std::size_t>(id)]; }

  // replica_throttle.cc
  static bool is_of_client(const InFlight& waiting);
  void enter(std::deque<InFlight>& queue, InFlight waiting);
  InFlight leave(std::deque<InFlight>& queue);
  void submit(FrontId front, const ClientWrite& write, std::string_view body, Instant now, WallTime wall,
              Effects& effects);
  void begin(FrontId front, const ClientWrite& write, std::string_view body, WallTime wall, Effects& effects);
  bool is_stale(const Throttled& request, Instant now);
  void drop_stale(const Throttled& request, Effects& effects);
  bool waited_too_long(const Throttled& request, Instant now) const;
  void refuse_throttled(const Throttled& request);

  // replica_leading.cc
  void close_orphans(WallTime wall, Effects& effects);
  void on_write(FrontId front, const ClientWrite& write, std::string_view body, WallTime wall,
                Effects& effects);
  ErrorCode refusal_of(wire::OpCode op);
  void on_session_request(FrontId front, const SessionRequest& request, Instant now, WallTime wall,
                          Effects& effects);
  void create_session(FrontId front, const SessionRequest& request, Instant now, WallTime wall);
  void propose_session(SessionId session, std::int32_t timeout_ms, InFlight waiting, WallTime wall);
  void reconnect(FrontId front, const SessionRequest& request, Instant now, Effects& effects);
  void close_session(SessionId session, WallTime wall);
  struct SessionVerdict {
    ErrorCode error = ErrorCode::kOk;
    ErrorCode ephemeral_error = ErrorCode::kOk;  // if it wants an ephemeral node
  };
  SessionVerdict check_owner(zab::LinkId learner, SessionId session);
  void renew(SessionMap::iterator session, std::int32_t timeout_ms, Instant now);
  ErrorCode track_learners(zab::LinkId learner, const wire::TouchedSession& created, Instant now);
  SessionVerdict judge_own(SessionMap::iterator found, const ClientWrite& write, std::string_view body,
                           WallTime wall);
  InFlight waiting_for(FrontId front, const ClientWrite& write, std::string_view body) const;
  void track_sessions(Instant now);
  void pace_reaping(Instant now, WallTime wall);
  std::size_t reap(std::size_t most, WallTime wall);
  void propose(const state::WriteRequest& request, const InFlight& waiting, WallTime wall);
  void refuse_undecodable(std::size_t start, const InFlight& waiting);
  template <class Write>
  void append_txn(InFlight waiting, Write write);
  void hand_over(Effects& effects);
  SessionId new_session_id();
  // The zxid that must be applied before a request of now can be answered.
  Zxid last_in_flight() const { return in_flight_.empty() ? machine_.last_zxid : in_flight_.back().zxid; }

  // replica_learning.cc
  void learn_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects);
  void forward(FrontId front, const ClientWrite& write, std::string_view body, Effects& effects);
  void ask_for_session(FrontId front, const SessionRequest& request, Instant now, Effects& effects);
  ErrorCode upgrade(SessionMap::iterator session, Effects& effects);
  void announce_session(SessionId session, std::int32_t timeout_ms, InFlight waiting, Effects& effects);
  void answer_awaiting(const wire::TxnHeader& header, const state::ApplyResult& result, Instant now);
  void answer_synced(Instant now);
  std::optional<InFlight> take_awaiting(SessionId session, std::int32_t xid);
  void await_own_answer(InFlight waiting);
  void give_own_answers(Instant now);

  // replica_local.cc
  void read_only_front(FrontId front, ToReplica& batch, Instant now, Effects& effects);
  void reconnect_read_only(FrontId front, const SessionRequest& request, Instant now, Effects& effects);
  void create_local_session(FrontId front, const SessionRequest& request, Instant now, Effects& effects);
  void move_session(SessionMap::iterator session, FrontId front, const SessionRequest& request, Instant now,
                    Effects& effects);
  bool wants_ephemeral(wire::OpCode op, std::string_view body) const;
  void make_global(Session& session);
  void await_local_close(FrontId front, const ClientWrite& write);
  void forget_local(SessionId session);
  void expire_local(SessionId session, Effects& effects);
  bool made_here(SessionId session) const;

  ReplicaConfig config_;
  Service service_ = Service::kNone;
  state::Machine& machine_;
  std::vector<Front*> fronts_;
  std::unique_ptr<state::PendingChanges> pending_;
  SessionMap sessions_;
  std::size_t local_count_ = 0;
  EndedSessions ended_;  // when leading, with local sessions
  Expiry expiry_;
  std::vector<Instant> heard_until_;  // by front
  std::deque<InFlight> in_flight_;    // when leading: by zxid
  std::deque<Throttled> throttled_;   // bounded by the fronts' limits for outstanding requests
  std::size_t working_ = 0;           // requests of clients in in_flight_ and awaiting_
  bool look_for_stale_ = false;
  std::deque<Unapplied> unapplied_;
  std::shared_ptr<TxnBatch> gathering_;
  state::TreeEvents events_;  // scratch
  Zxid last_proposed_{};
  std::int64_t next_session_ = 0;
  Instant next_reap_;
  Instant reap_paced_;  // when the rate of deleting was last updated
  std::int64_t reap_credit_ = 0;
  bool reaping_ = false;  // a check has found more than could be deleted so far
  SessionRate session_rate_;
  ConnectionThrottle connection_throttle_;
  state::ReconfigRule reconfig_;
  Zxid reconfig_prepared_{};
  bool disk_full_ = false;
  bool exhausted_ = false;
  Zxid inexact_until_{};
  std::optional<Divergence> divergence_;
  Zxid compared_at_{};
  std::uint64_t released_syncs_ = 0;
  ReplicaStats stats_;
  std::optional<AuditTrail> audit_;
  std::optional<std::int64_t> wall_ahead_ms_;  // of the monotonic clock, at the last input

  // For learning.
  boost::unordered_flat_map<SessionId, std::deque<InFlight>> awaiting_;  // wait for their transactions
  std::deque<SessionId> asked_syncs_;                                    // in the order of asking
  std::deque<AnsweredSync> answered_syncs_;
  boost::unordered_flat_map<SessionId, std::vector<RevalidatingConn>> revalidating_;
  TouchedSessions touched_;
  std::deque<SessionId> own_answers_;  // sessions whose next answer in awaiting_ is this server's own
};

}  // namespace drover::replica

// SPDX-License-Identifier: Apache-2.0
//
// The judge: sees everything that servers do and clients are told, and reports what is not allowed.
//
// It keeps the one order of transactions, replays it on a model, and remembers every version of every node.
// So it knows what a read at any zxid must have shown. It never says that something must happen by some time:
// the world checks that once all faults are healed. Every rule is sound: what it rejects could not have come
// from a correct ensemble, whatever was lost, late or out of step.
//
//   check_order      one history, nothing committed is lost, equal states at equal zxids   (I1-I4)
//   check_calls      writes: order, at most once, rightly decided, rightly answered        (I5, I6, I10, I11)
//   check_reads      reads show the model at their zxid; zxids never go back               (I7)
//   check_sessions   no act after the end, no end before its time, no orphaned ephemerals  (I8)
//   check_watches    each event once, in order, before what it announces, and none missing (I9)
//
// The names I1-I13 are those of the table of invariants in docs/testing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "sim/check_calls.h"
#include "sim/check_order.h"
#include "sim/check_reads.h"
#include "sim/check_sessions.h"
#include "sim/check_watches.h"
#include "sim/oracle_failures.h"
#include "sim/oracle_model.h"
#include "state/machine.h"
#include "state/options.h"
#include "wire/replies.h"

namespace drover::sim {

struct OracleOptions {
  state::Options state;  // the servers'
  // How much slower than the world's time a server's clock may run.
  std::int64_t clock_drift_percent = 6;
  bool local_sessions = false;
  bool spoiled_states = false;  // a leader may write digests of a wrong state
};

// What must be zero once all clients have left (I13).
struct Leftovers {
  std::size_t connections = 0;
  std::size_t watches = 0;
  std::size_t requests = 0;  // under way
};

class Oracle final : private CheckOrder::Listener {
 public:
  explicit Oracle(const OracleOptions& options = {});
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // The world's true time. Set it before the events of that time.
  void set_now(Instant now) { now_ = now; }
  Instant now() const { return now_; }

  // --- servers ---
  // A transaction of the history with which the world begins, in order.
  void begin_with(std::string_view entry);
  // A transaction that exists: proposed, logged, or replayed from a log. It may never be committed. But if it
  // is committed without ever having been applied one by one (a server recovers it and continues), its bytes
  // come from here.
  void on_known(std::string_view entry);
  // `serving`: clients can see it, so it is committed.
  void on_applied(ServerId server, Zxid zxid, std::string_view entry,
                  std::optional<std::uint64_t> tree_digest, bool serving) {
    order_.on_applied(server, zxid, entry, tree_digest, serving);
  }
  // The server's new state: read from its disk, or sent by a leader. If not `exact`, it may hold some later
  // transactions, so its digest says nothing.
  void on_state(ServerId server, const state::Machine& machine, bool exact);
  // The server leads `epoch`, and a quorum has taken over its history up to `last`.
  void on_standalone(ServerId server, Zxid last);
  void on_established(ServerId server, std::uint32_t epoch, Zxid last);

  // --- clients: one ClientId for each session that a client tries to have ---
  ClientId new_client();
  // The client sends a request. `xid` is the one that it will carry.
  void on_call(ClientId client, std::int32_t xid, wire::OpCode op, std::string_view body);
  void on_reply(ClientId client, const wire::ReplyHeader& header, std::string_view body);
  void on_lost(ClientId client, std::int32_t xid);         // sent, never answered
  void on_not_applied(ClientId client, std::int32_t xid);  // the client says that it never sent it
  void on_event(ClientId client, wire::EventType type, std::string_view path, Zxid zxid);
  // A server accepted the session on a connection that the client began at `asked`.
  void on_session(ClientId client, SessionId session, std::int32_t timeout_ms, ServerId server,
                  Instant asked);
  void on_disconnected(ClientId client);
  // The client hung up because a server may not say this now.
  void on_nonsense(ClientId client);
  // A server confirmed close(); or the client has ended for any other reason.
  void on_closed(ClientId client);
  void on_over(ClientId client);

  // --- the end ---
  // All faults are healed and nothing is under way: the server must be at the end of the history.
  void on_settled(ServerId server, const state::Machine& machine);
  // The same, after all clients are gone: nothing of them may be left.
  void on_drained(ServerId server, const state::Machine& machine, const Leftovers& left);

  bool ok() const { return failures_.empty(); }
  const std::vector<std::string>& failures() const { return failures_.lines(); }
  Zxid last_committed() const { return order_.last_committed(); }
  const Model& model() const { return model_; }
  std::uint64_t calls() const { return calls_.count(); }

 private:
  void on_committed(std::string_view entry, const wire::TxnEntry& txn) override;

  OracleOptions options_;
  Failures failures_;
  Instant now_;
  Model model_;
  CheckOrder order_;
  CheckSessions sessions_;
  CheckCalls calls_;
  CheckReads reads_;
  CheckWatches watches_;
};

}  // namespace drover::sim

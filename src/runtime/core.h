// SPDX-License-Identifier: Apache-2.0
//
// Hosts the member: passes it the inputs from fronts, the log and the links, and executes its effects.
//
// Run by one thread at a time, either its own or an I/O thread (ARCHITECTURE.md, "Threads"). Any thread can
// post inputs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ids.h"
#include "base/measures.h"
#include "base/time.h"
#include "replica/member.h"
#include "replica/replica.h"
#include "runtime/log_thread.h"
#include "runtime/tree_lock.h"

namespace drover::server {

// The core's interface to the links to other servers.
class PeerPort {
 public:
  virtual ~PeerPort() = default;
  // `memberships` are those after the input that had these effects.
  virtual void carry_out(zab::Effects& effects, const zab::Memberships& memberships) = 0;
  // Sends the data that carry_out() has queued in the links.
  virtual void flush() = 0;
  virtual void on_time(Instant now) = 0;
  virtual std::optional<Instant> next_time() const = 0;
};

// The core's measurements of itself, for the monitor. In milliseconds.
struct CoreStats {
  Extremes queued_here;        // queued requests on a leader or standalone server, sampled when not 0
  Extremes queued_for_leader;  // the same on a learner, which forwards them
  Histogram queue_ms;          // queue time of a front's batch
  Extremes prepare_ms;         // time to prepare a front's batch
  Extremes hand_over_ms;       // time to pass it to the log and to the other servers
  Extremes applied_txns;       // transactions applied under one writer lock, when not 0
  Extremes apply_ms;           // duration of that
};

class Core {
 public:
  // Each front has a waker, which makes its I/O thread process the staged results.
  struct FrontPort {
    replica::Front* front;
    std::function<void()> wake;
  };
  Core(const replica::ReplicaConfig& config, state::Machine& machine, TreeLock& lock,
       std::vector<FrontPort> fronts);

  // Call these before anything runs.
  void attach(LogThread* log) { log_ = log; }
  void set_waker(std::function<void()> wake) { wake_ = std::move(wake); }
  // Called with the reason when this server must end; does not return.
  void set_halt(std::function<void(const std::string&)> halt) { halt_ = std::move(halt); }
  // Writes lines of the audit log, before their clients are answered.
  void set_audit(std::function<void(const std::vector<replica::AuditLine>&)> write) {
    write_audit_ = std::move(write);
  }
  void make_member(const replica::MemberConfig& config, replica::MemberStart start,
                   replica::StateReceiver& receiver);
  // Not for a standalone server.
  void connect(PeerPort* peers) { peers_ = peers; }
  void start(Instant now);

  // --- from any thread ---
  void post(replica::FrontId front, replica::ToReplica batch);
  void post_done(const zab::DiskAnswer& answer);
  void post_disk_full(bool full);

  // --- on the core's thread ---
  // Processes everything posted. False: nothing was posted.
  bool run(Instant now);
  void tick(Instant now);
  // Timers of the ensemble; a standalone server has none.
  std::optional<Instant> next_time() const;
  void on_time(Instant now);
  // Input from the links to other servers: calls `give(member, effects)`.
  template <class Give>
  void input(Instant now, Give give) {
    std::lock_guard running(replica_mutex_);
    replica::Effects effects;
    give(*member_, effects);
    carry_out(effects);
    settle(now);
  }
  std::size_t on_link_bytes(zab::LinkId link, std::string_view bytes, Instant now);

  // For the four-letter words: calls `look(replica, member)` while the replica does not change. The member is
  // null on a standalone server: it has nothing to tell about an ensemble.
  template <class Look>
  void look_at(Look look) {
    std::lock_guard lock(replica_mutex_);
    look(replica_, peers_ ? member_.get() : nullptr);
  }
  // Call only within look_at().
  const CoreStats& stats() const { return stats_; }
  bool idle();
  // Safe to call from any thread. True: the state may be saved as a snapshot (Member::is_state_exact).
  bool may_snapshot() const { return may_snapshot_.load(std::memory_order_relaxed); }

 private:
  struct Posted {
    replica::FrontId front;
    replica::ToReplica batch;
    std::int64_t posted_ns;
  };
  void work_on(Posted& posted, Instant now, WallTime wall);
  void count_waiting();
  void give_answer(const zab::DiskAnswer& answer, Instant now);
  // Applies committed transactions until nothing is left to do.
  void settle(Instant now);
  void carry_out(replica::Effects& effects);
  void audit();
  // Runs `change` under the writer lock, then wakes the fronts that have staged results.
  template <class Change>
  void with_writer_lock(Change change);
  // The same for applying transactions, with measurements.
  template <class Change>
  void apply_with_writer_lock(Change change);

  state::Machine& machine_;
  TreeLock& lock_;
  std::vector<FrontPort> fronts_;
  LogThread* log_ = nullptr;
  std::function<void()> wake_;
  std::function<void(const std::string&)> halt_;
  std::function<void(const std::vector<replica::AuditLine>&)> write_audit_;  // null: there is no audit log

  std::mutex replica_mutex_;  // held by the thread that runs the core; contended only by four-letter words
  replica::Replica replica_;
  std::unique_ptr<replica::Member> member_;
  PeerPort* peers_ = nullptr;  // null: a standalone server
  CoreStats stats_;
  std::vector<Posted> working_;
  std::vector<zab::DiskAnswer> answers_working_;

  std::mutex inbox_mutex_;
  std::vector<Posted> inbox_;
  std::vector<zab::DiskAnswer> answers_;
  std::optional<bool> disk_full_;
  std::atomic<bool> may_snapshot_{true};
};

}  // namespace drover::server

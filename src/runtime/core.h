// SPDX-License-Identifier: Apache-2.0
//
// Hosts the replica: gives it what fronts and the log have sent, and carries its effects out.
//
// Run by one thread at a time, either its own or an I/O thread's (ARCHITECTURE.md, "Threads"). Inputs may
// be posted from any thread.
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

// The links to other servers, as the core uses them.
class PeerPort {
 public:
  virtual ~PeerPort() = default;
  virtual void carry_out(zab::Effects& effects) = 0;
  // Sends what carry_out() has left in the links' outputs.
  virtual void flush() = 0;
  virtual void on_time(Instant now) = 0;
  virtual std::optional<Instant> next_time() const = 0;
};

// What the core has measured of itself, for the monitor. Milliseconds.
struct CoreStats {
  Extremes queued_here;        // requests that waited for a server that decides, at each look that found any
  Extremes queued_for_leader;  // the same of a learner, which passes them on
  Histogram queue_ms;          // how long what one front handed over had waited
  Extremes prepare_ms;         // what one front handed over, judged
  Extremes hand_over_ms;       // and given to the log and to the other servers
  Extremes applied_txns;       // under one taking of the tree's lock, when any
  Extremes apply_ms;           // and how long that took
};

class Core {
 public:
  // One waker for each front: its I/O thread should look at what was staged.
  struct FrontPort {
    replica::Front* front;
    std::function<void()> wake;
  };
  Core(const replica::ReplicaConfig& config, state::Machine& machine, TreeLock& lock,
       std::vector<FrontPort> fronts);

  // Before anything runs.
  void attach(LogThread* log) { log_ = log; }
  void set_waker(std::function<void()> wake) { wake_ = std::move(wake); }
  // Called with the reason when this server must end; does not return.
  void set_halt(std::function<void(const std::string&)> halt) { halt_ = std::move(halt); }
  // This server is one of several. The replica was made without service.
  std::unique_ptr<replica::Member> make_member(const replica::MemberConfig& config,
                                               replica::MemberStart start, replica::StateReceiver& receiver) {
    return std::make_unique<replica::Member>(config, std::move(start), replica_, machine_, receiver);
  }
  void join(std::unique_ptr<replica::Member> member, PeerPort* peers);
  void start(Instant now, WallTime wall);

  // --- from any thread ---
  void post(replica::FrontId front, replica::ToReplica batch);
  void post_done(const LogAnswer& answer);
  void post_disk_full(bool full);

  // --- on the core's thread ---
  // Handles everything posted; false when there was nothing.
  bool run(Instant now);
  void tick(Instant now);
  // Timers of the ensemble; nothing when this server is alone.
  std::optional<Instant> next_time() const;
  void on_time(Instant now);
  // What the links to other servers have to tell: `give(member, effects)`.
  template <class Give>
  void input(Instant now, Give give) {
    std::lock_guard running(replica_mutex_);
    replica::Effects effects;
    give(*member_, effects);
    carry_out(effects);
    settle(now);
  }
  std::size_t on_link_bytes(zab::LinkId link, std::string_view bytes, Instant now);

  // Facts for the four-letter words: call `look` while nothing of the replica changes.
  template <class Look>
  void look_at(Look look) {
    std::lock_guard lock(replica_mutex_);
    look(replica_, member_.get());
  }
  // Within look_at().
  const CoreStats& stats() const { return stats_; }
  bool idle();
  // From any thread: the state may be written down as a snapshot (Member::is_state_exact).
  bool may_snapshot() const { return may_snapshot_.load(std::memory_order_relaxed); }

 private:
  struct Posted {
    replica::FrontId front;
    replica::ToReplica batch;
    std::int64_t posted_ns;
  };
  void work_on(Posted& posted, Instant now, WallTime wall);
  void count_waiting();
  void apply_durable(Zxid last, Instant now);
  void give_answer(const LogAnswer& answer, Instant now);
  // Applies what is decided, until nothing is left to do.
  void settle(Instant now);
  void carry_out(replica::Effects& effects);
  // Runs `change` under the writer lock, then wakes the fronts that it has left something for.
  template <class Change>
  void with_writer_lock(Change change);
  // The same for what applies transactions, measured.
  template <class Change>
  void apply_with_writer_lock(Change change);

  state::Machine& machine_;
  TreeLock& lock_;
  std::vector<FrontPort> fronts_;
  LogThread* log_ = nullptr;
  std::function<void()> wake_;
  std::function<void(const std::string&)> halt_;

  std::mutex replica_mutex_;  // held by whoever runs the core; contended only by four-letter words
  replica::Replica replica_;
  std::unique_ptr<replica::Member> member_;  // null: a server alone
  PeerPort* peers_ = nullptr;
  Zxid applied_{};
  CoreStats stats_;
  std::vector<Posted> working_;
  std::vector<LogAnswer> answers_working_;

  std::mutex inbox_mutex_;
  std::vector<Posted> inbox_;
  std::vector<LogAnswer> answers_;
  std::optional<bool> disk_full_;
  std::atomic<bool> may_snapshot_{true};
};

}  // namespace drover::server

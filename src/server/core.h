// SPDX-License-Identifier: Apache-2.0
//
// Hosts the replica: gives it what fronts and the log have sent, and carries its effects out.
//
// Run by one thread at a time, either its own or an I/O thread's (ARCHITECTURE.md, "Threads"). Inputs may
// be posted from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "replica/replica.h"
#include "server/log_thread.h"
#include "server/tree_lock.h"

namespace drover::server {

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
  void start(Instant now, WallTime wall);

  // --- from any thread ---
  void post(replica::FrontId front, replica::ToReplica batch);
  void post_durable(Zxid last);
  void post_disk_full(bool full);

  // --- on the core's thread ---
  // Handles everything posted; false when there was nothing.
  bool run(Instant now);
  void tick(Instant now);

  // Facts for the four-letter words: call `look` while nothing of the replica changes.
  template <class Look>
  void look_at(Look look) {
    std::lock_guard lock(replica_mutex_);
    look(replica_);
  }
  bool idle();

 private:
  struct Posted {
    replica::FrontId front;
    replica::ToReplica batch;
  };
  void apply_durable(Zxid last, Instant now);
  void carry_out(replica::Effects& effects);
  // Runs `change` under the writer lock, then wakes the fronts that it has left something for.
  template <class Change>
  void with_writer_lock(Change change);

  TreeLock& lock_;
  std::vector<FrontPort> fronts_;
  LogThread* log_ = nullptr;
  std::function<void()> wake_;

  std::mutex replica_mutex_;  // held by whoever runs the core; contended only by four-letter words
  replica::Replica replica_;
  Zxid applied_{};
  std::vector<Posted> working_;

  std::mutex inbox_mutex_;
  std::vector<Posted> inbox_;
  Zxid durable_{};
  std::optional<bool> disk_full_;
};

}  // namespace drover::server

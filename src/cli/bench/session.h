// SPDX-License-Identifier: Apache-2.0
//
// One session of a load: its requests in flight, and their latencies.
//
// Everything runs on the session's executor, except for counters that any thread may read. So requests share
// nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cli/bench/plan.h"
#include "drover/client.h"

namespace drover::cli::observe {

using Steady = std::chrono::steady_clock;

// When measuring begins and ends; it may end earlier.
class Phases {
 public:
  Phases(Steady::time_point counts_from, Steady::time_point until)
      : counts_from_(counts_from), until_(until) {}
  Steady::time_point counts_from() const { return counts_from_; }
  Steady::time_point until() const { return until_.load(std::memory_order_relaxed); }
  bool are_over(Steady::time_point now) const { return now >= until(); }
  void end_now() { until_ = Steady::now(); }

 private:
  Steady::time_point counts_from_;
  std::atomic<Steady::time_point> until_;
};

class BenchSession : public std::enable_shared_from_this<BenchSession> {
 public:
  BenchSession(Client client, const Plan& plan, std::shared_ptr<const Phases> phases, int number);

  // Keeps as many requests in flight as the plan says.
  void begin_closed();
  // A request is due now: it is sent as soon as fewer than `in_flight` are in progress. Safe to call from any
  // thread.
  void arrive(Steady::time_point due);

  // --- safe to call from any thread ---
  const Histogram& latencies() const { return latencies_; }
  std::map<std::string, std::uint64_t> errors() const;
  int running() const { return running_; }  // coroutines that have not ended
  const Client& client() const { return client_; }
  const Plan& plan() const { return plan_; }
  const Phases& phases() const { return *phases_; }
  Steady::time_point last_end() const { return last_end_; }  // of the last counted request

  // --- for lock and watch loads ---
  void count(Steady::time_point due, Steady::time_point end);
  void count_error(const std::string& what);
  void hold() { ++running_; }
  void let_go() { --running_; }

 private:
  using Self = std::shared_ptr<BenchSession>;
  static Task<Result<void>> request(Self self);
  static Task<bool> perform(Self self, Steady::time_point due);
  static Task<bool> run_closed(Self self);
  static Task<bool> run_due(Self self, Steady::time_point due);
  std::string random_key();
  bool is_read();

  Client client_;
  const Plan plan_;
  const std::shared_ptr<const Phases> phases_;
  int number_;
  std::string data_;
  std::uint64_t random_;
  std::uint64_t created_ = 0;
  std::deque<Steady::time_point> waiting_;  // due, but too many in flight
  int busy_ = 0;

  Histogram latencies_;
  std::atomic<Steady::time_point> last_end_{};
  std::atomic<int> running_{0};
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> errors_;
};

std::string key_path(const Plan& plan, std::uint64_t i);

}  // namespace drover::cli::observe

// SPDX-License-Identifier: Apache-2.0
//
// One session of a load: its requests in flight, and what is counted of them.
//
// Everything but what others may read at any time happens on the session's executor, so that nothing is
// shared on the way of a request.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cli/bench_plan.h"
#include "drover/client.h"

namespace drover::cli::observe {

using Steady = std::chrono::steady_clock;

// When a load begins to count and when it ends; the end may come earlier.
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

  // As many requests at a time as the plan says, each followed by the next one.
  void begin_closed();
  // A request that is due now: sent at once if there is room, and otherwise as soon as there is. From any
  // thread.
  void arrive(Steady::time_point due);

  // --- of any thread ---
  const Histogram& latencies() const { return latencies_; }
  std::map<std::string, std::uint64_t> errors() const;
  int running() const { return running_; }  // coroutines that are not at their end
  const Client& client() const { return client_; }
  const Plan& plan() const { return plan_; }
  const Phases& phases() const { return *phases_; }
  Steady::time_point last_end() const { return last_end_; }  // of what was counted

  // --- of loads of their own ---
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
  std::deque<Steady::time_point> waiting_;  // due, and no room
  int busy_ = 0;

  Histogram latencies_;
  std::atomic<Steady::time_point> last_end_{};
  std::atomic<int> running_{0};
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> errors_;
};

std::string key_path(const Plan& plan, std::uint64_t i);

}  // namespace drover::cli::observe

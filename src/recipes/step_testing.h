// SPDX-License-Identifier: Apache-2.0
//
// One fault at every step of a recipe: a scenario runs again and again, each time with the fault at the next
// request of client 0, until the scenario ends before the fault.
//
//   for_every_step(kAllFaults, {.clients = 2}, [](Trial& trial) {
//     auto taken = trial.run(queue.take(trial.wait()));
//     ... checks that must hold after any fault ...
//   });
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "drover/signal.h"
#include "sim/recipe_world.h"

namespace drover::recipes::testing {

using sim::RecipeWorld;
using Time = RecipeWorld::Time;

enum class StepFault : std::uint8_t {
  kNone,
  kReplyLost,    // the request is applied, and the connection breaks before the reply
  kRequestLost,  // the connection breaks before the request is applied
  kCut,          // no bytes pass for less than the session timeout
  kLongCut,      // no bytes pass for longer than the session timeout
  kKilled,       // another client ends the session
  kRestart,      // the leader restarts
  kStopped,      // the caller's stop token is triggered
  kDestroyed,    // the task is destroyed while it waits
};
inline const std::vector<StepFault> kConnectionFaults{StepFault::kReplyLost, StepFault::kRequestLost,
                                                      StepFault::kCut, StepFault::kRestart};
inline const std::vector<StepFault> kSessionFaults{StepFault::kLongCut, StepFault::kKilled};
inline const std::vector<StepFault> kCallerFaults{StepFault::kStopped, StepFault::kDestroyed};
inline const std::vector<StepFault> kAllFaults{
    StepFault::kReplyLost, StepFault::kRequestLost, StepFault::kCut,     StepFault::kRestart,
    StepFault::kLongCut,   StepFault::kKilled,      StepFault::kStopped, StepFault::kDestroyed};

template <class T>
Task<Result<T>> fail_on_signal(std::shared_ptr<Signal> signal) {
  auto waiting = signal->wait({});
  co_await std::move(waiting);
  co_return fail(Errc::kStopped, {}, "destroyed by the test");
}

template <class T>
Task<Result<T>> unless_signalled(Scheduler scheduler, Task<Result<T>> task, std::shared_ptr<Signal> signal) {
  std::vector<Task<Result<T>>> both;
  both.push_back(std::move(task));
  both.push_back(fail_on_signal<T>(signal));
  auto any = run_on(scheduler, when_any(std::move(both)));
  First<Result<T>> first = co_await std::move(any);
  co_return std::move(first.value);
}

class Trial {
 public:
  Trial(RecipeWorld& w, StepFault f, int nth) : world(w), fault(f), nth_(nth) {
    destroy_ = std::make_shared<Signal>(world.client(0).scheduler());
  }

  // Starts a task of client 0, and counts its requests from here.
  template <class T>
  std::shared_ptr<std::optional<Result<T>>> start(Task<Result<T>> task) {
    arm();
    return world.start(unless_signalled(world.client(0).scheduler(), std::move(task), destroy_));
  }
  // The same, and runs it to its end.
  template <class T>
  Result<T> run(Task<Result<T>> task) {
    arm();
    return world.get(unless_signalled(world.client(0).scheduler(), std::move(task), destroy_));
  }
  Wait wait() const { return Wait::forever(stop_.get_token()); }
  bool has_struck() const { return struck_ || (is_trap() && armed_ && !calm_ && !world.has_traps(0)); }
  // The caller has stopped or destroyed the task.
  bool is_given_up() const {
    return struck_ && (fault == StepFault::kStopped || fault == StepFault::kDestroyed);
  }
  bool has_lost_session() const {
    return struck_ && (fault == StepFault::kLongCut || fault == StepFault::kKilled);
  }
  // Ends all faults and waits until background work is finished.
  void calm_down() {
    struck_ = has_struck();
    calm_ = true;
    world.disarm(0);
    world.heal(0);
    world.run_for(Time(15'000));
  }

  RecipeWorld& world;
  const StepFault fault;

 private:
  bool is_trap() const { return fault == StepFault::kReplyLost || fault == StepFault::kRequestLost; }
  void arm() {
    if (std::exchange(armed_, true)) return;
    if (fault == StepFault::kReplyLost) return world.lose_reply(0, "", nth_);
    if (fault == StepFault::kRequestLost) return world.lose_request(0, "", nth_);
    if (fault == StepFault::kNone) return;
    world.at_request(0, "", nth_, [this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.lock()) return;
      struck_ = true;
      strike();
    });
  }
  void strike() {
    switch (fault) {
      case StepFault::kCut: world.cut(0); return heal_after(Time(1500));
      case StepFault::kLongCut: world.cut(0); return heal_after(Time(9000));
      case StepFault::kKilled: return world.kill_session(0);
      case StepFault::kRestart: return world.restart_leader();
      case StepFault::kStopped: stop_.request_stop(); return;
      case StepFault::kDestroyed: destroy_->notify(); return;
      default: return;
    }
  }
  void heal_after(Time time) {
    const Scheduler scheduler = world.client(0).scheduler();
    drover::start(scheduler.sleep(Wait::within(time)),
                  [this, alive = std::weak_ptr<bool>(alive_)](Result<void>) {
                    if (alive.lock()) world.heal(0);
                  });
  }

  int nth_;
  bool armed_ = false;
  bool struck_ = false;
  bool calm_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // The world outlives a trial.
  std::stop_source stop_;
  std::shared_ptr<Signal> destroy_;
};

inline std::string_view name_of(StepFault fault) {
  constexpr std::string_view kNames[] = {"none",   "reply lost", "request lost", "cut",      "long cut",
                                         "killed", "restart",    "stopped",      "destroyed"};
  return kNames[static_cast<std::size_t>(fault)];
}

template <class Scenario>
void for_every_step_of(StepFault fault, const RecipeWorld::Options& options, Scenario& scenario) {
  constexpr int kSteps = 100;  // no scenario has so many requests
  int nth = 1;
  for (; nth < kSteps; ++nth) {
    SCOPED_TRACE(std::string(name_of(fault)) + " at request " + std::to_string(nth) + " with " +
                 std::to_string(options.servers) + " servers");
    RecipeWorld world(options);
    Trial trial(world, fault, nth);
    scenario(trial);
    if (::testing::Test::HasFailure()) return;
    if (!trial.has_struck()) break;
  }
  EXPECT_LT(nth, kSteps);
  EXPECT_GT(nth, 1) << name_of(fault);
}

// Runs with one server and with three; one of three may lag behind.
template <class Scenario>
void for_every_step(const std::vector<StepFault>& faults, RecipeWorld::Options options, Scenario scenario) {
  for (const StepFault fault : faults) {
    for (const int servers : {1, 3}) {
      options.servers = servers;
      for_every_step_of(fault, options, scenario);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace drover::recipes::testing

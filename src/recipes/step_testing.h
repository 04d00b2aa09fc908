// SPDX-License-Identifier: Apache-2.0
//
// One fault at every step of a recipe: a story is told again and again, each time with the fault at the next
// request of client 0, until the story ends before the fault comes.
//
//   for_every_step(kAllFaults, {.clients = 2}, [](Trial& trial) {
//     auto taken = trial.run(queue.take(trial.wait()));
//     ...what must be true now, whatever happened
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
  kReplyLost,    // it is done, and the connection lost before the answer
  kRequestLost,  // it is not done, and the connection lost
  kCut,          // nothing passes for less than the session's timeout
  kLongCut,      // and for more
  kKilled,       // the session is ended from elsewhere
  kRestart,      // of the server that leads
  kStopped,      // the caller asks to stop
  kDestroyed,    // the task is destroyed where it waits
};
inline const std::vector<StepFault> kConnectionFaults{StepFault::kReplyLost, StepFault::kRequestLost,
                                                      StepFault::kCut, StepFault::kRestart};
inline const std::vector<StepFault> kSessionFaults{StepFault::kLongCut, StepFault::kKilled};
inline const std::vector<StepFault> kCallerFaults{StepFault::kStopped, StepFault::kDestroyed};
inline const std::vector<StepFault> kAllFaults{
    StepFault::kReplyLost, StepFault::kRequestLost, StepFault::kCut,     StepFault::kRestart,
    StepFault::kLongCut,   StepFault::kKilled,      StepFault::kStopped, StepFault::kDestroyed};

template <class T>
Task<Result<T>> fail_when_told(std::shared_ptr<Signal> told) {
  auto waiting = told->wait({});
  co_await std::move(waiting);
  co_return fail(Errc::kStopped, {}, "destroyed by the test");
}

template <class T>
Task<Result<T>> unless_told(Scheduler scheduler, Task<Result<T>> task, std::shared_ptr<Signal> told) {
  std::vector<Task<Result<T>>> both;
  both.push_back(std::move(task));
  both.push_back(fail_when_told<T>(told));
  auto any = run_on(scheduler, when_any(std::move(both)));
  First<Result<T>> first = co_await std::move(any);
  co_return std::move(first.value);
}

class Trial {
 public:
  Trial(RecipeWorld& w, StepFault f, int nth) : world(w), fault(f), nth_(nth) {
    told_ = std::make_shared<Signal>(world.client(0).scheduler());
  }

  // Begins a task of client 0, and the count of its requests.
  template <class T>
  std::shared_ptr<std::optional<Result<T>>> start(Task<Result<T>> task) {
    arm();
    return world.start(unless_told(world.client(0).scheduler(), std::move(task), told_));
  }
  // And runs it to its end.
  template <class T>
  Result<T> run(Task<Result<T>> task) {
    arm();
    return world.get(unless_told(world.client(0).scheduler(), std::move(task), told_));
  }
  Wait wait() const { return Wait::forever(stop_.get_token()); }
  bool has_struck() const { return struck_ || (is_trap() && armed_ && !calm_ && !world.has_traps(0)); }
  // The caller does not want it any more.
  bool is_given_up() const {
    return struck_ && (fault == StepFault::kStopped || fault == StepFault::kDestroyed);
  }
  bool has_lost_session() const {
    return struck_ && (fault == StepFault::kLongCut || fault == StepFault::kKilled);
  }
  // Calm again; all that goes on in the background has had its time.
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
      case StepFault::kDestroyed: told_->notify(); return;
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
  std::shared_ptr<Signal> told_;
};

inline std::string_view name_of(StepFault fault) {
  constexpr std::string_view kNames[] = {"none",   "reply lost", "request lost", "cut",      "long cut",
                                         "killed", "restart",    "stopped",      "destroyed"};
  return kNames[static_cast<std::size_t>(fault)];
}

template <class Story>
void for_every_step_of(StepFault fault, const RecipeWorld::Options& options, Story& story) {
  constexpr int kSteps = 100;  // a story that never ends is one too long
  int nth = 1;
  for (; nth < kSteps; ++nth) {
    SCOPED_TRACE(std::string(name_of(fault)) + " at request " + std::to_string(nth) + " with " +
                 std::to_string(options.servers) + " servers");
    RecipeWorld world(options);
    Trial trial(world, fault, nth);
    story(trial);
    if (::testing::Test::HasFailure()) return;
    if (!trial.has_struck()) break;
  }
  EXPECT_LT(nth, kSteps);
  EXPECT_GT(nth, 1) << name_of(fault);
}

// With one server, and with three: of those, clients may be at one that lags behind.
template <class Story>
void for_every_step(const std::vector<StepFault>& faults, RecipeWorld::Options options, Story story) {
  for (const StepFault fault : faults) {
    for (const int servers : {1, 3}) {
      options.servers = servers;
      for_every_step_of(fault, options, story);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace drover::recipes::testing

// SPDX-License-Identifier: Apache-2.0
//
// Runs a recipe with each fault at each message that it sends, and ends a call in each way at each request.
//
//   with_every_fault({.clients = 3}, [](RecipeWorld& world, const Fault& fault) {
//     ... the whole scenario with its checks ...
//   });
//   with_every_ending<Guard>({.clients = 2}, begin, look);
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "drover/signal.h"
#include "drover/task.h"
#include "sim/recipe_world.h"

namespace drover::recipes::testing {

using sim::RecipeWorld;
using std::chrono::milliseconds;

// --- faults ---

// Cuts, heals or disconnects one of `clients` clients, or restarts the leader.
inline void inject_random_fault(RecipeWorld& world, Random& random, std::uint64_t clients) {
  const std::size_t victim = random.below(clients);
  switch (random.below(4)) {
    case 0: return world.disconnect(victim);
    case 1: return world.cut(victim);
    case 2: return world.heal(victim);
    default: return world.restart_leader();
  }
}

// A fault that hits client 0 at its nth message.
struct Fault {
  std::string name;
  std::function<void(RecipeWorld&, int nth)> arm;
  bool ends_session = false;
  bool kills = false;  // the server ends the session before the client can know
};

inline std::vector<Fault> all_faults() {
  const auto cut = [](RecipeWorld& world, int nth, milliseconds time) {
    world.at_request(0, "", nth, [&world, time] {
      world.cut(0);
      world.after(time, [&world] { world.heal(0); });
    });
  };
  return {
      {"the reply is lost", [](RecipeWorld& world, int nth) { world.lose_reply(0, "", nth); }},
      {"the request is lost", [](RecipeWorld& world, int nth) { world.lose_request(0, "", nth); }},
      {"a cut that the session survives",
       [cut](RecipeWorld& world, int nth) { cut(world, nth, milliseconds(1000)); }},
      {"a cut that the session does not survive",
       [cut](RecipeWorld& world, int nth) { cut(world, nth, milliseconds(9000)); }, true},
      {"the session is killed",
       [](RecipeWorld& world, int nth) { world.at_request(0, "", nth, [&world] { world.kill_session(0); }); },
       true, true},
      {"the leader restarts",
       [](RecipeWorld& world, int nth) {
         world.at_request(0, "", nth, [&world] { world.restart_leader(); });
       }},
  };
}

// Runs `scenario` once for each fault and each message of client 0, with one server and with three, up to the
// last message or `messages_max`. The scenario takes (RecipeWorld&, const Fault&) and contains the checks.
template <class Scenario>
void with_every_fault(RecipeWorld::Options options, Scenario scenario, int messages_max = 60) {
  for (const int servers : {1, 3}) {
    options.servers = servers;
    for (const Fault& fault : all_faults()) {
      for (int nth = 1; nth <= messages_max; ++nth) {
        SCOPED_TRACE(fault.name + " at message " + std::to_string(nth) + ", " + std::to_string(servers) +
                     " servers");
        RecipeWorld world(options);
        fault.arm(world, nth);
        scenario(world, fault);
        if (::testing::Test::HasFailure()) return;
        if (world.has_traps(0)) break;
      }
    }
  }
}

// --- ends of a call ---

// Destroys the waiting task when the signal is notified.
template <class T>
Task<Result<T>> until_signalled(std::shared_ptr<Signal> signal) {
  auto waiting = signal->wait(Wait{});
  const Result<void> woken = co_await std::move(waiting);
  co_return fail(woken ? Errc::kStopped : woken.error().code);
}
template <class T>
Task<Result<T>> destroyed_on_signal(Scheduler scheduler, Task<Result<T>> task,
                                    std::shared_ptr<Signal> signal) {
  auto there = scheduler.enter();
  co_await there;
  std::vector<Task<Result<T>>> both;
  both.push_back(std::move(task));
  both.push_back(until_signalled<T>(std::move(signal)));
  auto first = when_any(std::move(both));
  First<Result<T>> ended = co_await std::move(first);
  co_return std::move(ended.value);
}

enum class Ending { kStop, kDestroy, kDeadline };
inline const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::kStop: return "stopped";
    case Ending::kDestroy: return "destroyed";
    case Ending::kDeadline: return "at its deadline";
  }
  return "";
}

// The time at which client 0 sends its nth request in such a world; none if it never does. Worlds are
// deterministic, so another world with the same options has the same times.
template <class Begin, class Look>
std::optional<Clock::time_point> time_of_request(const RecipeWorld::Options& options, Begin begin, Look look,
                                                 int nth) {
  RecipeWorld world(options);
  std::optional<Clock::time_point> at;
  world.at_request(0, "", nth, [&] { at = Clock::now(); });
  std::stop_source stop;
  auto result = world.start(begin(world, Wait::forever(stop.get_token())));
  world.run_until([&] { return at || result->has_value(); }, milliseconds(20'000));
  // End it here: objects that `begin` keeps must not outlive the world, and `look` releases them.
  stop.request_stop();
  world.run_until([&] { return result->has_value(); });
  result.reset();
  world.run_for(milliseconds(2000));
  look(world);
  return at;
}

// Ends an operation of client 0 early. `begin(world, wait)` returns its task. The task is ended right after
// its nth request, for each n, in each way, and finally while it waits without a request. Its result is
// dropped at once. After a while, `look(world)` must find nothing left of it. `begin` must not use client 0
// for anything else.
template <class T, class Begin, class Look>
void with_every_ending(const RecipeWorld::Options& options, Begin begin, Look look,
                       milliseconds settle_time = milliseconds(2000)) {
  constexpr int kMessagesMax = 60;
  constexpr milliseconds kLong(20'000);
  for (const Ending ending : {Ending::kStop, Ending::kDestroy, Ending::kDeadline}) {
    bool more = true;
    for (int nth = 1; more && nth <= kMessagesMax; ++nth) {
      SCOPED_TRACE(std::string(name_of(ending)) + " after request " + std::to_string(nth));
      const auto deadline =
          ending == Ending::kDeadline ? time_of_request(options, begin, look, nth) : std::nullopt;
      RecipeWorld world(options);
      std::stop_source stop;
      Wait wait = Wait::forever(stop.get_token());
      if (ending == Ending::kDeadline) wait.deadline = deadline.value_or(Clock::now() + kLong);
      auto signal = std::make_shared<Signal>(world.client(0).scheduler());
      const auto give_up = [&] {
        if (ending == Ending::kStop) stop.request_stop();
        if (ending == Ending::kDestroy) world.run_on(0, [&] { signal->notify(); });
      };
      world.at_request(0, "", nth, give_up);
      auto task = destroyed_on_signal<T>(world.client(0).scheduler(), begin(world, wait), signal);
      auto result = world.start(std::move(task));
      world.run_until([&] { return result->has_value(); }, kLong);
      more = ending == Ending::kDeadline ? deadline.has_value() : !world.has_traps(0);
      if (!more) give_up();
      EXPECT_TRUE(world.run_until([&] { return result->has_value(); }, milliseconds(1000)))
          << "the call must end promptly";
      result.reset();
      world.run_for(settle_time);
      look(world);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// --- results ---

template <class T>
bool has_ended(const std::shared_ptr<std::optional<T>>& result) {
  return result->has_value();
}
template <class T>
bool succeeded(const std::shared_ptr<std::optional<Result<T>>>& result) {
  return result->has_value() && (*result)->has_value();
}
template <class T>
Errc code_of(const std::shared_ptr<std::optional<Result<T>>>& result) {
  if (!result->has_value() || (*result)->has_value()) return Errc{};
  return (*result)->error().code;
}

}  // namespace drover::recipes::testing

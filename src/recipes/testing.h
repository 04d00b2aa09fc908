// SPDX-License-Identifier: Apache-2.0
//
// What every recipe is put through: each fault at each message it sends, and each way of giving up at each
// place where it waits.
//
//   through_every_fault({.clients = 3}, [](RecipeWorld& world) { ... the whole story, and what must hold ...
//   }); through_every_end({.clients = 2}, begin, look);
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

// A cut, its end, a broken connection or a leader's restart, to any of so many clients.
inline void let_something_happen(RecipeWorld& world, Random& random, std::uint64_t clients) {
  const std::size_t victim = random.below(clients);
  switch (random.below(4)) {
    case 0: return world.disconnect(victim);
    case 1: return world.cut(victim);
    case 2: return world.heal(victim);
    default: return world.restart_leader();
  }
}

// What befalls client 0 at its nth message.
struct Fault {
  std::string name;
  std::function<void(RecipeWorld&, int nth)> arm;
  bool ends_session = false;
  bool kills = false;  // the server ends it before its client could know
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

// Tells `story` once for each fault and each message of client 0, with one server and with three, until there
// is no further message or there were enough. The story takes (RecipeWorld&, const Fault&), checks itself and
// runs to its end.
template <class Story>
void through_every_fault(RecipeWorld::Options options, Story story, int messages_max = 60) {
  for (const int servers : {1, 3}) {
    options.servers = servers;
    for (const Fault& fault : all_faults()) {
      for (int nth = 1; nth <= messages_max; ++nth) {
        SCOPED_TRACE(fault.name + " at message " + std::to_string(nth) + ", " + std::to_string(servers) +
                     " servers");
        RecipeWorld world(options);
        fault.arm(world, nth);
        story(world, fault);
        if (::testing::Test::HasFailure()) return;
        if (world.has_traps(0)) break;
      }
    }
  }
}

// --- giving up ---

// Destroys the task that waits, when it is told to.
template <class T>
Task<Result<T>> until_told(std::shared_ptr<Signal> told) {
  auto waiting = told->wait(Wait{});
  const Result<void> woken = co_await std::move(waiting);
  co_return fail(woken ? Errc::kStopped : woken.error().code);
}
template <class T>
Task<Result<T>> destroyed_when_told(Scheduler scheduler, Task<Result<T>> task, std::shared_ptr<Signal> told) {
  auto there = scheduler.enter();
  co_await there;
  std::vector<Task<Result<T>>> both;
  both.push_back(std::move(task));
  both.push_back(until_told<T>(std::move(told)));
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

// When the nth request of client 0 is sent, in a world like this; none: it never is. A world is the same each
// time, so that this can be learnt from another one.
template <class Begin, class Look>
std::optional<Clock::time_point> time_of_request(const RecipeWorld::Options& options, Begin begin, Look look,
                                                 int nth) {
  RecipeWorld world(options);
  std::optional<Clock::time_point> at;
  world.at_request(0, "", nth, [&] { at = Clock::now(); });
  std::stop_source stop;
  auto result = world.start(begin(world, Wait::forever(stop.get_token())));
  world.run_until([&] { return at || result->has_value(); }, milliseconds(20'000));
  // It must end here: what `begin` has put aside may not outlive the world, and `look` lets it go.
  stop.request_stop();
  world.run_until([&] { return result->has_value(); });
  result.reset();
  world.run_for(milliseconds(2000));
  look(world);
  return at;
}

// Of an operation of client 0: `begin(world, wait)` gives its task, which is given up right behind its nth
// request, for each n, in each way, and at last while it waits without a request. Then, after a while,
// `look(world)` must find nothing of it. Whatever it gives is dropped at once. `begin` may not use client 0
// for anything else.
template <class T, class Begin, class Look>
void through_every_end(const RecipeWorld::Options& options, Begin begin, Look look,
                       milliseconds settle_time = milliseconds(2000)) {
  constexpr int kMessagesMax = 60;
  constexpr milliseconds kLong(20'000);
  for (const Ending ending : {Ending::kStop, Ending::kDestroy, Ending::kDeadline}) {
    bool more = true;
    for (int nth = 1; more && nth <= kMessagesMax; ++nth) {
      SCOPED_TRACE(std::string(name_of(ending)) + " behind request " + std::to_string(nth));
      const auto deadline =
          ending == Ending::kDeadline ? time_of_request(options, begin, look, nth) : std::nullopt;
      RecipeWorld world(options);
      std::stop_source stop;
      Wait wait = Wait::forever(stop.get_token());
      if (ending == Ending::kDeadline) wait.deadline = deadline.value_or(Clock::now() + kLong);
      auto told = std::make_shared<Signal>(world.client(0).scheduler());
      const auto give_up = [&] {
        if (ending == Ending::kStop) stop.request_stop();
        if (ending == Ending::kDestroy) world.run_on(0, [&] { told->notify(); });
      };
      world.at_request(0, "", nth, give_up);
      auto task = destroyed_when_told<T>(world.client(0).scheduler(), begin(world, wait), told);
      auto result = world.start(std::move(task));
      world.run_until([&] { return result->has_value(); }, kLong);
      more = ending == Ending::kDeadline ? deadline.has_value() : !world.has_traps(0);
      if (!more) give_up();
      EXPECT_TRUE(world.run_until([&] { return result->has_value(); }, milliseconds(1000))) << "is prompt";
      result.reset();
      world.run_for(settle_time);
      look(world);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// --- what there is to say of a result ---

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

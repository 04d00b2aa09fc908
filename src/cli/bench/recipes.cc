// SPDX-License-Identifier: Apache-2.0
//
// Loads that are more than single requests: contended locks, and events for many watchers.
#include <fmt/format.h>

#include <atomic>

#include "cli/bench/load.h"
#include "drover/recipes/mutex.h"
#include "drover/signal.h"

namespace drover::cli::observe {
namespace {

using Session = std::shared_ptr<BenchSession>;
using Inside = std::shared_ptr<std::vector<std::atomic<int>>>;

constexpr std::chrono::seconds kEventPatience{5};

// One contender. Measures the time from asking for the lock until it is held.
Task<bool> contend(Session session, std::string path, Inside inside, std::size_t lock) {
  const recipes::Mutex mutex(session->client(), std::move(path));
  for (;;) {
    const auto asked = Steady::now();
    if (session->phases().are_over(asked)) co_return true;
    auto acquiring = mutex.acquire();
    auto guard = co_await std::move(acquiring);
    if (!guard) {
      if (guard.error() == Errc::kClosed) co_return false;
      session->count_error(std::string(name_of(guard.error().code)));
      continue;
    }
    session->count(asked, Steady::now());
    if ((*inside)[lock].fetch_add(1) != 0) session->count_error("two clients held one lock");
    (*inside)[lock].fetch_sub(1);
    auto releasing = guard->release();
    const auto released = co_await std::move(releasing);
    if (!released && released.error() == Errc::kClosed) co_return false;
    if (!released) session->count_error(std::string(name_of(released.error().code)));
  }
}

// One node that everybody watches. Written by one thread at a time, read by all.
struct Round {
  explicit Round(const Scheduler& scheduler) : heard(scheduler) {}
  std::atomic<Steady::time_point> sent{};
  std::atomic<int> left{0};
  Signal heard;  // on the writer's executor
  std::vector<Watch> watches;
};

// Measures the time from sending the write until a watcher gets the event.
Task<bool> write_rounds(Session writer, std::shared_ptr<Round> round, std::string path, std::string data,
                        int watchers) {
  for (;;) {
    const auto now = Steady::now();
    if (writer->phases().are_over(now)) co_return true;
    round->left = watchers;
    round->sent = now;
    auto writing = writer->client().set(path, data);
    const auto written = co_await std::move(writing);
    if (!written && written.error() == Errc::kClosed) co_return false;
    if (!written) {
      writer->count_error(std::string(name_of(written.error().code)));
      continue;
    }
    while (round->left > 0) {
      auto waiting = round->heard.wait(Wait::within(kEventPatience));
      const auto woken = co_await std::move(waiting);
      if (!woken && woken.error() == Errc::kClosed) co_return false;
      if (woken) continue;
      writer->count_error(
          fmt::format("{} watchers without an event after {} s", round->left.load(), kEventPatience.count()));
      break;
    }
  }
}

}  // namespace

void begin_locks(const BenchSessions& sessions) {
  const Plan& plan = sessions.front()->plan();
  const auto locks = static_cast<std::size_t>(plan.keys);
  const auto inside = std::make_shared<std::vector<std::atomic<int>>>(locks);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Session& session = sessions[i];
    session->hold();
    start(run_on(session->client().scheduler(),
                 contend(session, fmt::format("{}/l{}", plan.root, i % locks), inside, i % locks)),
          [session](bool) { session->let_go(); });
  }
}

Result<void> begin_watches(const BenchSessions& sessions) {
  const Plan& plan = sessions.front()->plan();
  const Session writer = sessions.front();
  const Scheduler scheduler = writer->client().scheduler();
  const auto round = std::make_shared<Round>(scheduler);
  const std::string path = key_path(plan, 0);
  std::vector<Task<Result<void>>> sets;
  for (std::size_t i = 1; i < sessions.size(); ++i) {
    const std::weak_ptr<Round> weak = round;
    round->watches.emplace_back([weak, session = sessions[i], scheduler](const WatchEvent&) {
      const auto told = weak.lock();
      if (!told) return;
      session->count(told->sent, Steady::now());
      if (told->left.fetch_sub(1) == 1) scheduler.post([told] { told->heard.notify(); });
    });
    sets.push_back(sessions[i]->client().add_watch(path, WatchMode::kPersistent, round->watches.back()));
  }
  for (auto& set : sync_wait(when_all(std::move(sets)))) {
    if (!set) return set;
  }
  writer->hold();
  start(run_on(scheduler,
               write_rounds(writer, round, path, std::string(static_cast<std::size_t>(plan.size), 'x'),
                            static_cast<int>(sessions.size()) - 1)),
        [writer, round](bool) { writer->let_go(); });
  return {};
}

}  // namespace drover::cli::observe

// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/reentrant_mutex.h"

#include <compare>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "recipes/locks/holding.h"

namespace drover::recipes {
namespace {

struct Key {
  const void* owner = nullptr;
  std::thread::id thread{};
  friend auto operator<=>(const Key&, const Key&) = default;
};

}  // namespace

struct ReentrantMutex::State {
  State(Client client, std::string path, MutexOptions options)
      : scheduler(client.scheduler()), mutex(std::move(client), std::move(path), std::move(options)) {}

  // Another guard for the owner's lock, if it holds one.
  Guard share(const Key& key) {
    const std::lock_guard lock(guards);
    const auto found = held.find(key);
    if (found == held.end()) return {};
    const auto holding = found->second.lock();
    if (!holding || holding->lost.stop_requested() || !holding->share()) {
      held.erase(found);
      return {};
    }
    return Guard(holding);
  }
  void remember(const Key& key, const Guard& guard) {
    const std::lock_guard lock(guards);
    std::erase_if(held, [](const auto& each) { return each.second.expired(); });
    held[key] = guard.holding();
  }

  static Task<Result<Guard>> acquire(std::shared_ptr<State> state, Key key, Wait wait) {
    if (Guard again = state->share(key)) co_return again;
    auto acquiring = state->mutex.acquire(std::move(wait));
    Result<Guard> guard = co_await std::move(acquiring);
    if (guard) state->remember(key, *guard);
    co_return guard;
  }

  static Task<Result<Guard>> of_nobody() {
    co_return fail(Errc::kBadConfig, {}, "on the executor, pass an Owner");
  }

  const Scheduler scheduler;
  const Mutex mutex;
  std::mutex guards;
  std::map<Key, std::weak_ptr<Holding>> held;
};

ReentrantMutex::ReentrantMutex(Client client, std::string path, MutexOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), std::move(options))) {}

Task<Result<Guard>> ReentrantMutex::acquire(Wait wait) const {
  // All coroutines share that thread, so each would share the lock of any other.
  if (state_->scheduler.is_current()) return State::of_nobody();
  return State::acquire(state_, Key{.thread = std::this_thread::get_id()}, std::move(wait));
}

Task<Result<Guard>> ReentrantMutex::acquire(const Owner& owner, Wait wait) const {
  return State::acquire(state_, Key{.owner = &owner}, std::move(wait));
}

}  // namespace drover::recipes

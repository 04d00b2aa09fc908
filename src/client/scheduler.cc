// SPDX-License-Identifier: Apache-2.0
#include "drover/scheduler.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "client/core.h"

namespace drover {

using client::Call;
using client::CallAwaiter;
using client::CallOf;
using client::ClientCore;

namespace {

thread_local const std::function<Clock::time_point()>* clock_override = nullptr;

Task<Result<void>> sleep_on(std::shared_ptr<ClientCore> core, Wait wait) {
  auto timer = std::make_shared<CallOf<void>>(+[](wire::Reader&, const Call&) { return Result<void>{}; });
  timer->kind = Call::Kind::kTimer;
  timer->deadline = client::to_instant(wait.deadline);
  CallAwaiter waiting(core, timer, wait.stop);
  co_await waiting;
  Result<void> result = *std::move(timer->result);
  if (!result && result.error() == Errc::kDeadline) result = {};
  co_return result;
}

}  // namespace

Clock::time_point Clock::now() {
  return clock_override != nullptr ? (*clock_override)() : std::chrono::steady_clock::now();
}

ClockOverride::ClockOverride(std::function<Clock::time_point()> now)
    : now_(std::move(now)), before_(std::exchange(clock_override, &now_)) {}
ClockOverride::~ClockOverride() { clock_override = before_; }

bool Scheduler::Enter::await_ready() const { return core_->strand().is_current(); }
void Scheduler::Enter::await_suspend(std::coroutine_handle<> waiting) {
  const auto core = core_;  // The coroutine, and this object, may be destroyed before post() returns.
  const auto place = std::make_shared<std::coroutine_handle<>>(waiting);
  place_ = place;
  core->strand().post([place] {
    if (*place) std::exchange(*place, nullptr).resume();
  });
}

bool Scheduler::is_current() const { return core_->strand().is_current(); }
void Scheduler::post(std::move_only_function<void()> work) const { core_->strand().post(std::move(work)); }
Task<Result<void>> Scheduler::sleep(Wait until) const { return sleep_on(core_, std::move(until)); }

// --- Completion ---

namespace detail {

struct Completion::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_set = false;
};

Completion::Completion() : state_(std::make_unique<State>()) {}
Completion::~Completion() = default;
void Completion::set() {
  const std::lock_guard lock(state_->mutex);
  state_->is_set = true;
  state_->changed.notify_one();
}
void Completion::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->is_set; });
}

}  // namespace detail
}  // namespace drover

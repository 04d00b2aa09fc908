// SPDX-License-Identifier: Apache-2.0
#include "drover/signal.h"

#include <utility>

#include "base/ensure.h"
#include "client/core.h"

namespace drover {

using client::Call;
using client::ClientCore;

struct Signal::State : std::enable_shared_from_this<State> {
  explicit State(Scheduler s) : scheduler(std::move(s)) {}

  void notify() {
    set = true;
    if (waiting) wake();
  }
  // Deferred, because the notifier may be in the middle of something. By then the waiter may be gone, or may
  // wait again.
  void wake() {
    scheduler.post([self = shared_from_this(), wait = waits] {
      if (wait == self->waits && self->waiting) std::exchange(self->waiting, nullptr).resume();
    });
  }

  Scheduler scheduler;
  bool set = false;
  std::coroutine_handle<> waiting{};
  std::uint64_t waits = 0;  // number of waits so far
};

namespace {

// Notifies the waiter, which may be gone.
class WaitTimer final : public Call {
 public:
  using OnEnd = std::move_only_function<void(Error)>;
  explicit WaitTimer(OnEnd on_end) : on_end_(std::move(on_end)) { kind = Kind::kTimer; }

  void on_answer(const wire::ReplyHeader&, std::string_view) override {}
  void on_error(Error error) override { error_ = std::move(error); }
  void on_ended() override { on_end_(std::move(error_)); }

 private:
  Error error_;
  OnEnd on_end_;
};

}  // namespace

// One wait and its timer, which the engine ends.
struct Signal::Awaiter {
  Awaiter(State& s, const Wait& w) : state(s), wait(w) {}
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;
  ~Awaiter() {
    state.waiting = nullptr;
    ++state.waits;
    on_stop.reset();
    if (timer) core().command([t = timer](client::Engine& engine, Instant) { engine.abandon(t); });
  }
  ClientCore& core() const { return *state.scheduler.core(); }

  bool await_ready() const { return state.set; }
  void await_suspend(std::coroutine_handle<> waiting) {
    ENSURE(!state.waiting, "a signal has one waiter at a time");
    state.waiting = waiting;
    begin_timer();  // Even without a deadline: closing the client ends the wait.
  }
  void await_resume() {}

  void begin_timer() {
    timer = std::make_shared<WaitTimer>([this, alive = std::weak_ptr<bool>(here)](Error why) {
      if (!alive.lock()) return;
      timer.reset();
      error = std::move(why);
      if (state.waiting) std::exchange(state.waiting, nullptr).resume();
    });
    timer->deadline = client::to_instant(wait.deadline);
    if (wait.stop.stop_possible()) on_stop.emplace(wait.stop, Stop{state.scheduler.core(), timer});
    core().submit(timer);
  }

  struct Stop {
    std::shared_ptr<ClientCore> core;
    std::shared_ptr<Call> timer;
    void operator()() const {
      core->command(
          [t = timer](client::Engine& engine, Instant now) { engine.cancel(t, Errc::kStopped, now); });
    }
  };

  State& state;
  const Wait& wait;
  std::optional<Error> error{};
  std::shared_ptr<Call> timer{};
  std::optional<std::stop_callback<Stop>> on_stop{};
  std::shared_ptr<bool> here = std::make_shared<bool>();
};

Signal::Signal(Scheduler scheduler) : state_(std::make_shared<State>(std::move(scheduler))) {}
bool Signal::is_set() const { return state_->set; }
const Scheduler& Signal::scheduler() const { return state_->scheduler; }
void Signal::notify() { state_->notify(); }

Task<Result<void>> Signal::wait(Wait wait) { return wait_for(state_, std::move(wait)); }

Task<Result<void>> Signal::wait_for(std::shared_ptr<State> state, Wait wait) {
  auto there = state->scheduler.enter();
  co_await there;
  Awaiter waiting(*state, wait);
  co_await waiting;
  if (!state->set && waiting.error) co_return std::unexpected(*waiting.error);
  state->set = false;
  co_return Result<void>{};
}

Watch Signal::watch() const {
  return Watch([weak = std::weak_ptr<State>(state_)](const WatchEvent&) {
    if (const auto state = weak.lock()) state->notify();
  });
}

}  // namespace drover

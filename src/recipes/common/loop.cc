// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/loop.h"

#include <utility>

#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

// Errors that a new connection or session fixes.
bool passes(const Error& error) {
  return error.error_class() == ErrorClass::kRecoverable || error == Errc::kSessionExpired;
}

}  // namespace

Loop::Loop(Client client) : client_(std::move(client)), changed_(client_.scheduler()) {}

void Loop::begin() {
  client_.scheduler().post([self = shared_from_this()] {
    if (std::exchange(self->begun_, true)) return;
    start(run(self));
  });
}

void Loop::end() {
  client_.scheduler().post([self = shared_from_this()] {
    self->stop_.request_stop();
    self->again();
    if (!std::exchange(self->begun_, true)) start(run(self));  // for on_end()
  });
}

void Loop::tell() {
  for (Signal* each : listeners_) each->notify();
}

// A round is a read and a wait. The loop ends with the recipe or the client.
Task<Result<void>> Loop::rounds(std::shared_ptr<Loop> self) {
  GrowingPause pause;
  while (!self->is_ending()) {
    self->wake_at_ = Clock::time_point::max();
    auto looking = self->look(Wait::forever(self->stop_.get_token()));
    const Result<void> looked = co_await std::move(looking);
    if (self->is_ending()) break;
    if (looked) {
      pause.reset();
    } else {
      if (!passes(looked.error())) self->on_failure(looked.error());
      self->wake_at(Clock::now() + pause.next());
    }
    self->tell();
    auto waiting = self->changed_.wait(Wait::until(self->wake_at_, self->stop_.get_token()));
    const Result<void> woken = co_await std::move(waiting);
    if (!woken && woken.error() != Errc::kDeadline) break;
  }
  co_return Result<void>{};
}

Task<Result<void>> Loop::run(std::shared_ptr<Loop> self) {
  self->states_ = self->client_.on_state([weak = self->weak_from_this()](const StateEvent& event) {
    const auto loop = weak.lock();
    if (!loop || loop->over_) return;
    loop->on_state(event);
    loop->again();
  });
  // Wait for the first connection state, which would otherwise cause a second read.
  auto beginning = self->changed_.wait(Wait::forever(self->stop_.get_token()));
  co_await std::move(beginning);
  auto going = rounds(self);
  co_await std::move(going);
  auto finishing = self->finish();
  const Result<void> finished = co_await std::move(finishing);
  self->over_ = true;
  self->states_.reset();
  self->on_end();
  self->tell();
  co_return finished;
}

Task<Result<void>> Loop::finish() { co_return Result<void>{}; }

// Registers a signal while a coroutine waits, and removes it also if the coroutine is destroyed.
class Loop::Listener {
 public:
  explicit Listener(Loop& loop) : loop_(loop), signal(loop.client_.scheduler()) {
    loop_.listeners_.insert(&signal);
  }
  ~Listener() { loop_.listeners_.erase(&signal); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  Loop& loop_;

 public:
  Signal signal;
};

Task<Result<void>> Loop::until(std::shared_ptr<Loop> loop, Condition done, Wait wait) {
  auto there = loop->client_.scheduler().enter();
  co_await there;
  Listener listener(*loop);
  for (;;) {
    const Result<bool> is_done = done();
    if (!is_done) co_return std::unexpected(is_done.error());
    if (*is_done) co_return Result<void>{};
    if (loop->over_) co_return fail(Errc::kClosed);
    auto waiting = listener.signal.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return woken;
  }
}

}  // namespace drover::recipes

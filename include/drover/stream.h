// SPDX-License-Identifier: Apache-2.0
//
// An asynchronous sequence of values: ordered, and none is lost.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "drover/signal.h"

namespace drover {

template <class T>
class Stream;

// The writing end. Use it on the executor.
template <class T>
class StreamSource {
 public:
  explicit StreamSource(Scheduler scheduler) : state_(std::make_shared<State>(std::move(scheduler))) {}

  void push(T value) {
    if (state_->closed) return;
    state_->values.push_back(std::move(value));
    state_->signal.notify();
  }
  void close() {
    state_->closed = true;
    state_->signal.notify();
  }
  // The reading end; there is only one.
  Stream<T> stream() const { return Stream<T>(state_); }
  // The reader is gone.
  bool is_abandoned() const { return state_.use_count() == 1; }

 private:
  friend class Stream<T>;
  struct State {
    explicit State(Scheduler scheduler) : signal(std::move(scheduler)) {}
    Signal signal;
    std::deque<T> values;
    bool closed = false;
  };
  std::shared_ptr<State> state_;
};

// The reading end. Use it from any thread, with one reader at a time.
template <class T>
class Stream {
 public:
  // kEndOfStream after the last value; kDeadline; kStopped.
  Task<Result<T>> next(Wait wait = {}) { return next_of(state_, std::move(wait)); }

 private:
  using State = typename StreamSource<T>::State;
  friend class StreamSource<T>;
  explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}

  static Task<Result<T>> next_of(std::shared_ptr<State> state, Wait wait) {
    auto there = state->signal.scheduler().enter();
    co_await there;
    while (state->values.empty()) {
      if (state->closed) co_return fail(Errc::kEndOfStream);
      auto waiting = state->signal.wait(wait);
      Result<void> woken = co_await std::move(waiting);
      if (!woken) co_return std::unexpected(std::move(woken).error());
    }
    T value = std::move(state->values.front());
    state->values.pop_front();
    co_return value;
  }

  std::shared_ptr<State> state_;
};

}  // namespace drover

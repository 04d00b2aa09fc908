// SPDX-License-Identifier: Apache-2.0
//
// A client's executor: its coroutines, callbacks and timers run here, one at a time. State that is used only
// here needs no lock. Recipes begin their public coroutines with
//
//   co_await client.scheduler().enter();
#pragma once

#include <coroutine>
#include <functional>
#include <memory>

#include "drover/error.h"
#include "drover/task.h"
#include "drover/wait.h"

namespace drover {

namespace client {
class ClientCore;
}

// A handle; it does not keep the session open.
class Scheduler {
 public:
  explicit Scheduler(std::shared_ptr<client::ClientCore> core) : core_(std::move(core)) {}

  // Resumes on the executor; at once, if already there.
  class Enter {
   public:
    explicit Enter(std::shared_ptr<client::ClientCore> core) : core_(std::move(core)) {}
    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;
    ~Enter() {
      if (place_) *place_ = nullptr;
    }
    bool await_ready() const;
    void await_suspend(std::coroutine_handle<> waiting);
    void await_resume() const {}

   private:
    std::shared_ptr<client::ClientCore> core_;
    std::shared_ptr<std::coroutine_handle<>> place_;  // the coroutine to resume, if it still exists
  };
  Enter enter() const { return Enter(core_); }

  bool is_current() const;
  // Safe to call from any thread; never runs `work` before it returns.
  void post(std::move_only_function<void()> work) const;
  // Waits until the deadline. kStopped: a stop was requested; kClosed: the client has ended.
  Task<Result<void>> sleep(Wait until) const;

  // For the library itself.
  const std::shared_ptr<client::ClientCore>& core() const { return core_; }

 private:
  std::shared_ptr<client::ClientCore> core_;
};

// Runs the whole task on the executor. Safe to call from any thread.
template <class T>
Task<T> run_on(Scheduler scheduler, Task<T> task) {
  auto there = scheduler.enter();
  co_await there;
  co_return co_await std::move(task);
}

}  // namespace drover

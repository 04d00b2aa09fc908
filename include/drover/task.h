// SPDX-License-Identifier: Apache-2.0
//
// An asynchronous operation, and the three ways to run it:
//
//   Result<NodeData> r = co_await client.get("/a");          // in a coroutine
//   Result<NodeData> r = sync_wait(client.get("/a"));        // blocking this thread
//   start(client.get("/a"), [](Result<NodeData> r) { ... }); // with a callback
//
// Tasks are lazy: nothing happens before one of the three. Destroying a waiting Task cancels it; do that on
// the client's executor (Scheduler), where everything else about it happens.
//
// Coroutines take parameters by value, because the caller's may be gone before the coroutine runs.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "drover/error.h"

namespace drover {

template <class T>
class Task;

namespace detail {

class PromiseBase {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return self.promise().continuation_;
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  void set_continuation(std::coroutine_handle<> continuation) { continuation_ = continuation; }

 private:
  std::coroutine_handle<> continuation_ = std::noop_coroutine();
};

template <class T>
class Promise : public PromiseBase {
 public:
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& value) {
    result_.template emplace<1>(std::forward<U>(value));
  }
  void unhandled_exception() { result_.template emplace<2>(std::current_exception()); }
  T take() {
    if (result_.index() == 2) std::rethrow_exception(std::get<2>(result_));
    return std::move(std::get<1>(result_));
  }

 private:
  std::variant<std::monostate, T, std::exception_ptr> result_;
};

template <>
class Promise<void> : public PromiseBase {
 public:
  Task<void> get_return_object();
  void return_void() {}
  void unhandled_exception() { error_ = std::current_exception(); }
  void take() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() { destroy(); }

  explicit operator bool() const { return handle_ != nullptr; }

  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle handle;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
        handle.promise().set_continuation(waiting);
        return handle;
      }
      T await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  void destroy() {
    if (handle_) handle_.destroy();
  }

  Handle handle_;
};

namespace detail {

template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

// A coroutine that owns itself.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

template <class T>
struct IsResult : std::false_type {};
template <class T>
struct IsResult<std::expected<T, Error>> : std::true_type {};

// True if this thread is running a client's callbacks now.
bool is_on_executor();
[[noreturn]] void die_of_blocking();

// One thread waits for another.
class Completion {
 public:
  Completion();
  ~Completion();
  void set();
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The task and everything it owns are destroyed before its end is reported.
template <class T, class Done>
Detached run(Task<T> task, Done done) {
  std::optional<T> result;
  std::exception_ptr error;
  {
    Task<T> own = std::move(task);
    try {
      result.emplace(co_await std::move(own));
    } catch (...) {
      error = std::current_exception();
    }
  }
  done(std::move(result), error);
}

}  // namespace detail

// Blocks until the task has ended. On a thread that runs a client's callbacks it would wait for itself: then
// tasks with a Result return kWouldBlock, and others end the process with a message.
template <class T>
T sync_wait(Task<T> task) {
  if (detail::is_on_executor()) {
    if constexpr (detail::IsResult<T>::value) {
      return fail(Errc::kWouldBlock, {}, "sync_wait() was called on a client's executor; use co_await there");
    } else {
      detail::die_of_blocking();
    }
  }
  std::optional<T> result;
  std::exception_ptr error;
  detail::Completion completion;
  detail::run(std::move(task), [&](std::optional<T> value, const std::exception_ptr& thrown) {
    result = std::move(value);
    error = thrown;
    completion.set();
  });
  completion.wait();
  if (error) std::rethrow_exception(error);
  return *std::move(result);
}

// Runs the task until it first waits, then wherever it is resumed; the callback runs there with the result.
// An exception from the task or the callback ends the process.
template <class T>
void start(Task<T> task, std::type_identity_t<std::move_only_function<void(T)>> callback) {
  detail::run(std::move(task), [callback = std::move(callback)](std::optional<T> value,
                                                                const std::exception_ptr& thrown) mutable {
    if (thrown) std::rethrow_exception(thrown);
    callback(*std::move(value));
  });
}
template <class T>
void start(Task<T> task) {
  start(std::move(task), [](T) {});
}

namespace detail {

// Several concurrent tasks. The one that brings `left` to zero resumes the waiter.
struct Group {
  std::atomic<std::size_t> left{0};
  std::coroutine_handle<> waiting;

  std::coroutine_handle<> on_end() noexcept {
    return left.fetch_sub(1, std::memory_order_acq_rel) == 1 ? waiting : std::noop_coroutine();
  }
};

class Child {
 public:
  struct promise_type {
    Group* group = nullptr;
    Child get_return_object() { return Child(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().group->on_end();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  explicit Child(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Child(Child&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (handle_) handle_.destroy();
  }
  void begin(Group& group) {
    handle_.promise().group = &group;
    handle_.resume();
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

template <class T>
Child run_child(Task<T> task, std::optional<T>& slot) {
  slot.emplace(co_await std::move(task));
}

// Starts all of them; resumes when the group is done.
struct AwaitGroup {
  Group& group;
  std::vector<Child>& children;
  bool until_first;

  bool await_ready() noexcept { return children.empty(); }
  // The loop holds one count, so that the waiter is not resumed while children are still being started.
  bool await_suspend(std::coroutine_handle<> waiting) {
    group.waiting = waiting;
    group.left = until_first ? 2 : children.size() + 1;
    for (Child& child : children) {
      child.begin(group);
      if (until_first && group.left.load(std::memory_order_acquire) != 2) break;
    }
    return group.left.fetch_sub(1, std::memory_order_acq_rel) != 1;
  }
  void await_resume() noexcept {}
};

// One per task, with a slot for its result.
template <class T>
std::vector<Child> children_of(std::vector<Task<T>>& tasks, std::vector<std::optional<T>>& slots) {
  std::vector<Child> children;
  children.reserve(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    children.push_back(run_child(std::move(tasks[i]), slots[i]));
  }
  return children;
}

}  // namespace detail

// Runs all concurrently; the results are in the order of the tasks.
template <class T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  std::vector<std::optional<T>> slots(tasks.size());
  detail::Group group;
  std::vector<detail::Child> children = detail::children_of(tasks, slots);
  detail::AwaitGroup all{group, children, false};
  co_await all;
  std::vector<T> results;
  results.reserve(slots.size());
  for (std::optional<T>& slot : slots) results.push_back(*std::move(slot));
  co_return results;
}

template <class T>
struct First {
  std::size_t index = 0;
  T value;
};

// Runs all until the first has ended, then cancels the others. Await it on the executor that all of them run
// on. Needs at least one task.
template <class T>
Task<First<T>> when_any(std::vector<Task<T>> tasks) {
  std::vector<std::optional<T>> slots(tasks.size());
  detail::Group group;
  std::vector<detail::Child> children = detail::children_of(tasks, slots);
  detail::AwaitGroup first{group, children, true};
  co_await first;
  std::size_t i = 0;
  while (!slots.at(i)) ++i;
  co_return First<T>{i, *std::move(slots[i])};
}

}  // namespace drover

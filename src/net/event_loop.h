// SPDX-License-Identifier: Apache-2.0
//
// One thread's epoll: waits for sockets, calls their handlers, and can be woken from other threads.
//
// Level-triggered only: a connection costs one epoll_ctl in its life, and one epoll_wait serves all
// connections that are ready. Callers provide their own queues between threads; the loop only guarantees that
// a wake() after a push makes run_once() return, so that the caller checks its queue.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "net/descriptor.h"

namespace drover::net {

class EventLoop {
 public:
  // The handler of a registered descriptor. The loop does not own it; remove it before it is destroyed.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_ready(std::uint32_t epoll_events) = 0;
  };

  static IoResult<std::unique_ptr<EventLoop>> create();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // All functions except wake() must be called on the loop's thread; handlers may call them.
  IoResult<void> add(int fd, std::uint32_t epoll_events, Handler* handler);
  void modify(int fd, std::uint32_t epoll_events, Handler* handler);
  // Call it before the descriptor is closed. After that, `handler` is not called even for events that this
  // round has already read, so it may be destroyed at once, even from its own on_ready().
  void remove(int fd, Handler* handler);

  // Waits until a descriptor is ready, wake() is called or the timeout (-1: none) expires; then calls the
  // handlers and returns how many it called. One system call. A signal ends the wait like an early timeout.
  int run_once(int timeout_ms) { return dispatch(wait(timeout_ms)); }
  // The two halves of run_once(), for callers whose handlers share data with other threads and must unlock it
  // while the loop sleeps. wait() returns what dispatch() takes.
  int wait(int timeout_ms);
  int dispatch(int ready);

  // Safe to call from any thread and from signal handlers. Data stored before wake() is visible to the loop's
  // thread after the run_once() that it ends. Costs a system call only if the loop sleeps, and then only for
  // the first of many calls.
  void wake();

  // The time of this round, read once after each wait. A handler that ran for long calls refresh_now().
  Instant now() const { return now_; }
  Instant refresh_now() { return now_ = clock(); }
  // Safe to call from any thread.
  static Instant clock();

 private:
  static constexpr int kEventsPerRound = 512;
  enum class State : int { kAwake, kAsleep, kNotified };

  EventLoop(Descriptor epoll, Descriptor wakeup);

  Descriptor epoll_;
  Descriptor wakeup_;
  std::atomic<State> state_{State::kAwake};
  Instant now_;
  // The events of the current round that are not dispatched yet are [next_, count_).
  std::array<epoll_event, kEventsPerRound> events_;
  int next_ = 0;
  int count_ = 0;
};

}  // namespace drover::net

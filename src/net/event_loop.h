// SPDX-License-Identifier: Apache-2.0
//
// One thread's epoll: waits for sockets, calls their handlers, and can be woken from other threads.
//
// Level-triggered and nothing more: a connection costs one epoll_ctl in its life, a round of requests one
// epoll_wait for all connections that are ready. Mailboxes between threads are the caller's; the loop
// only promises that a wake() after a push makes run_once() return, so that the caller looks.
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
  // What a registered descriptor calls. The loop does not own it; it must be removed before it dies.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_ready(std::uint32_t epoll_events) = 0;
  };

  static IoResult<std::unique_ptr<EventLoop>> create();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // All but wake() belong to the loop's thread, and may be called from handlers.
  IoResult<void> add(int fd, std::uint32_t epoll_events, Handler* handler);
  void modify(int fd, std::uint32_t epoll_events, Handler* handler);
  // Before the descriptor is closed. From here on `handler` is not called for anything this round has
  // already seen, so that it may be destroyed at once, even from within its own on_ready().
  void remove(int fd, Handler* handler);

  // Waits until something is ready, a wake() came or the time is over (-1: never), calls the handlers and
  // returns how many it called. One system call. A signal ends the wait like an early timeout.
  int run_once(int timeout_ms) { return dispatch(wait(timeout_ms)); }
  // Its two halves, for whoever shares what handlers touch with other threads and must let go of it while
  // the loop sleeps. The first gives the second what is ready.
  int wait(int timeout_ms);
  int dispatch(int ready);

  // From any thread and from signal handlers. What was stored before wake() is visible to the loop's
  // thread after the run_once() that it ends. Costs a system call only when the loop sleeps, and then
  // only the first of many.
  void wake();

  // Of this round: read once after each wait. refresh_now() where a handler worked for long.
  Instant now() const { return now_; }
  Instant refresh_now() { return now_ = clock(); }
  // From any thread.
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

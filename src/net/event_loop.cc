// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/ensure.h"

namespace drover::net {

IoResult<std::unique_ptr<EventLoop>> EventLoop::create() {
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return std::unexpected(io_error(errno, "cannot create an epoll instance"));
  Descriptor wakeup(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wakeup) return std::unexpected(io_error(errno, "cannot create an eventfd"));

  // Edge-triggered, and never read: each write is a separate edge, which saves the read after every wake-up.
  // The counter would need 2^64 wake-ups to overflow. Its event has a null handler.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  if (::epoll_ctl(epoll.fd(), EPOLL_CTL_ADD, wakeup.fd(), &event) != 0) {
    return std::unexpected(io_error(errno, "cannot watch an eventfd"));
  }
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll), std::move(wakeup)));
}

EventLoop::EventLoop(Descriptor epoll, Descriptor wakeup)
    : epoll_(std::move(epoll)), wakeup_(std::move(wakeup)) {
  static_assert(std::atomic<State>::is_always_lock_free, "wake() is called from signal handlers");
  refresh_now();
}

IoResult<void> EventLoop::add(int fd, std::uint32_t epoll_events, Handler* handler) {
  ENSURE(handler != nullptr, "a watched descriptor has a handler");
  epoll_event event{};
  event.events = epoll_events;
  event.data.ptr = handler;
  if (::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return std::unexpected(io_error(errno, "cannot watch a descriptor"));
  }
  return {};
}

void EventLoop::modify(int fd, std::uint32_t epoll_events, Handler* handler) {
  epoll_event event{};
  event.events = epoll_events;
  event.data.ptr = handler;
  const int rc = ::epoll_ctl(epoll_.fd(), EPOLL_CTL_MOD, fd, &event);
  ENSURE(rc == 0, "only a watched descriptor is modified");
}

void EventLoop::remove(int fd, Handler* handler) {
  const int rc = ::epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
  ENSURE(rc == 0, "only a watched descriptor is removed, and before it is closed");
  // The kernel no longer watches the descriptor, but this round's events were copied out before. A new
  // handler may be allocated at the same address, so a later lookup of the address is not enough.
  for (int i = next_; i < count_; ++i) {
    auto& event = events_[static_cast<std::size_t>(i)];
    if (event.data.ptr == handler) event.data.ptr = nullptr;
  }
}

int EventLoop::wait(int timeout_ms) {
  ENSURE(next_ == count_, "handlers do not run the loop that runs them");
  // The thread that changes kAsleep to kNotified writes to the eventfd. A wake() during our work has set
  // kNotified without a system call: then poll, but do not sleep.
  State expected = State::kAwake;
  const bool may_sleep = timeout_ms != 0 && state_.compare_exchange_strong(expected, State::kAsleep);
  const int count = ::epoll_wait(epoll_.fd(), events_.data(), kEventsPerRound, may_sleep ? timeout_ms : 0);
  const int wait_errno = errno;
  // Acquires the data stored before the wake() that ended this wait.
  state_.exchange(State::kAwake);
  ENSURE(count >= 0 || wait_errno == EINTR, "epoll_wait fails only for a signal");
  refresh_now();
  return count > 0 ? count : 0;
}

int EventLoop::dispatch(int ready) {
  int called = 0;
  count_ = ready;
  next_ = 0;
  while (next_ < count_) {
    const epoll_event event = events_[static_cast<std::size_t>(next_++)];
    if (event.data.ptr == nullptr) continue;  // Our wake-up, or removed in this round.
    static_cast<Handler*>(event.data.ptr)->on_ready(event.events);
    ++called;
  }
  return called;
}

void EventLoop::wake() {
  if (state_.exchange(State::kNotified) != State::kAsleep) return;
  const int saved_errno = errno;  // A signal handler must not change it.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.fd(), &one, sizeof one);
  errno = saved_errno;
}

Instant EventLoop::clock() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Instant{static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000};
}

}  // namespace drover::net

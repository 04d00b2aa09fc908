// SPDX-License-Identifier: Apache-2.0
//
// How long to wait: one absolute deadline for a whole call, however many steps it takes, and a stop token.
// Ending a wait never ends the session.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <utility>

namespace drover {

// The steady clock, unless a test overrides it.
struct Clock {
  using duration = std::chrono::steady_clock::duration;
  using time_point = std::chrono::steady_clock::time_point;
  static time_point now();
};

// While it exists, Clock::now() on this thread calls `now`.
class ClockOverride {
 public:
  explicit ClockOverride(std::function<Clock::time_point()> now);
  ~ClockOverride();
  ClockOverride(const ClockOverride&) = delete;
  ClockOverride& operator=(const ClockOverride&) = delete;

 private:
  std::function<Clock::time_point()> now_;
  const std::function<Clock::time_point()>* before_;
};

struct Wait {
  Clock::time_point deadline = Clock::time_point::max();
  std::stop_token stop{};

  static Wait forever(std::stop_token stop = {}) { return {Clock::time_point::max(), std::move(stop)}; }
  static Wait until(Clock::time_point deadline, std::stop_token stop = {}) {
    return {deadline, std::move(stop)};
  }
  static Wait within(Clock::duration time, std::stop_token stop = {}) {
    return {Clock::now() + time, std::move(stop)};
  }
  // Do not wait for other clients. Requests that find out whether waiting is needed are still made.
  static Wait poll() { return {Clock::time_point::min(), {}}; }

  bool is_poll() const { return deadline == Clock::time_point::min(); }
  bool is_over() const { return stop.stop_requested() || Clock::now() >= deadline; }
};

}  // namespace drover

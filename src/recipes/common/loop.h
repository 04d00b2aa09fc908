// SPDX-License-Identifier: Apache-2.0
//
// The background part of a recipe: it reads the tree, sets watches, waits, and reads again.
//
// Every event and every change of the connection means "read again": a watch may report two changes as one,
// and persistent watches report nothing about changes during a lost connection. One read runs at a time; an
// event during it causes another one.
//
// The recipe object of the user owns only a shared_ptr to its loop. Its destructor calls end() and returns;
// the loop finishes on the client's executor.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "drover/client.h"
#include "drover/signal.h"

namespace drover::recipes {

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  explicit Loop(Client client);
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Safe to call from any thread. Only the first call has an effect.
  void begin();
  // Safe to call from any thread. Stops what is in progress; on_end() is the last step.
  void end();
  Scheduler scheduler() const { return client_.scheduler(); }

  // --- on the executor ---
  // Requests another read.
  void again() { changed_.notify(); }
  bool is_ending() const { return stop_.stop_requested(); }
  // Callers of until() check their condition again.
  void tell();
  // Waits until `done` returns true or an error; kClosed if the loop ends before.
  using Condition = std::function<Result<bool>()>;
  static Task<Result<void>> until(std::shared_ptr<Loop> loop, Condition done, Wait wait);

 protected:
  // One read. After an error it is retried at growing intervals.
  virtual Task<Result<void>> look(Wait wait) = 0;
  // A read follows in any case.
  virtual void on_state(const StateEvent&) {}
  // A read failed with a permanent error, such as kNoAuth.
  virtual void on_failure(const Error&) {}
  // Runs after the last read: removes what must not be left in the tree. The caller of end() does not wait
  // for it.
  virtual Task<Result<void>> finish();
  virtual void on_end() {}

  const Client& client() const { return client_; }
  Watch new_watch() const { return changed_.watch(); }
  // The time of the next read, even if nothing happens.
  void wake_at(Clock::time_point at) { wake_at_ = std::min(wake_at_, at); }

 private:
  class Listener;
  static Task<Result<void>> run(std::shared_ptr<Loop> self);
  static Task<Result<void>> rounds(std::shared_ptr<Loop> self);

  Client client_;
  Signal changed_;
  std::stop_source stop_;
  Client::Subscription states_;
  std::set<Signal*> listeners_;
  Clock::time_point wake_at_ = Clock::time_point::max();
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace drover::recipes

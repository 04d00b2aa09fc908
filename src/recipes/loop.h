// SPDX-License-Identifier: Apache-2.0
//
// The part of a recipe that goes on by itself: it looks at the tree, sets watches, waits, and looks again.
//
// Every event and every change of the connection means "look again", never "go on": a watch may have told
// of two changes at once, and persistent watches tell nothing of what happened while the connection was
// lost. One look runs at a time; what comes during it makes another one follow.
//
// The recipe object that users hold owns nothing but a shared_ptr to its loop. Its destructor calls end() and
// returns; the loop finishes on the client's executor.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "drover/client.h"
#include "drover/signal.h"
#include "recipes/paths.h"

namespace drover::recipes {

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  explicit Loop(Client client);
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // From any thread. Only the first counts.
  void begin();
  // From any thread. Nothing is begun any more, and what is under way is stopped; on_end() is the last step.
  void end();
  Scheduler scheduler() const { return client_.scheduler(); }

  // --- on the executor ---
  // Makes another look follow.
  void again() { changed_.notify(); }
  bool is_ending() const { return stop_.stop_requested(); }
  // Whoever waits in until() asks its condition again.
  void tell();
  // Until `done` says so or gives an error; kClosed when the loop is over before.
  using Condition = std::function<Result<bool>()>;
  static Task<Result<void>> until(std::shared_ptr<Loop> loop, Condition done, Wait wait);

 protected:
  // One look. After an error another one follows, later and later, until one is without.
  virtual Task<Result<void>> look(Wait wait) = 0;
  // A look follows it in any case.
  virtual void on_state(const StateEvent&) {}
  // A look has failed with what time alone will not cure, such as kNoAuth.
  virtual void on_failure(const Error&) {}
  // After the last look: what must not be left behind in the tree. Whoever ended the loop does not wait for
  // it.
  virtual Task<Result<void>> finish();
  virtual void on_end() {}

  const Client& client() const { return client_; }
  Watch new_watch() const { return changed_.watch(); }
  // The next look is due then, even if nothing happens.
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

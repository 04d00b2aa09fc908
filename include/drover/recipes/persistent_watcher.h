// SPDX-License-Identifier: Apache-2.0
//
// One persistent watch that stays, whatever becomes of the connection and the session.
//
//   PersistentWatcher watcher(client, "/app", WatchMode::kPersistentRecursive,
//                             {.on_event = [](const WatchEvent& event) { ... },
//                              .on_gap = [] { read_everything_again(); }});
//   unwrap(sync_wait(watcher.start(Wait::within(5s))));   // from here on nothing is missed
//
// Guarantees: every change is told in order, or else on_gap() comes after it. It comes once when the watch is
// set for the first time, and after each reconnect and each new session: persistent watches tell nothing of
// what happened meanwhile. Who reads in on_gap() and applies the events since has what the server has.
//
// Failures: kNoAuth ends start() only; the watch is tried again, later and later. TreeCache does the reading
// too.
//
// Curator: PersistentWatcher. kazoo: ChildrenWatch and DataWatch come near.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

class PersistentWatcher {
 public:
  // On the executor, one at a time.
  struct Callbacks {
    std::function<void(const WatchEvent&)> on_event = {};  // never kWatchLost
    std::function<void()> on_gap = {};
  };

  PersistentWatcher(Client client, std::string path, WatchMode mode, Callbacks callbacks);
  PersistentWatcher(PersistentWatcher&&) noexcept = default;
  PersistentWatcher& operator=(PersistentWatcher&& other) noexcept;
  // On the executor: nothing is told any more from here on. Elsewhere a call may be under way.
  ~PersistentWatcher();

  // Sets the watch, and returns when it is.
  Task<Result<void>> start(Wait wait = {}) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

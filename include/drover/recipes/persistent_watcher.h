// SPDX-License-Identifier: Apache-2.0
//
// A persistent watch that survives lost connections and sessions.
//
//   PersistentWatcher watcher(client, "/app", WatchMode::kPersistentRecursive,
//                             {.on_event = [](const WatchEvent& event) { ... },
//                              .on_gap = [] { read_everything_again(); }});
//   unwrap(sync_wait(watcher.start(Wait::within(5s))));   // from here on nothing is missed
//
// Guarantees: every change is reported in order, or on_gap() follows it. on_gap() is called when the watch is
// first set and after each reconnect and new session: changes meanwhile are not reported. Read in on_gap()
// and apply later events to have the server's state.
//
// Failures: kNoAuth ends only start(); the watch is retried at growing intervals. TreeCache also does the
// reading, if that is what you need.
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
  // Called on the executor, one at a time.
  struct Callbacks {
    std::function<void(const WatchEvent&)> on_event = {};  // never kWatchLost
    std::function<void()> on_gap = {};
  };

  PersistentWatcher(Client client, std::string path, WatchMode mode, Callbacks callbacks);
  PersistentWatcher(PersistentWatcher&&) noexcept = default;
  PersistentWatcher& operator=(PersistentWatcher&& other) noexcept;
  // On the executor, no callback runs after it. On other threads a callback may be in progress.
  ~PersistentWatcher();

  // Sets the watch and returns when it is set.
  Task<Result<void>> start(Wait wait = {}) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

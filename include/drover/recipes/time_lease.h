// SPDX-License-Identifier: Apache-2.0
//
// A right that lasts until a time of day, whether its holder is connected or not.
//
//   TimeLease lease(client, "/leases/nightly", "host-7", 70min);
//   if (unwrap(sync_wait(lease.acquire()))) run_nightly_job();     // tomorrow's call renews it
//
// For work that should stay on one machine and move only if that is gone for long. Unlike a lock it outlives
// the session: a restart of the holder does not lose it.
//
// Guarantees: at most one holder, if clocks agree. The holder renews it by asking again; others are refused
// until it has run out and a grace period has passed.
//
// Failures: clocks decide, so they are checked: if this machine's clock differs from the server's by more
// than `clock_tolerance`, the result is kStale. A lost reply is resolved. kBadData: the node holds something
// else. There is no session to lose and nothing to watch; give_up() ends it early.
//
// kazoo: NonBlockingLease; the node's format is the same and each can read the other's, but kazoo writes it
// under a lock of its own and this library by its version, so that the two must not compete. Curator: none.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

struct TimeLeaseOptions {
  std::chrono::milliseconds grace{1000};            // after its end, before another holder may take it
  std::chrono::milliseconds clock_tolerance{5000};  // between this machine and the server
  std::vector<Acl> acl = {};
  // The time of day; empty: the system clock.
  std::function<std::chrono::system_clock::time_point()> now = {};
};

class TimeLease {
 public:
  // `holder` names the machine or job; it must be the same after a restart.
  TimeLease(Client client, std::string path, std::string holder, std::chrono::seconds duration,
            TimeLeaseOptions options = {});

  // Takes or renews it. False: another holder has it.
  Task<Result<bool>> acquire(Wait wait = {}) const;
  // Ends it now, if this holder has it.
  Task<Result<void>> give_up(Wait wait = {}) const;

  struct Holder {
    std::string name;
    std::chrono::system_clock::time_point end;
  };
  // The last holder, and until when; empty: there never was one.
  Task<Result<std::optional<Holder>>> holder(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// A number of leases that processes share. At most `max` are held at a time, in the order of asking.
//
//   Semaphore semaphore(client, "/limits/uploads", 3);
//   Guard lease = unwrap(sync_wait(semaphore.acquire(Wait::within(10s))));
//   auto two = sync_wait(semaphore.acquire(2, Wait::within(10s)));   // both, or none
//
// Guarantees: never more leases than `max`, if all processes use the same `max`. Several leases are given all
// or none, and two clients that want several do not block each other halfway.
// A release wakes one other.
//
// Failures: as Mutex; leases end with the session. A cancelled wait leaves no lease behind. kTooMany: more
// than `max`. Wait::poll() may be refused while another process is about to take a lease.
//
// With one lease it is a mutex without an owner.
//
// Curator: InterProcessSemaphoreV2 and InterProcessSemaphoreMutex (same nodes). kazoo: Semaphore (other
// names).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"

namespace drover::recipes {

struct SemaphoreOptions {
  std::string data = {};  // of each lease, for users
  std::vector<Acl> acl = {};
};

class Semaphore {
 public:
  Semaphore(Client client, std::string path, int max, SemaphoreOptions options = {});

  Task<Result<Guard>> acquire(Wait wait = {}) const;
  Task<Result<std::vector<Guard>>> acquire(int leases, Wait wait = {}) const;
  // Changes the number for this object; its waiters check again. Existing leases stay.
  void set_max(int max) const;
  // The nodes of leases that are held or about to be.
  Task<Result<std::vector<std::string>>> leases(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// A number of leases that processes share: at most so many are out at a time, given in the order of asking.
//
//   Semaphore semaphore(client, "/limits/uploads", 3);
//   Guard lease = unwrap(sync_wait(semaphore.acquire(Wait::within(10s))));
//   auto two = sync_wait(semaphore.acquire(2, Wait::within(10s)));   // both, or none
//
// Guarantees: not more leases than `max` are out, if all processes agree about it. Several are given all or
// none, and two who each want all of them do not block each other halfway. Who gives one back wakes one
// other.
//
// Failures: as Mutex; leases go with the session. A wait that ends leaves no lease behind. kTooMany: more
// than there are at all. Wait::poll() may be refused while another process is about to take a lease.
//
// With one lease it is a mutex that whoever has the guard may give back, as any guard.
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
  std::string data = {};  // of each lease, for people
  std::vector<Acl> acl = {};
};

class Semaphore {
 public:
  Semaphore(Client client, std::string path, int max, SemaphoreOptions options = {});

  Task<Result<Guard>> acquire(Wait wait = {}) const;
  Task<Result<std::vector<Guard>>> acquire(int leases, Wait wait = {}) const;
  // From here on, for this object; whoever waits in it looks again. Leases that are out stay out.
  void set_max(int max) const;
  // The nodes of the leases that are out, or about to be.
  Task<Result<std::vector<std::string>>> leases(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

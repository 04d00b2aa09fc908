// SPDX-License-Identifier: Apache-2.0
//
// A lock that many readers or one writer hold, given in the order of asking: nobody starves.
//
//   ReadWriteLock lock(client, "/locks/table");
//   Guard write = unwrap(sync_wait(lock.write(Wait::within(10s))));
//   ...
//   Guard read = unwrap(sync_wait(lock.downgrade(write)));   // no other writer comes in between
//
// Guarantees: a writer is alone; a reader waits for the writers before it, and for nobody else. Who leaves
// wakes the one writer behind it, or the readers that waited for it.
//
// Failures: as Mutex. There is no way from reading to writing: two who tried it would wait for each other. An
// owner that asks for it is refused with kWouldDeadlock, and so is one that writes and asks for either. One
// that reads may ask to read again: the last of its guards gives the lock back.
//
// Curator: InterProcessReadWriteLock (same nodes). kazoo: ReadLock and WriteLock (other names).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"
#include "drover/recipes/mutex.h"
#include "drover/recipes/owner.h"

namespace drover::recipes {

class ReadWriteLock {
 public:
  ReadWriteLock(Client client, std::string path, MutexOptions options = {});

  Task<Result<Guard>> read(Wait wait = {}) const;
  Task<Result<Guard>> write(Wait wait = {}) const;
  // For somebody whose mistakes are to be noticed.
  Task<Result<Guard>> read(const Owner& owner, Wait wait = {}) const;
  Task<Result<Guard>> write(const Owner& owner, Wait wait = {}) const;
  // From writing to reading: when it succeeds, `write` holds nothing any more; otherwise it is as before. The
  // fence stays the writer's: a later writer that already waits must not find it larger than its own.
  // kLockLost: the writer's node is gone, so that another one may write by now.
  Task<Result<Guard>> downgrade(const Guard& write, Wait wait = {}) const;
  // The nodes in line, first to last.
  Task<Result<std::vector<std::string>>> participants(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

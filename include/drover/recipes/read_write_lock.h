// SPDX-License-Identifier: Apache-2.0
//
// A lock for many readers or one writer, in the order of asking, so that no client starves.
//
//   ReadWriteLock lock(client, "/locks/table");
//   Guard write = unwrap(sync_wait(lock.write(Wait::within(10s))));
//   ...
//   Guard read = unwrap(sync_wait(lock.downgrade(write)));   // no other writer comes in between
//
// Guarantees: a writer is alone; a reader waits only for writers before it. A release wakes the next writer,
// or the readers that waited for it.
//
// Failures: as Mutex. There is no upgrade from reading to writing: two clients that tried it would deadlock.
// An owner that reads and asks to write, or writes and asks for either, gets kWouldDeadlock. A reader may
// read again; its last guard releases the lock.
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
  // With an owner, deadlocks of that owner are detected.
  Task<Result<Guard>> read(const Owner& owner, Wait wait = {}) const;
  Task<Result<Guard>> write(const Owner& owner, Wait wait = {}) const;
  // Changes from writing to reading. On success `write` is empty; otherwise it is unchanged. The fence stays
  // the writer's, because it must not be larger than that of a writer that already waits. kLockLost: the
  // writer's node is gone, so another client may write by now.
  Task<Result<Guard>> downgrade(const Guard& write, Wait wait = {}) const;
  // The contenders' nodes, in order.
  Task<Result<std::vector<std::string>>> participants(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

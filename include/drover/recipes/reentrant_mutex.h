// SPDX-License-Identifier: Apache-2.0
//
// A mutex that its owner may take again while it holds it: inner acquisitions cost nothing.
//
//   ReentrantMutex mutex(client, "/locks/report");
//   Guard outer = unwrap(sync_wait(mutex.acquire()));
//   Guard inner = unwrap(sync_wait(mutex.acquire()));   // at once: this thread has it
//   // it is given back when the last of the two guards is
//
// Who the owner is, is known in this process and in this object only: the calling thread, or an Owner that is
// handed over, as coroutines need it, which change threads. No name in the tree is compared: a process that
// was started again could take the node of its dead predecessor for its own.
//
// Guarantees and failures: as Mutex. A lock that is lost is lost for all its guards; the next acquisition
// gets in line like anybody else's. Two acquisitions of one owner at the same time, before it holds the lock,
// are two places in line.
//
// Curator: InterProcessMutex (same nodes). kazoo: none.
#pragma once

#include <memory>
#include <string>

#include "drover/client.h"
#include "drover/recipes/guard.h"
#include "drover/recipes/mutex.h"
#include "drover/recipes/owner.h"

namespace drover::recipes {

class ReentrantMutex {
 public:
  ReentrantMutex(Client client, std::string path, MutexOptions options = {});

  // For the thread that calls. On the executor, which all coroutines share: kBadConfig.
  Task<Result<Guard>> acquire(Wait wait = {}) const;
  // The owner outlives all its guards.
  Task<Result<Guard>> acquire(const Owner& owner, Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

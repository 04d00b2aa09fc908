// SPDX-License-Identifier: Apache-2.0
//
// A mutex that its owner may acquire again while it holds it: inner acquisitions cost nothing.
//
//   ReentrantMutex mutex(client, "/locks/report");
//   Guard outer = unwrap(sync_wait(mutex.acquire()));
//   Guard inner = unwrap(sync_wait(mutex.acquire()));   // at once: this thread has it
//   // released with the last of the two guards
//
// The owner is the calling thread, or an Owner object, as coroutines need it, which change threads. It is
// known only in this object of this process. Names in the tree are not compared, because a restarted process
// could take the node of its dead predecessor for its own.
//
// Guarantees and failures: as Mutex. A lost lock is lost for all its guards; the next acquisition queues
// again. Two concurrent acquisitions of one owner that does not hold the lock yet are two places in the
// queue.
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

  // The owner is the calling thread. On the executor, which all coroutines share: kBadConfig.
  Task<Result<Guard>> acquire(Wait wait = {}) const;
  // The owner must outlive its guards.
  Task<Result<Guard>> acquire(const Owner& owner, Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

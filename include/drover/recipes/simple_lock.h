// SPDX-License-Identifier: Apache-2.0
//
// A lock that is one node: the client that creates it has the lock, all others watch it.
//
//   SimpleLock lock(client, "/locks/nightly");
//   Guard guard = unwrap(sync_wait(lock.acquire(Wait::poll())));   // or not tonight
//
// Guarantees: at most one live session holds it. No order: the fastest gets it.
// After a release all are notified and all try, so it is for few contenders, or for those that do not wait.
// Otherwise use Mutex.
//
// Failures: a lost reply is resolved; a lost session loses the lock (Guard::lost()); a cancelled wait leaves
// nothing behind; a release never removes a successor's node, although it has the same name. Beside the lock
// a node "<path>.epoch" stays. Guard::check_op() checks its version: it fails as soon as another client has
// had the lock.
//
// Curator, kazoo: none.
#pragma once

#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"

namespace drover::recipes {

struct SimpleLockOptions {
  std::string data = {};  // of the node, for users
  std::vector<Acl> acl = {};
};

class SimpleLock {
 public:
  SimpleLock(Client client, std::string path, SimpleLockOptions options = {});

  Task<Result<Guard>> acquire(Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
  SimpleLockOptions options_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// A lock that is one node: whoever makes it has it, and all others watch it.
//
//   SimpleLock lock(client, "/locks/nightly");
//   Guard guard = unwrap(sync_wait(lock.acquire(Wait::poll())));   // or not tonight
//
// Guarantees: of all live sessions at most one holds it. No order: whoever is quickest. When it is given
// back, everybody is told and everybody tries, so it is for a few contenders, or for those who do not wait at
// all; Mutex is for the others.
//
// Failures: a lost answer is found out about, a lost session loses the lock (Guard::lost()), a wait that ends
// leaves nothing behind, and a release never removes a successor's node, although it has the same name.
// Beside the lock there is a node "<path>.epoch" that stays; Guard::check_op() is about that: it
// fails as soon as another one has the lock, and passes while nobody has had it since.
//
// Curator, kazoo: none.
#pragma once

#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"

namespace drover::recipes {

struct SimpleLockOptions {
  std::string data = {};  // of the node, for people
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

// SPDX-License-Identifier: Apache-2.0
//
// Several mutexes as one: all or none.
//
//   MultiLock lock(client, {"/accounts/a", "/accounts/b"});
//   std::vector<Guard> guards = unwrap(sync_wait(lock.acquire(Wait::within(10s))));
//   // guards[0] belongs to /accounts/a
//
// Guarantees: as Mutex for each. They are taken in the order of their paths, however they are given, so that
// two clients cannot deadlock. One Wait covers all of them.
//
// Failures: as Mutex; all guards belong to one session. If one cannot be acquired, the others are released.
// kWouldDeadlock: a path was given twice.
//
// Curator: InterProcessMultiLock over mutexes (same nodes). kazoo: none.
#pragma once

#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"
#include "drover/recipes/mutex.h"

namespace drover::recipes {

class MultiLock {
 public:
  MultiLock(Client client, std::vector<std::string> paths, MutexOptions options = {});

  // In the order in which the paths were given.
  Task<Result<std::vector<Guard>>> acquire(Wait wait = {}) const;

 private:
  Client client_;
  std::vector<std::string> paths_;
  MutexOptions options_;
};

}  // namespace drover::recipes

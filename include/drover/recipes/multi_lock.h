// SPDX-License-Identifier: Apache-2.0
//
// Several mutexes as one: all of them, or none.
//
//   MultiLock lock(client, {"/accounts/a", "/accounts/b"});
//   std::vector<Guard> guards = unwrap(sync_wait(lock.acquire(Wait::within(10s))));
//   // guards[0] is that of /accounts/a
//
// Guarantees: as Mutex for each. They are always taken in one order, that of their paths, whatever order they
// are named in, so that two who want the same ones do not wait for each other. One Wait is for all together.
//
// Failures: as Mutex; all guards are of one session. When one cannot be had, the others are given back.
// kWouldDeadlock: one path twice.
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

// SPDX-License-Identifier: Apache-2.0
//
// A lock that one of many processes holds at a time, in the order of asking.
//
//   Mutex mutex(client, "/locks/report");
//   Result<Guard> guard = sync_wait(mutex.acquire(Wait::within(5s)));
//   if (!guard) return report(guard.error());      // kDeadline, kStopped, kClosed...
//   ...                                             // guard->lost() says that the lock was lost
//   unwrap(sync_wait(guard->release()));            // or destroy the guard
//
// Guarantees: at most one live session holds it; the order is that of the nodes' creation; a release wakes
// one other. However a call ends, no node is left.
//
// Failures: a lost connection is waited out. A lost session loses the lock (Guard::lost()); a waiting client
// queues again at the end, as long as its Wait lasts. kLayoutMismatch: a library with other names uses the
// directory.
//
// Curator: InterProcessMutex without reentrance (same nodes), and its Revocable. kazoo: Lock (other names:
// the two must not share a directory).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"
#include "drover/recipes/layout.h"

namespace drover::recipes {

struct MutexOptions {
  std::string data = {};  // of the contender's node, for users
  std::vector<Acl> acl = {};
  Layout layout = Layout::kCurator;
  // The holder watches its own node: Guard::revoked() says that another client asks for the lock, and lost()
  // also that the node was deleted. Costs one read per acquisition.
  bool revocable = false;
};

class Mutex {
 public:
  Mutex(Client client, std::string path, MutexOptions options = {});

  // With Wait::poll(): only if the lock is free; otherwise kDeadline.
  Task<Result<Guard>> acquire(Wait wait = {}) const;
  // The contenders' nodes in order; the first one is the holder's.
  Task<Result<std::vector<std::string>>> participants(Wait wait = {}) const;
  // Asks the holder of a node (participants()) to release it, and waits until it has. With `force_after`, the
  // node is deleted if the holder has not released it by then: it loses the lock.
  Task<Result<void>> revoke(std::string node, std::optional<Clock::duration> force_after = {},
                            Wait wait = {}) const;

  const std::string& path() const { return path_; }
  const Client& client() const { return client_; }

 private:
  Client client_;
  std::string path_;
  MutexOptions options_;
};

}  // namespace drover::recipes

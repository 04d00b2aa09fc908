// SPDX-License-Identifier: Apache-2.0
//
// A lock that one process of many holds at a time, given in the order in which it was asked for.
//
//   Mutex mutex(client, "/locks/report");
//   Result<Guard> guard = sync_wait(mutex.acquire(Wait::within(5s)));
//   if (!guard) return report(guard.error());      // kDeadline, kStopped, kClosed...
//   ...                                             // guard->lost() says when it is over too early
//   unwrap(sync_wait(guard->release()));            // or let the guard go
//
// Guarantees: of all live sessions at most one holds it; the order is that of the nodes' creation; who leaves
// wakes one other. Whatever way a call ends, no node is left.
//
// Failures: a lost connection is waited out; a lost session loses the lock (Guard::lost()), and one that
// still waits gets in line again, at the end, as long as its Wait lasts. kLayoutMismatch: somebody with other
// names uses the directory.
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
  std::string data = {};  // of the contender's node, for people
  std::vector<Acl> acl = {};
  Layout layout = Layout::kCurator;
  // The holder watches its own node: Guard::revoked() says when somebody asks for the lock, and lost() also
  // when the node is deleted. Costs one read per acquisition.
  bool revocable = false;
};

class Mutex {
 public:
  Mutex(Client client, std::string path, MutexOptions options = {});

  // Wait::poll(): only if nobody holds it or is in line before; otherwise kDeadline.
  Task<Result<Guard>> acquire(Wait wait = {}) const;
  // The nodes in line; the first one is the holder's.
  Task<Result<std::vector<std::string>>> participants(Wait wait = {}) const;
  // Asks the holder of a node (participants()) to give it back, and waits until it has. With `force_after`,
  // the node is deleted when the holder has not answered by then: it loses the lock.
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

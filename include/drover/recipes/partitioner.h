// SPDX-License-Identifier: Apache-2.0
//
// A set of items, divided among whoever is there: everybody has its share, and no item has two owners.
//
//   Partitioner parts(client, "/work", "host-7", {"a", "b", "c", "d"});
//   unwrap(sync_wait(parts.start(wait)));
//   for (;;) {
//     Share share = unwrap(sync_wait(parts.acquire(wait)));
//     while (!share.revoked().stop_requested()) work_on(share.items());   // check_op() makes writes safe
//   }                                          // the share goes: its items are free for the others
//
// Which items are whose follows from the sorted items and members alone, or, by rendezvous hashing, so that
// few move when somebody comes or goes. Each item of a share is held by a mutex of its own: while members see
// different lists for a moment, an item is nobody's rather than two's. When the members change, or the
// session is lost, revoked() stops: finish, let the share go, and acquire() the next.
//
// Everybody must divide the same items: members publish a hash of theirs, and another one's is
// kLayoutMismatch.
//
// Layout, as kazoo's: <path>/party/<32 hex>-<id>, ephemeral, and the mutexes <path>/locks/<item>.
//
// Curator: nothing. kazoo: SetPartitioner (same division; its locks have other names, see Mutex).
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"

namespace drover::recipes {

struct PartitionerOptions {
  // The members must have been the same for so long before anything is divided.
  std::chrono::milliseconds settle{1000};
  // By rendezvous hashing instead of in turns.
  bool hashed = false;
};

// Move-only. Its destructor frees the items, in the background.
class Share {
 public:
  const std::vector<std::string>& items() const { return items_; }
  // It is no longer right: the members have changed, or an item is lost.
  std::stop_token revoked() const;
  // Fails a transaction when the item is not ours any more. Of one of items().
  Op check_op(const std::string& item) const;
  // Frees the items, and waits until it is done.
  Task<Result<void>> release(Wait wait = {});

 private:
  friend class Partitioner;
  class Watcher;
  Share() = default;
  std::vector<std::string> items_;
  std::vector<Guard> guards_;  // one for each
  std::shared_ptr<Watcher> watcher_;
};

class Partitioner {
 public:
  Partitioner(Client client, std::string path, std::string id, std::vector<std::string> items,
              PartitionerOptions options = {});

  // Joins; a Partitioner that goes leaves.
  Task<Result<void>> start(Wait wait = {});
  // Our share, perhaps an empty one, when the members have settled and its items are free. Let go of the one
  // before first.
  Task<Result<Share>> acquire(Wait wait = {}) const;

 private:
  class State;
  static Task<Result<void>> join(std::shared_ptr<State> state, Wait wait);
  static Task<Result<Share>> acquire_share(std::shared_ptr<State> state, Wait wait);
  static Task<Result<Share>> take(std::shared_ptr<State> state, std::vector<std::string> members, Wait wait);
  std::shared_ptr<State> state_;
};

// The division itself: the items of `member`, one of `members`, both sorted.
std::vector<std::string> share_of(const std::string& member, const std::vector<std::string>& members,
                                  const std::vector<std::string>& items, bool hashed);

}  // namespace drover::recipes

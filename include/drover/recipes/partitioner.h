// SPDX-License-Identifier: Apache-2.0
//
// Divides a set of items among the present members: each has a share, and no item has two owners.
//
//   Partitioner parts(client, "/work", "host-7", {"a", "b", "c", "d"});
//   unwrap(sync_wait(parts.start(wait)));
//   for (;;) {
//     Share share = unwrap(sync_wait(parts.acquire(wait)));
//     while (!share.revoked().stop_requested()) work_on(share.items());   // check_op() makes writes safe
//   }                                          // the share goes: its items are free for the others
//
// Shares follow from the sorted lists of items and members, or from rendezvous hashing, so that few items
// move when members come or go. Each item of a share is held by a mutex: while members see different lists,
// an item has no owner rather than two. When members change or the session is lost, revoked() stops: finish,
// destroy the share, and acquire() the next.
//
// All members must divide the same items: they publish a hash of their list, and a different one is
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
  // The members must be unchanged for this long before items are divided.
  std::chrono::milliseconds settle{1000};
  // Use rendezvous hashing instead of taking turns.
  bool hashed = false;
};

// Move-only. Its destructor frees the items, in the background.
class Share {
 public:
  const std::vector<std::string>& items() const { return items_; }
  // The share is no longer valid: members have changed, or an item is lost.
  std::stop_token revoked() const;
  // Makes a transaction fail if the item is no longer ours. For one of items().
  Op check_op(const std::string& item) const;
  // Releases the items and waits for that.
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

  // Joins; the destructor leaves.
  Task<Result<void>> start(Wait wait = {});
  // Returns our share, perhaps an empty one, when membership has settled and its items are free. Destroy the
  // previous share first.
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

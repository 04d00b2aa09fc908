// SPDX-License-Identifier: Apache-2.0
//
// A mutex whose contenders can be read: each brings data about what it wants to do.
//
//   TurnQueue queue(client, "/migrations");
//   Guard turn = unwrap(sync_wait(queue.take("add an index", Wait::within(60s))));
//   ...                                          // alone; the next one waits until the guard is destroyed
//
// Guarantees: one at a time, in the order of arrival; all clients can see who waits and with what
// (waiting()). A release wakes one other.
//
// Failures: as Mutex. The data is deleted with its owner, and its work is not done. For work that outlives
// its author, use a queue.
//
// Curator, kazoo: none.
#pragma once

#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/guard.h"

namespace drover::recipes {

struct Turn {
  std::string node;
  std::string payload;
  Zxid fence{};
};

class TurnQueue {
 public:
  TurnQueue(Client client, std::string path, std::vector<Acl> acl = {});

  // Queues, and waits for its turn.
  Task<Result<Guard>> take(std::string payload, Wait wait = {}) const;
  // The one whose turn it is, then all waiters.
  Task<Result<std::vector<Turn>>> waiting(Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
  std::vector<Acl> acl_;
};

}  // namespace drover::recipes

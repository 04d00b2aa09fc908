// SPDX-License-Identifier: Apache-2.0
//
// A line in which everybody brings what it wants to do, and does it when it is its turn.
//
//   TurnQueue queue(client, "/migrations");
//   Guard turn = unwrap(sync_wait(queue.take("add an index", Wait::within(60s))));
//   ...                                          // alone; the next one waits until the guard is let go
//
// Guarantees: one at a time, in the order of coming; everybody can see who waits and with what (waiting()).
// Who leaves wakes one other. It is a mutex whose contenders can be read.
//
// Failures: as Mutex. What is brought goes with whoever brought it: nobody else does it in its place. For
// work that outlives its author there are queues.
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

  // In line from now on, and until it is its turn.
  Task<Result<Guard>> take(std::string payload, Wait wait = {}) const;
  // Whose turn it is, and then everybody who waits.
  Task<Result<std::vector<Turn>>> waiting(Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
  std::vector<Acl> acl_;
};

}  // namespace drover::recipes

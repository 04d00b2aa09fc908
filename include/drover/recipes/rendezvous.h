// SPDX-License-Identifier: Apache-2.0
//
// A meeting point whose address is not known in advance: the launcher of a job creates it and hands out its
// path, the master fills in its address, and the workers wait for that.
//
//   Rendezvous place = unwrap(sync_wait(Rendezvous::create(client, "/jobs", {}, wait)));
//   launch(place.path());
//   ...                                                                      // the master, elsewhere
//   unwrap(sync_wait(Rendezvous(client, path).fill("10.0.0.3:7000", wait)));  // kBadVersion: there is one
//   ...                                                                      // a worker
//   std::string where = unwrap(sync_wait(Rendezvous(client, path).meet(wait)));
//   auto over = co_await Rendezvous(client, path).until_over(wait);          // then stop
//
// The first master is the only one; a second gets an error. The job is over when the node is gone: by end(),
// or, if it is ephemeral, with the session that created it. Empty data means that it has not been filled yet.
// Workers see only the first master.
//
// Curator: nothing. kazoo: nothing. (The ZooKeeper paper, 2.4.)
#pragma once

#include <string>

#include "drover/client.h"

namespace drover::recipes {

struct RendezvousOptions {
  bool ephemeral = false;  // ends with the session that created it
};

class Rendezvous {
 public:
  Rendezvous(Client client, std::string path) : client_(std::move(client)), path_(std::move(path)) {}

  // Creates a node with a unique name below `root`.
  static Task<Result<Rendezvous>> create(Client client, std::string root, RendezvousOptions options = {},
                                         Wait wait = {});

  const std::string& path() const { return path_; }
  // kBadVersion: another master has filled it. kNoNode: the job is over. A lost reply is resolved; if that
  // takes too long, the error is maybe_applied(). The data must not be empty.
  Task<Result<void>> fill(std::string where, Wait wait = {}) const;
  // Waits for what the master fills in. kNoNode: the job is over.
  Task<Result<std::string>> meet(Wait wait = {}) const;
  Task<Result<void>> until_over(Wait wait = {}) const;
  Task<Result<void>> end(Wait wait = {}) const { return client_.remove_surely(path_, {}, std::move(wait)); }

 private:
  Client client_;
  std::string path_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// A place to meet before anybody knows where: whoever launches a job makes the place and hands out its path,
// the master fills in where it is, and the workers wait for that.
//
//   Rendezvous place = unwrap(sync_wait(Rendezvous::create(client, "/jobs", {}, wait)));
//   launch(place.path());
//   ...                                                                      // the master, elsewhere
//   unwrap(sync_wait(Rendezvous(client, path).fill("10.0.0.3:7000", wait)));  // kBadVersion: there is one
//   ...                                                                      // a worker
//   std::string where = unwrap(sync_wait(Rendezvous(client, path).meet(wait)));
//   auto over = co_await Rendezvous(client, path).until_over(wait);          // then stop
//
// The first master is the only one: a second is told so, and told of by nobody. The job is over when the
// place is gone: by end(), or, if it was made ephemeral, with the session that made it. Empty data means that
// nobody has filled it.
//
// Curator: nothing. kazoo: nothing. (The ZooKeeper paper, 2.4.)
#pragma once

#include <string>

#include "drover/client.h"

namespace drover::recipes {

struct RendezvousOptions {
  bool ephemeral = false;  // over with the session that makes it
};

class Rendezvous {
 public:
  Rendezvous(Client client, std::string path) : client_(std::move(client)), path_(std::move(path)) {}

  // A new place below `root`, with a name that nobody else has.
  static Task<Result<Rendezvous>> create(Client client, std::string root, RendezvousOptions options = {},
                                         Wait wait = {});

  const std::string& path() const { return path_; }
  // kBadVersion: another master has. kNoNode: the job is over. After a lost answer it is found out which; if
  // that cannot be read in time, the error is maybe_applied(). Not empty.
  Task<Result<void>> fill(std::string where, Wait wait = {}) const;
  // What the master has filled in, once it has. kNoNode: the job is over.
  Task<Result<std::string>> meet(Wait wait = {}) const;
  Task<Result<void>> until_over(Wait wait = {}) const;
  Task<Result<void>> end(Wait wait = {}) const { return client_.remove_surely(path_, {}, std::move(wait)); }

 private:
  Client client_;
  std::string path_;
};

}  // namespace drover::recipes

// SPDX-License-Identifier: Apache-2.0
//
// Configuration of many pieces that change together: no reader ever uses some of the old and some of the new.
//
//   ConfigBundle config(client, "/app/config");
//   unwrap(sync_wait(config.publish({{"limits", "10"}, {"hosts", "a,b"}}, {.fence = {guard.check_op()}})));
//   Bundle now = unwrap(sync_wait(config.read()));                    // kNoNode: nothing was published
//   Bundle next = unwrap(sync_wait(config.next(now, wait)));          // when there is another one
//
// kPointer, the default: each publication is a directory of its own, <path>/<version>, that never changes;
// <path>/current names the one that counts, and the one write that changes it is the publication. A publisher
// that fails leaves the old one. Of two publishers one is told kBadVersion. Old versions are removed, the
// last two are kept.
//
// kReady, as in the ZooKeeper paper: the pieces are <path>/<piece>, and they count while <path>/ready exists.
// A publisher removes it, writes, and makes it again. One that fails leaves nothing to read until another one
// publishes all of it. Of two publishers the later one wins: the other one is told kBadVersion, and writes
// nothing from there on. To that end the data of <path> is a mark of who publishes, and its version is
// checked in each transaction.
//
// The fence goes into the transaction that counts, and for kReady into all of them: a publisher that has lost
// its lock or leadership publishes nothing, and gets the error of the check.
//
// Curator: nothing. kazoo: nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

struct Bundle {
  std::map<std::string, std::string> pieces;
  Zxid zxid{};  // of its publication
};

enum class BundleMode : std::uint8_t { kPointer, kReady };

struct PublishOptions {
  std::vector<Op> fence = {};
};

class ConfigBundle {
 public:
  ConfigBundle(Client client, std::string path, BundleMode mode = BundleMode::kPointer);

  using Pieces = std::map<std::string, std::string>;
  Task<Result<void>> publish(Pieces pieces, PublishOptions options = {}, Wait wait = {}) const;
  // The whole of the newest. In mode kReady it waits while somebody publishes.
  Task<Result<Bundle>> read(Wait wait = {}) const;
  // The first that is newer than this.
  Task<Result<Bundle>> next(Bundle last, Wait wait = {}) const;

 private:
  class State;
  std::shared_ptr<const State> state_;
};

}  // namespace drover::recipes

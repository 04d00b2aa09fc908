// SPDX-License-Identifier: Apache-2.0
//
// Configuration of several pieces that change together: no reader sees a mixture of old and new.
//
//   ConfigBundle config(client, "/app/config");
//   unwrap(sync_wait(config.publish({{"limits", "10"}, {"hosts", "a,b"}}, {.fence = {guard.check_op()}})));
//   Bundle now = unwrap(sync_wait(config.read()));                    // kNoNode: nothing was published
//   Bundle next = unwrap(sync_wait(config.next(now, wait)));          // when there is another one
//
// kPointer, the default: each publication is a directory <path>/<version> that never changes;
// <path>/current names the valid one, and the write that changes it is the publication. A publisher that
// fails leaves the old one. Of two publishers, one gets kBadVersion. All but the last two versions are
// removed.
//
// kReady, as in the ZooKeeper paper: the pieces are <path>/<piece>, valid while <path>/ready exists. A
// publisher removes it, writes, and creates it again. If it fails, there is nothing to read until another
// one publishes everything. Of two publishers the later one wins: the other gets kBadVersion and writes
// nothing more. For this, the data of <path> names the publisher, and its version is checked in each
// transaction.
//
// The fence is part of the publishing transaction, with kReady of all transactions: a publisher that has lost
// its lock or leadership publishes nothing and gets the error of the check.
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
  // The newest publication. In mode kReady it waits during a publication.
  Task<Result<Bundle>> read(Wait wait = {}) const;
  // Waits for a newer publication.
  Task<Result<Bundle>> next(Bundle last, Wait wait = {}) const;

 private:
  class State;
  std::shared_ptr<const State> state_;
};

}  // namespace drover::recipes

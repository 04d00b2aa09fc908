// SPDX-License-Identifier: Apache-2.0
//
// One node in memory: its newest data, and its changes.
//
//   NodeCache node(client, "/app/config");
//   unwrap(sync_wait(node.start(Wait::within(5s))));
//   std::optional<NodeData> now = node.current();      // empty: it does not exist
//   auto next = co_await node.next(wait);              // when it has changed
//
// next() returns the newest state, each time with a greater mzxid; short-lived states may be skipped.
// Deletion is a state, too. After each reconnect the node is read again, whatever the watch says, so that
// nothing is missed in the end.
// While disconnected, current() is the last known state.
//
// Curator: NodeCache (CuratorCache with SINGLE_NODE_CACHE). kazoo: DataWatch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

class NodeCache {
 public:
  NodeCache(Client client, std::string path);
  NodeCache(NodeCache&&) noexcept = default;
  NodeCache& operator=(NodeCache&& other) noexcept;
  ~NodeCache();

  // Starts, and returns when it has been read once.
  Task<Result<void>> start(Wait wait = {});
  // The newest state that next() has not returned yet; starts if needed. For one reader.
  Task<Result<std::optional<NodeData>>> next(Wait wait = {});
  // Waits until everything that others saw before the call is seen here, too.
  Task<Result<void>> refresh(Wait wait = {});

  // --- safe to call from any thread ---
  std::optional<NodeData> current() const;
  std::optional<Error> failure() const;  // why it cannot be read, such as kNoAuth

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

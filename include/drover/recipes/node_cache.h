// SPDX-License-Identifier: Apache-2.0
//
// One node, kept here: its newest data, and word of each change.
//
//   NodeCache node(client, "/app/config");
//   unwrap(sync_wait(node.start(Wait::within(5s))));
//   std::optional<NodeData> now = node.current();      // none: it does not exist
//   auto next = co_await node.next(wait);              // when it has changed
//
// next() gives the newest state, each time with a greater mzxid than the time before; states that lasted
// only shortly may be skipped. That the node is gone is a state, too. After each reconnect the node is read
// again, whatever the watch says, so that nothing is missed for good. While disconnected, current() is what
// was last known.
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

  // Begins, and returns when it has been read once.
  Task<Result<void>> start(Wait wait = {});
  // The newest state that next() has not given yet; begins if start() has not. For one reader.
  Task<Result<std::optional<NodeData>>> next(Wait wait = {});
  // Until what others have seen before the call is seen here, too.
  Task<Result<void>> refresh(Wait wait = {});

  // --- from any thread ---
  std::optional<NodeData> current() const;
  std::optional<Error> failure() const;  // why it cannot be read, such as kNoAuth

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

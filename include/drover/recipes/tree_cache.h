// SPDX-License-Identifier: Apache-2.0
//
// A subtree in memory: reads send nothing, and changes are reported. It needs one watch, however many nodes.
//
//   TreeCache cache(client, "/app/config");
//   unwrap(sync_wait(cache.start(Wait::within(5s))));   // everything has been read once
//   if (auto node = cache.find("/app/config/limits")) use(node->data);
//   Stream<TreeEvent> events = cache.events();
//   auto event = co_await events.next(wait);
//
// Guarantees: it shows states that a node really had, never an older one after a newer one, and after the
// last change the current one. Quick successive changes may be reported as one. A node that was deleted and
// created again is reported as both, even if the connection was lost in between.
//
// While the connection is lost it shows the last known state, and is_fresh() is false. After each reconnect
// and in each new session, everything is read again and the differences are reported. Nodes that may not be
// read are skipped.
//
// In a node's Stat, the counts of children are from the last read of the node itself.
//
// Curator: CuratorCache (before: TreeCache, PathChildrenCache). kazoo: TreeCache.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

struct TreeEvent {
  enum class Kind : std::uint8_t {
    kCreated,
    kChanged,
    kDeleted,
    kInitialized,  // everything that existed has been reported
    kResynced,     // everything that changed without a connection has been reported
  };
  Kind kind{};
  std::string path = {};
  NodeData node = {};  // kDeleted: its last known state
};

struct TreeCacheOptions {
  bool keep_data = true;
  // Nodes for which it is false are skipped, with their subtrees.
  std::function<bool(std::string_view path)> filter = {};
};

class TreeCache {
 public:
  TreeCache(Client client, std::string root, TreeCacheOptions options = {});
  TreeCache(TreeCache&&) noexcept = default;
  TreeCache& operator=(TreeCache&& other) noexcept;
  ~TreeCache();

  // Starts, and returns when everything has been read once. Ending the wait does not stop the cache; nor does
  // a permanent error such as kBadArguments, which is retried at growing intervals.
  Task<Result<void>> start(Wait wait = {});

  // --- safe to call from any thread ---
  std::optional<NodeData> find(std::string_view path) const;
  std::vector<std::string> children(std::string_view path) const;  // names, sorted
  std::size_t size() const;
  // True if it is up to date, as far as is known.
  bool is_fresh() const;
  // Zero while it is fresh; otherwise the time since it was fresh, or since it was created.
  Clock::duration staleness() const;
  // The existing nodes as kCreated, then every change. The stream must be read.
  Stream<TreeEvent> events() const;
  // Calls back for each change, on the executor, until the returned object is destroyed.
  Client::Subscription on_event(std::function<void(const TreeEvent&)> callback) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

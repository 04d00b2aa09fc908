// SPDX-License-Identifier: Apache-2.0
//
// A part of the tree, kept here: reads cost nothing, and changes are told. One watch, however many nodes.
//
//   TreeCache cache(client, "/app/config");
//   unwrap(sync_wait(cache.start(Wait::within(5s))));   // everything has been read once
//   if (auto node = cache.find("/app/config/limits")) use(node->data);
//   Stream<TreeEvent> events = cache.events();
//   auto event = co_await events.next(wait);
//
// It guarantees that what it shows is a state each node was in, never an older one than it has shown before,
// and that after the last change it shows the tree as it is. Changes that follow quickly may be told as one.
// A node that was removed and made again is told as that, even when the connection was lost in between.
//
// While the connection is lost it shows what it last knew, and is_fresh() is false. After each reconnect,
// and each new session, everything is read again and the differences are told. Nodes that may not be read are
// left out.
//
// Of a node's Stat the counts of its children are those of the last time the node itself was read.
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
    kInitialized,  // everything has been told that was there
    kResynced,     // everything has been told that changed while nobody could know
  };
  Kind kind{};
  std::string path = {};
  NodeData node = {};  // of kDeleted: as it was known last
};

struct TreeCacheOptions {
  bool keep_data = true;
  // Nodes for which it is false are left out, and all below them.
  std::function<bool(std::string_view path)> filter = {};
};

class TreeCache {
 public:
  TreeCache(Client client, std::string root, TreeCacheOptions options = {});
  TreeCache(TreeCache&&) noexcept = default;
  TreeCache& operator=(TreeCache&& other) noexcept;
  ~TreeCache();

  // Begins, and returns when everything has been read once. The end of the wait ends only the wait;
  // so does an error that time does not cure, such as kBadArguments. It is tried again, later and later.
  Task<Result<void>> start(Wait wait = {});

  // --- from any thread ---
  std::optional<NodeData> find(std::string_view path) const;
  std::vector<std::string> children(std::string_view path) const;  // names, sorted
  std::size_t size() const;
  // Nothing is known to be missing.
  bool is_fresh() const;
  // Zero while it is fresh; otherwise the time since it was, or since it was made.
  Clock::duration staleness() const;
  // What is there now, as kCreated, and then every change. Whoever asks for it must read it.
  Stream<TreeEvent> events() const;
  // Calls back for each, on the executor, until what is returned is destroyed. Not for what is there already.
  Client::Subscription on_event(std::function<void(const TreeEvent&)> callback) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes

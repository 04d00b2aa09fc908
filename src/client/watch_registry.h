// SPDX-License-Identifier: Apache-2.0
//
// The watches of this client, so that they can be set again on the next connection.
//
// Servers remove the watches of a connection when it ends. After a reconnect the client sends all of them
// with setWatches, together with the last zxid up to which it has all events. The server sends the missed
// events and sets the other watches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "wire/replies.h"

namespace drover::client {

enum class WatchKind : std::uint8_t {
  kData,        // getData, or exists of an existing node
  kExist,       // exists of a missing node
  kChild,       // getChildren
  kPersistent,  // addWatch
  kRecursive,   // addWatch for the whole subtree
};
inline constexpr std::size_t kWatchKinds = 5;

// The xid of setWatches requests; servers echo it.
inline constexpr std::int32_t kSetWatchesXid = -8;

// The WatcherType that removeWatches carries.
inline constexpr std::int32_t kRemoveChild = 1;
inline constexpr std::int32_t kRemoveData = 2;
inline constexpr std::int32_t kRemoveAny = 3;
inline constexpr std::int32_t kRemovePersistent = 4;
inline constexpr std::int32_t kRemoveRecursive = 5;

class WatchRegistry {
 public:
  void add(WatchKind kind, std::string_view path);
  void remove(std::int32_t watcher_type, std::string_view path);
  // An event arrived: removes standard watches, which fire once.
  void fire(wire::EventType event, std::string_view path);
  void clear();

  bool contains(WatchKind kind, std::string_view path) const;
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // Appends setWatches frames, each with at most about `piece_bytes` of paths, and returns how many. A single
  // frame could be larger than servers accept (ZOOKEEPER-706). `since` goes into each of them.
  std::size_t append_set_watches(std::string& out, Zxid since, std::size_t piece_bytes) const;

 private:
  using Paths = std::set<std::string, std::less<>>;
  Paths& of(WatchKind kind) { return paths_[static_cast<std::size_t>(kind)]; }

  std::array<Paths, kWatchKinds> paths_;
};

}  // namespace drover::client

// SPDX-License-Identifier: Apache-2.0
//
// Notifications of changes.
//
//   Watch watch([](const WatchEvent& event) { ... });
//   auto node = co_await client.get("/app/config", watch);   // reports the next change after this read
//
// A watch set by a read fires once; one set by add_watch() fires until it is removed. One Watch may be set on
// many nodes. Events arrive in the order of the changes, each before any reply that shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "drover/ids.h"

namespace drover {

namespace client {
struct WatchState;
}

enum class EventType : std::int32_t {
  kNodeCreated = 1,
  kNodeDeleted = 2,
  kNodeDataChanged = 3,  // also: deleted and created again while there was no connection
  kNodeChildrenChanged = 4,
  kWatchLost = 100,  // the session and the watch are gone: read again
};

struct WatchEvent {
  EventType type{};
  std::string path;  // without the chroot of the client that set the watch
  Zxid zxid{};       // -1: unknown
};

enum class WatchMode : std::int32_t {
  kPersistent = 0,           // a node: data, children, existence
  kPersistentRecursive = 1,  // a subtree: data and existence of its nodes
};

// How a watch was set on a node.
enum class WatchScope : std::uint8_t {
  kData,      // get() and exists()
  kChildren,  // children()
  kPersistent,
  kPersistentRecursive,
};

// Changes during a lost connection are reported after the reconnect: to watches set by reads as one event, to
// persistent ones not at all. With these, read again after each reconnect (Client::states()).
class Watch {
 public:
  using Callback = std::move_only_function<void(const WatchEvent&)>;

  Watch() = default;
  // Runs on the client's executor.
  explicit Watch(Callback callback);
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&& other) noexcept;
  // On the executor, no callback runs after it. On other threads a callback may be in progress. The server's
  // watch is removed if no other Watch shares it.
  ~Watch() { reset(); }
  void reset();

  explicit operator bool() const { return state_ != nullptr; }
  // For the library itself.
  const std::shared_ptr<client::WatchState>& state() const { return state_; }

 private:
  std::shared_ptr<client::WatchState> state_;
};

}  // namespace drover

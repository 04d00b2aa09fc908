// SPDX-License-Identifier: Apache-2.0
//
// Being told of changes.
//
//   Watch watch([](const WatchEvent& event) { ... });
//   auto node = co_await client.get("/app/config", watch);   // tells of the next change after this read
//
// A watch that was set by a read tells once; one that was set by add_watch() until it ends. One Watch may be
// set at many places. Events come in the order of the changes, and each before any reply that shows it.
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
  kWatchLost = 100,  // the session is gone, and the watch with it: look again
};

struct WatchEvent {
  EventType type{};
  std::string path;  // as the client names it that set the watch
  Zxid zxid{};       // -1: it is not known
};

enum class WatchMode : std::int32_t {
  kPersistent = 0,           // a node: its data, its children, its being there
  kPersistentRecursive = 1,  // a node and all below it: their data and their being there
};

// The ways in which a watch may be set at a node.
enum class WatchScope : std::uint8_t {
  kData,      // get() and exists()
  kChildren,  // children()
  kPersistent,
  kPersistentRecursive,
};

// What changes while the connection is lost is told on the next one: to watches set by reads as one event, to
// persistent ones not at all. Whoever uses those looks again after each reconnect (Client::states()).
class Watch {
 public:
  using Callback = std::move_only_function<void(const WatchEvent&)>;

  Watch() = default;
  // Runs on the client's executor.
  explicit Watch(Callback callback);
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&& other) noexcept;
  // On the executor: nothing is told any more from here on. Elsewhere a call may be under way. Servers are
  // told when nobody else here watches the same.
  ~Watch() { reset(); }
  void reset();

  explicit operator bool() const { return state_ != nullptr; }
  // Of the library itself.
  const std::shared_ptr<client::WatchState>& state() const { return state_; }

 private:
  std::shared_ptr<client::WatchState> state_;
};

}  // namespace drover

// SPDX-License-Identifier: Apache-2.0
//
// Finds the watches that an event is for.
//
// The server keeps one watch per path and kind, however many Watch objects share it
// (client/watch_registry.h). This table has the objects. Owned by the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "drover/watch.h"
#include "wire/replies.h"

namespace drover::client {

class ClientCore;

// The kinds that removeWatches distinguishes.
enum class WatchSlot : std::uint8_t { kData, kChild, kPersistent, kRecursive };

struct WatchPlace {
  std::string path;
  WatchSlot slot{};
  friend auto operator<=>(const WatchPlace&, const WatchPlace&) = default;
};

// The library's side of a Watch.
struct WatchState {
  Watch::Callback callback;        // used on the executor
  bool ended = false;              // set and read on the executor
  std::weak_ptr<ClientCore> core;  // notified of the end; set before the watch is first armed
  // Used by the engine.
  std::set<WatchPlace> places{};
  bool dropped = false;
};

class WatchTable {
 public:
  struct Hit {
    std::shared_ptr<WatchState> watch;
    std::string path;  // without the owner's chroot
  };

  // `strip`: length of the owner's chroot.
  void add(const WatchPlace& place, std::shared_ptr<WatchState> watch, std::size_t strip);
  // The watches to notify, each once. Removes standard watches.
  std::vector<Hit> take(wire::EventType type, std::string_view path);
  // Removes all entries of the watch; returns the places that are no longer watched.
  std::vector<WatchPlace> remove(const std::shared_ptr<WatchState>& watch);
  // Removes one entry of the watch. True: the place is no longer watched.
  bool remove_at(const std::shared_ptr<WatchState>& watch, const WatchPlace& place);
  // Removes everything; returns each watch once per path.
  std::vector<Hit> clear();

  bool contains(const WatchPlace& place) const;

 private:
  struct Entry {
    std::shared_ptr<WatchState> watch;
    WatchSlot slot{};
    std::size_t strip = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };

  void take_at(std::string_view at, std::string_view path, unsigned slots, std::vector<Hit>& hits);

  std::unordered_map<std::string, std::vector<Entry>, Hash, std::equal_to<>> entries_;
  std::size_t recursive_ = 0;  // number of recursive entries
};

}  // namespace drover::client

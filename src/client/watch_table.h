// SPDX-License-Identifier: Apache-2.0
//
// Which of this client's watches an event is for.
//
// The server keeps one watch for each path and kind however many of us share it (client/watch_registry.h);
// here are those who share it. Belongs to the engine.
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

class Core;

// As removeWatches tells them apart.
enum class WatchSlot : std::uint8_t { kData, kChild, kPersistent, kRecursive };

struct WatchPlace {
  std::string path;
  WatchSlot slot{};
  friend auto operator<=>(const WatchPlace&, const WatchPlace&) = default;
};

// What a Watch is to the library.
struct WatchState {
  Watch::Callback callback;  // used on the executor
  bool ended = false;        // set and read on the executor
  std::weak_ptr<Core> core;  // whom to tell of the end; set before it is first armed
  // The engine's.
  std::set<WatchPlace> places{};
  bool dropped = false;
};

class WatchTable {
 public:
  struct Hit {
    std::shared_ptr<WatchState> watch;
    std::string path;  // as the watch's owner names it
  };

  // `strip`: how many bytes of the path its owner does not see.
  void add(const WatchPlace& place, std::shared_ptr<WatchState> watch, std::size_t strip);
  // Those to be told, each once. One-shot watches are spent.
  std::vector<Hit> take(wire::EventType type, std::string_view path);
  // Ends all of the watch's; the places where now nobody watches are returned.
  std::vector<WatchPlace> remove(const std::shared_ptr<WatchState>& watch);
  // Ends one of the watch's. True: now nobody watches there.
  bool remove_at(const std::shared_ptr<WatchState>& watch, const WatchPlace& place);
  // Ends all; everyone who watched, once for each path.
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
  std::size_t recursive_ = 0;  // how many entries are
};

}  // namespace drover::client

// SPDX-License-Identifier: Apache-2.0
//
// The watches of all connections of one I/O thread.
//
// ZooKeeper has two tables, data watches and child watches. Here each (watcher, path) has one entry with a
// set of modes for each table. Watches are removed when their connection ends.
//
// Always true: a watcher is in a path's list exactly when its own map has that path, and has at least
// one mode there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"
#include "wire/replies.h"

namespace drover::state {

// A connection, numbered by the owner of the table. Numbers are reused after forget().
enum class WatcherId : std::uint32_t {};

enum class WatchTable : std::uint8_t { kData, kChild };
enum WatchMode : std::uint8_t {
  kStandard = 1,             // fires once
  kPersistent = 2,           // fires until removed
  kPersistentRecursive = 4,  // like kPersistent, and for everything below; data table only
};

// WatcherType of checkWatches and removeWatches.
enum class WatcherType : std::int32_t { kChildren = 1, kData = 2, kAny = 3, kPersistent = 4, kRecursive = 5 };
inline bool is_watcher_type(std::int32_t t) { return t >= 1 && t <= 5; }

class Watches {
  struct Watched;

 public:
  explicit Watches(const HashKey& key) : paths_(0, KeyedHash{key}) {}

  void add(WatcherId watcher, std::string_view path, WatchTable table, WatchMode mode);
  bool contains(WatcherId watcher, std::string_view path, WatcherType type) const;
  // False if there was nothing to remove.
  bool remove(WatcherId watcher, std::string_view path, WatcherType type);
  // The connection is gone.
  void forget(WatcherId watcher);

  // Sets `out` to the watchers that receive the event, each once, and removes their one-shot watches.
  //   created, data changed: data table; deleted: both tables; children changed: child table.
  void fire(wire::EventType event, std::string_view path, std::vector<WatcherId>& out);

  bool empty() const { return paths_.empty(); }
  std::size_t path_count() const { return paths_.size(); }
  std::size_t watch_count() const { return watch_count_; }
  // Same count as ZooKeeper, whose data and child tables have separate entries.
  std::size_t table_entries() const { return table_entries_; }
  std::size_t watch_count(WatcherId watcher) const;
  // Bytes of the paths watched by this connection, and by all connections.
  std::size_t path_bytes(WatcherId watcher) const;
  std::size_t path_bytes() const { return path_bytes_; }

  // Calls visit(path, modes in the data table, modes in the child table) for each watch of one connection, in
  // no particular order, until it returns false.
  template <class Visit>
  void for_each_of(WatcherId watcher, Visit visit) const {
    const auto index = static_cast<std::size_t>(watcher);
    if (index >= by_watcher_.size() || !by_watcher_[index]) return;
    for (const auto& [watched, modes] : by_watcher_[index]->modes) {
      if (!visit(std::string_view(watched->path), modes.data, modes.child)) return;
    }
  }

  // For callers that process very many watches a few at a time. Refs are cheap to copy and valid as long as
  // the watch exists. (If the watch is removed and the same watcher adds another, the ref may refer to the
  // new one.)
  using Ref = const Watched*;
  void append_refs(WatcherId watcher, std::vector<Ref>& out) const;
  // The path, if the watch exists and is in the data table.
  std::optional<std::string_view> data_watch(WatcherId watcher, Ref ref) const;

 private:
  struct Watched {
    std::string path;
    std::vector<WatcherId> watchers;
  };
  struct Modes {
    std::uint8_t data = 0;
    std::uint8_t child = 0;
    std::uint32_t position = 0;  // in Watched::watchers
  };
  using ModesByPath = boost::unordered_flat_map<Watched*, Modes>;
  struct Watcher {
    ModesByPath modes;
    std::size_t path_bytes = 0;
  };

  Watched* find(std::string_view path) const;
  Modes modes_of(WatcherId watcher, Watched* watched) const;
  Watcher* find(WatcherId watcher) const;
  Watcher& of(WatcherId watcher);
  void change(WatcherId watcher, Watched* watched, std::uint8_t data, std::uint8_t child);
  void drop(WatcherId watcher, Watched* watched);
  void fire_at(Watched* watched, bool data, bool child, std::vector<WatcherId>& out);
  void fire_recursive(std::string_view path, std::vector<WatcherId>& out);
  void fire_recursive_at(Watched* above, std::vector<WatcherId>& out);

  // Keys are views of Watched::path.
  boost::unordered_flat_map<std::string_view, std::unique_ptr<Watched>, KeyedHash, std::equal_to<>> paths_;
  std::vector<std::unique_ptr<Watcher>> by_watcher_;
  std::size_t watch_count_ = 0;
  std::size_t path_bytes_ = 0;
  std::size_t table_entries_ = 0;
  std::size_t recursive_count_ = 0;
};

}  // namespace drover::state

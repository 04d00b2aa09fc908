// SPDX-License-Identifier: Apache-2.0
#include "state/watches.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/path.h"

namespace drover::state {
namespace {

constexpr std::uint8_t kEveryMode = kStandard | kPersistent | kPersistentRecursive;

struct Selection {
  std::uint8_t data = 0;
  std::uint8_t child = 0;
};

// The modes of each table that a WatcherType selects.
Selection selected_by(WatcherType type) {
  switch (type) {
    case WatcherType::kChildren: return {.data = 0, .child = kStandard};
    case WatcherType::kData: return {.data = kStandard, .child = 0};
    case WatcherType::kPersistent: return {.data = kPersistent, .child = kPersistent};
    case WatcherType::kRecursive: return {.data = kPersistentRecursive, .child = 0};
    case WatcherType::kAny: return {.data = kEveryMode, .child = kEveryMode};
  }
  return {};
}

std::uint8_t without(std::uint8_t modes, std::uint8_t gone) {
  return static_cast<std::uint8_t>(modes & ~gone);
}

}  // namespace

Watches::Watched* Watches::find(std::string_view path) const {
  const auto found = paths_.find(path);
  return found == paths_.end() ? nullptr : found->second.get();
}

Watches::Watcher* Watches::find(WatcherId watcher) const {
  const auto index = static_cast<std::size_t>(watcher);
  return index < by_watcher_.size() ? by_watcher_[index].get() : nullptr;
}

Watches::Watcher& Watches::of(WatcherId watcher) {
  const auto index = static_cast<std::size_t>(watcher);
  if (index >= by_watcher_.size()) by_watcher_.resize(index + 1);
  if (!by_watcher_[index]) by_watcher_[index] = std::make_unique<Watcher>();
  return *by_watcher_[index];
}

Watches::Modes Watches::modes_of(WatcherId watcher, Watched* watched) const {
  const Watcher* mine = find(watcher);
  if (!watched || !mine) return {};
  const auto found = mine->modes.find(watched);
  return found == mine->modes.end() ? Modes{} : found->second;
}

std::size_t Watches::watch_count(WatcherId watcher) const {
  const Watcher* mine = find(watcher);
  return mine ? mine->modes.size() : 0;
}

std::size_t Watches::path_bytes(WatcherId watcher) const {
  const Watcher* mine = find(watcher);
  return mine ? mine->path_bytes : 0;
}

void Watches::add(WatcherId watcher, std::string_view path, WatchTable table, WatchMode mode) {
  auto found = paths_.find(path);
  if (found == paths_.end()) {
    auto fresh = std::make_unique<Watched>(std::string(path), std::vector<WatcherId>{});
    const std::string_view key = fresh->path;
    found = paths_.emplace(key, std::move(fresh)).first;
  }
  Watched* watched = found->second.get();
  Watcher& mine = of(watcher);
  const auto [entry, is_new] = mine.modes.try_emplace(watched);
  if (is_new) {
    entry->second.position = static_cast<std::uint32_t>(watched->watchers.size());
    watched->watchers.push_back(watcher);
    ++watch_count_;
    mine.path_bytes += path.size();
    path_bytes_ += path.size();
  }
  std::uint8_t& modes = table == WatchTable::kData ? entry->second.data : entry->second.child;
  if (mode == kPersistentRecursive && !(modes & kPersistentRecursive)) ++recursive_count_;
  if (modes == 0) ++table_entries_;
  modes |= mode;
}

// Sets exactly these modes; without any mode the watch is removed.
void Watches::change(WatcherId watcher, Watched* watched, std::uint8_t data, std::uint8_t child) {
  Modes& modes = of(watcher).modes.at(watched);
  if ((modes.data & kPersistentRecursive) && !(data & kPersistentRecursive)) --recursive_count_;
  if (modes.data != 0 && data == 0) --table_entries_;
  if (modes.child != 0 && child == 0) --table_entries_;
  modes.data = data;
  modes.child = child;
  if (data == 0 && child == 0) drop(watcher, watched);
}

void Watches::drop(WatcherId watcher, Watched* watched) {
  Watcher& mine = of(watcher);
  const std::uint32_t position = mine.modes.at(watched).position;
  mine.modes.erase(watched);
  --watch_count_;
  mine.path_bytes -= watched->path.size();
  path_bytes_ -= watched->path.size();
  const WatcherId last = watched->watchers.back();
  watched->watchers[position] = last;
  watched->watchers.pop_back();
  if (last != watcher) of(last).modes.at(watched).position = position;
  if (watched->watchers.empty()) paths_.erase(paths_.find(std::string_view(watched->path)));
}

bool Watches::contains(WatcherId watcher, std::string_view path, WatcherType type) const {
  const Modes modes = modes_of(watcher, find(path));
  const Selection asked = selected_by(type);
  return (modes.data & asked.data) != 0 || (modes.child & asked.child) != 0;
}

bool Watches::remove(WatcherId watcher, std::string_view path, WatcherType type) {
  Watched* watched = find(path);
  const Modes modes = modes_of(watcher, watched);
  const Selection asked = selected_by(type);
  if ((modes.data & asked.data) == 0 && (modes.child & asked.child) == 0) return false;
  change(watcher, watched, without(modes.data, asked.data), without(modes.child, asked.child));
  return true;
}

void Watches::forget(WatcherId watcher) {
  const auto index = static_cast<std::size_t>(watcher);
  if (index >= by_watcher_.size() || !by_watcher_[index]) return;
  const ModesByPath& left = by_watcher_[index]->modes;
  while (!left.empty()) change(watcher, left.begin()->first, 0, 0);
  by_watcher_[index].reset();
}

void Watches::fire_at(Watched* watched, bool data, bool child, std::vector<WatcherId>& out) {
  // Removing a watch moves the last watcher into its place, so iterate backwards.
  for (std::size_t i = watched->watchers.size(); i-- > 0;) {
    const WatcherId watcher = watched->watchers[i];
    const Modes modes = of(watcher).modes.at(watched);
    const bool hit = (data && modes.data != 0) || (child && modes.child != 0);
    if (!hit) continue;
    out.push_back(watcher);
    const bool last = watched->watchers.size() == 1;
    const std::uint8_t left_data = data ? without(modes.data, kStandard) : modes.data;
    const std::uint8_t left_child = child ? without(modes.child, kStandard) : modes.child;
    change(watcher, watched, left_data, left_child);
    if (last && left_data == 0 && left_child == 0) return;  // `watched` is gone.
  }
}

void Watches::fire_recursive_at(Watched* above, std::vector<WatcherId>& out) {
  if (!above) return;
  for (const WatcherId watcher : above->watchers) {
    if (modes_of(watcher, above).data & kPersistentRecursive) out.push_back(watcher);
  }
}

void Watches::fire_recursive(std::string_view path, std::vector<WatcherId>& out) {
  if (path == kRootPath || path.empty()) return;
  const std::size_t exact = out.size();
  fire_recursive_at(find(kRootPath), out);
  if (const std::string_view parent = parent_path(path); !parent.empty()) {
    for_each_level(parent, paths_.hash_function().key, [&](const Hashed& level) {
      const auto found = paths_.find(level);
      if (found != paths_.end()) fire_recursive_at(found->second.get(), out);
    });
  }
  if (out.size() == exact) return;
  // A watcher that watches several levels gets the event once.
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

void Watches::fire(wire::EventType event, std::string_view path, std::vector<WatcherId>& out) {
  out.clear();
  if (paths_.empty()) return;
  const bool children_changed = event == wire::EventType::kNodeChildrenChanged;
  const bool deleted = event == wire::EventType::kNodeDeleted;
  if (Watched* watched = find(path)) {
    fire_at(watched, /*data=*/!children_changed, /*child=*/children_changed || deleted, out);
  }
  if (recursive_count_ > 0 && !children_changed) fire_recursive(path, out);
}

void Watches::append_refs(WatcherId watcher, std::vector<Ref>& out) const {
  const Watcher* mine = find(watcher);
  if (!mine) return;
  out.reserve(out.size() + mine->modes.size());
  for (const auto& [watched, modes] : mine->modes) out.push_back(watched);
}

std::optional<std::string_view> Watches::data_watch(WatcherId watcher, Ref ref) const {
  const Watcher* mine = find(watcher);
  if (!mine) return std::nullopt;
  // Look it up before dereferencing it: the target may be gone.
  const auto found = mine->modes.find(const_cast<Watched*>(ref));
  if (found == mine->modes.end() || found->second.data == 0) return std::nullopt;
  return std::string_view(found->first->path);
}

}  // namespace drover::state

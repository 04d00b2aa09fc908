// SPDX-License-Identifier: Apache-2.0
#include "client/watch_table.h"

#include <algorithm>

#include "base/path.h"

namespace drover::client {
namespace {

using wire::EventType;

constexpr unsigned bit(WatchSlot slot) { return 1U << static_cast<unsigned>(slot); }
constexpr unsigned kOneShot = bit(WatchSlot::kData) | bit(WatchSlot::kChild);

// The kinds of watches on a path that an event matches.
unsigned slots_of(EventType type) {
  unsigned slots = bit(WatchSlot::kPersistent);
  if (type == EventType::kNodeChildrenChanged) return slots | bit(WatchSlot::kChild);
  slots |= bit(WatchSlot::kData) | bit(WatchSlot::kRecursive);
  if (type == EventType::kNodeDeleted) slots |= bit(WatchSlot::kChild);
  return slots;
}

std::string stripped(std::string_view path, std::size_t strip) {
  return path.size() <= strip ? "/" : std::string(path.substr(strip));
}

}  // namespace

void WatchTable::add(const WatchPlace& place, std::shared_ptr<WatchState> watch, std::size_t strip) {
  auto& entries = entries_[place.path];
  for (const Entry& entry : entries) {
    if (entry.watch == watch && entry.slot == place.slot) return;
  }
  if (place.slot == WatchSlot::kRecursive) ++recursive_;
  watch->places.insert(place);
  entries.push_back({std::move(watch), place.slot, strip});
}

void WatchTable::take_at(std::string_view at, std::string_view path, unsigned slots, std::vector<Hit>& hits) {
  const auto found = entries_.find(at);
  if (found == entries_.end()) return;
  std::vector<Entry>& entries = found->second;
  for (Entry& entry : entries) {
    if ((slots & bit(entry.slot)) == 0) continue;
    const auto same = [&](const Hit& hit) { return hit.watch == entry.watch; };
    if (std::none_of(hits.begin(), hits.end(), same)) {
      hits.push_back({entry.watch, stripped(path, entry.strip)});
    }
    if ((kOneShot & bit(entry.slot)) != 0) entry.watch->places.erase({std::string(at), entry.slot});
  }
  std::erase_if(entries, [&](const Entry& entry) { return (slots & kOneShot & bit(entry.slot)) != 0; });
  if (entries.empty()) entries_.erase(found);
}

std::vector<WatchTable::Hit> WatchTable::take(EventType type, std::string_view path) {
  std::vector<Hit> hits;
  take_at(path, path, slots_of(type), hits);
  if (recursive_ == 0 || type == EventType::kNodeChildrenChanged) return hits;
  for (std::string_view above = path; above.size() > 1;) {
    above = parent_path(above);
    if (above.empty()) above = kRootPath;
    take_at(above, path, bit(WatchSlot::kRecursive), hits);
  }
  return hits;
}

std::vector<WatchPlace> WatchTable::remove(const std::shared_ptr<WatchState>& watch) {
  std::vector<WatchPlace> left;
  for (const WatchPlace& place : std::set(watch->places)) {
    if (remove_at(watch, place)) left.push_back(place);
  }
  return left;
}

bool WatchTable::remove_at(const std::shared_ptr<WatchState>& watch, const WatchPlace& place) {
  if (watch->places.erase(place) == 0) return false;
  const auto found = entries_.find(place.path);
  if (found == entries_.end()) return false;
  std::erase_if(found->second,
                [&](const Entry& entry) { return entry.watch == watch && entry.slot == place.slot; });
  if (found->second.empty()) entries_.erase(found);
  if (place.slot == WatchSlot::kRecursive) --recursive_;
  return !contains(place);
}

std::vector<WatchTable::Hit> WatchTable::clear() {
  std::vector<Hit> hits;
  for (auto& [path, entries] : std::exchange(entries_, {})) {
    const std::size_t first = hits.size();
    for (Entry& entry : entries) {
      entry.watch->places.clear();
      const auto same = [&](const Hit& hit) { return hit.watch == entry.watch; };
      if (std::none_of(hits.begin() + static_cast<std::ptrdiff_t>(first), hits.end(), same)) {
        hits.push_back({entry.watch, stripped(path, entry.strip)});
      }
    }
  }
  recursive_ = 0;
  return hits;
}

bool WatchTable::contains(const WatchPlace& place) const {
  const auto found = entries_.find(place.path);
  return found != entries_.end() && std::any_of(found->second.begin(), found->second.end(),
                                                [&](const Entry& entry) { return entry.slot == place.slot; });
}

}  // namespace drover::client

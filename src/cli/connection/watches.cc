// SPDX-License-Identifier: Apache-2.0
#include "cli/connection/watches.h"

#include <fmt/format.h>

#include "cli/common/json.h"

namespace drover::cli {

std::string_view event_name(EventType type) {
  switch (type) {
    case EventType::kNodeCreated: return "NodeCreated";
    case EventType::kNodeDeleted: return "NodeDeleted";
    case EventType::kNodeDataChanged: return "NodeDataChanged";
    case EventType::kNodeChildrenChanged: return "NodeChildrenChanged";
    case EventType::kWatchLost: return "WatchLost";
  }
  return "?";
}

Watches::Watches(Output& output)
    : output_(output), watch_([this](const WatchEvent& event) { on_event(event); }) {}

void Watches::note(const std::string& path, WatchScope scope) {
  const std::lock_guard lock(mutex_);
  places_[path].insert(scope);
}

void Watches::forget(const std::string& path, WatchScope scope) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(path);
  if (found == places_.end()) return;
  found->second.erase(scope);
  if (found->second.empty()) places_.erase(found);
}

void Watches::clear() {
  const std::lock_guard lock(mutex_);
  places_.clear();
}

bool Watches::remove(const Client& client, const std::string& path, const std::vector<WatchScope>& scopes) {
  std::set<std::string_view> told;
  {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(path);
    if (found == places_.end()) return false;
    for (const WatchScope scope : scopes) {
      if (found->second.erase(scope) == 0) continue;
      client.unwatch(watch_, path, scope);
      told.insert(scope == WatchScope::kData       ? "DataWatchRemoved"
                  : scope == WatchScope::kChildren ? "ChildWatchRemoved"
                                                   : "PersistentWatchRemoved");
    }
    if (found->second.empty()) places_.erase(found);
  }
  for (const std::string_view type : told) tell("SyncConnected", type, path);
  return !told.empty();
}

void Watches::on_event(const WatchEvent& event) {
  if (event.type == EventType::kWatchLost) return;  // The change of session state reports it.
  const bool of_children = event.type == EventType::kNodeChildrenChanged;
  if (!of_children) forget(event.path, WatchScope::kData);
  if (of_children || event.type == EventType::kNodeDeleted) forget(event.path, WatchScope::kChildren);
  tell("SyncConnected", event_name(event.type), event.path);
}

void Watches::tell_state(std::string_view state) {
  if (!quiet_) tell(state, "None", "null");
}

void Watches::tell(std::string_view state, std::string_view type, std::string_view path) {
  if (!printing_) return;
  if (json_) {
    output_.event(JsonObject().text("event", type).text("path", path).line());
    return;
  }
  output_.event(fmt::format("\nWATCHER::\n\nWatchedEvent state:{} type:{} path:{}\n", state, type, path));
}

}  // namespace drover::cli

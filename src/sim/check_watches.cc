// SPDX-License-Identifier: Apache-2.0
#include "sim/check_watches.h"

#include <algorithm>
#include <optional>

#include "base/path.h"
#include "client/watch_registry.h"
#include "wire/jute.h"
#include "wire/requests.h"

namespace drover::sim {
namespace {

using wire::EventType;
using wire::OpCode;

std::string_view name_of(EventType type) {
  switch (type) {
    case EventType::kNodeCreated: return "created";
    case EventType::kNodeDeleted: return "deleted";
    case EventType::kNodeDataChanged: return "changed";
    case EventType::kNodeChildrenChanged: return "children changed";
  }
  return "unknown";
}

}  // namespace

// The data table gets events of the node, the child table those of its children and its end.
bool CheckWatches::concerns(Kind kind, EventType type) {
  switch (kind) {
    case Kind::kData:
    case Kind::kExist:
    case Kind::kRecursive: return type != EventType::kNodeChildrenChanged;
    case Kind::kChild: return type == EventType::kNodeChildrenChanged || type == EventType::kNodeDeleted;
    case Kind::kPersistent: return true;
  }
  return false;
}

const std::vector<TreeChange>& CheckWatches::changes_of(const Key& key) const {
  return key.second == Kind::kRecursive ? model_.changes_below(key.first) : model_.changes(key.first);
}

// --- setting and removing ---

void CheckWatches::add(ClientId id, Kind kind, std::string_view path, Zxid zxid) {
  Client& client = of(id);
  const Key key{model_.path(path), kind};
  // The server has one entry for both: for a node that is waited for, and for one that exists.
  const Key twin{key.first, kind == Kind::kData ? Kind::kExist : Kind::kData};
  const bool has_twin = (kind == Kind::kData || kind == Kind::kExist) && client.watches.contains(twin);
  if (has_twin) erase(id, client, client.watches.find(twin));
  const auto [found, is_new] = client.watches.try_emplace(key);
  if (is_new) skip_to(id, client, key, found->second, zxid);
}

// Everything up to `zxid` counts as reported.
void CheckWatches::skip_to(ClientId id, Client& client, const Key& key, Watch& watch, Zxid zxid) {
  const auto& changes = changes_of(key);
  const auto after = std::upper_bound(changes.begin(), changes.end(), zxid,
                                      [](Zxid z, const TreeChange& change) { return z < change.zxid; });
  watch.next = std::max(watch.next, static_cast<std::size_t>(after - changes.begin()));
  look_ahead(id, client, key, watch);
}

// Finds the next change that concerns it, or waits for one.
void CheckWatches::look_ahead(ClientId id, Client& client, const Key& key, Watch& watch) {
  if (raw(watch.due) != 0) client.due.erase({watch.due, key});
  watch.due = Zxid{};
  const auto& changes = changes_of(key);
  while (watch.next < changes.size() && !concerns(key.second, changes[watch.next].type)) ++watch.next;
  if (watch.next == changes.size()) {
    waiting_[key].insert(id);
    return;
  }
  watch.due = changes[watch.next].zxid;
  client.due.insert({watch.due, key});
}

void CheckWatches::erase(ClientId id, Client& client, std::map<Key, Watch>::iterator it) {
  const auto& [key, watch] = *it;
  if (raw(watch.due) != 0) client.due.erase({watch.due, key});
  if (watch.uncertain) --client.uncertain;
  if (const auto waiting = waiting_.find(key); waiting != waiting_.end()) {
    waiting->second.erase(id);
    if (waiting->second.empty()) waiting_.erase(waiting);
  }
  client.watches.erase(it);
}

void CheckWatches::remove(ClientId id, std::int32_t type, std::string_view path) {
  Client& client = of(id);
  const PathId node = model_.path(path);
  const auto drop = [&](Kind kind) {
    if (const auto it = client.watches.find({node, kind}); it != client.watches.end()) erase(id, client, it);
  };
  const bool any = type == client::kRemoveAny;
  if (any || type == client::kRemoveChild) drop(Kind::kChild);
  if (any || type == client::kRemoveData) drop(Kind::kData);
  if (any || type == client::kRemoveData) drop(Kind::kExist);
  if (any || type == client::kRemovePersistent) drop(Kind::kPersistent);
  if (any || type == client::kRemoveRecursive) drop(Kind::kRecursive);
}

void CheckWatches::on_committed() {
  for (const TreeChange& change : model_.last_changes()) {
    const auto wake = [&](const Key& key) {
      const auto found = waiting_.find(key);
      if (found == waiting_.end() || !concerns(key.second, change.type)) return;
      const std::set<ClientId> woken = std::move(found->second);
      waiting_.erase(found);
      for (const ClientId id : woken) look_ahead(id, of(id), key, of(id).watches.find(key)->second);
    };
    for (const Kind kind : {Kind::kData, Kind::kExist, Kind::kChild, Kind::kPersistent})
      wake({change.path, kind});
    for (PathId at = change.path;; at = model_.parent(at)) {
      wake({at, Kind::kRecursive});
      if (model_.parent(at) == at) break;
    }
  }
}

void CheckWatches::on_reply(ClientId id, const Call& call, const wire::ReplyHeader& header) {
  wire::Reader r(call.body);
  const bool ok = header.error == ErrorCode::kOk;
  switch (call.op) {
    case OpCode::kExists:
    case OpCode::kGetData:
    case OpCode::kGetChildren:
    case OpCode::kGetChildren2: {
      const auto request = wire::decode_path_watch(r);
      if (!request || !request->watch) return;
      const bool awaited = call.op == OpCode::kExists && header.error == ErrorCode::kNoNode;
      if (awaited) return add(id, Kind::kExist, request->path, header.zxid);
      if (!ok) return;
      const bool of_data = call.op == OpCode::kExists || call.op == OpCode::kGetData;
      return add(id, of_data ? Kind::kData : Kind::kChild, request->path, header.zxid);
    }
    case OpCode::kAddWatch: {
      const auto request = wire::decode_path_type(r);
      if (!ok || !request || !request->path) return;
      return add(id, request->type == 1 ? Kind::kRecursive : Kind::kPersistent, *request->path, header.zxid);
    }
    case OpCode::kCheckWatches:
    case OpCode::kRemoveWatches: {
      const auto request = wire::decode_path_type(r);
      if (!request || !request->path) return;
      const std::size_t before = of(id).watches.size();
      const bool none = header.error == ErrorCode::kNoWatcher;
      if (none || (ok && call.op == OpCode::kRemoveWatches)) remove(id, request->type, *request->path);
      // Whatever had fired was reported before this reply, so the remaining ones must exist.
      if (none && of(id).watches.size() != before)
        failures_.add("I9: ", id, " was told at ", header.zxid, " that it does not watch ", *request->path);
      return;
    }
    default: return;
  }
}

// --- events that must have come ---

void CheckWatches::before_reply(ClientId id, Zxid zxid) {
  Client& client = of(id);
  if (client.uncertain > 0) become_certain(id, client, zxid);
  while (!client.due.empty() && client.due.begin()->first <= zxid) {
    const auto [due, key] = *client.due.begin();
    Watch& watch = client.watches.find(key)->second;
    if (!may_skip(key, watch, zxid)) {
      failures_.add("I9: ", id, " saw ", zxid, " before it was told that ", model_.name(key.first), " was ",
                    name_of(changes_of(key)[watch.next].type), " at ", due);
    }
    ++watch.next;
    look_ahead(id, client, key, watch);
  }
  client.replied = std::max(client.replied, zxid);
}

// A node that was waited for, created while there was no watch, and deleted again before the watch was set
// again.
bool CheckWatches::may_skip(const Key& key, const Watch& watch, Zxid shown) const {
  if (key.second != Kind::kExist || !watch.set_again) return false;
  const auto& changes = changes_of(key);
  if (changes[watch.next].type != EventType::kNodeCreated) return true;  // after the skipped creation
  return std::any_of(changes.begin() + static_cast<std::ptrdiff_t>(watch.next), changes.end(),
                     [&](const TreeChange& change) {
                       return change.type == EventType::kNodeDeleted && change.zxid <= shown;
                     });
}

// The first reply on a connection: from here on every change is reported.
void CheckWatches::become_certain(ClientId id, Client& client, Zxid zxid) {
  for (auto& [key, watch] : client.watches) {
    if (!watch.uncertain) continue;
    watch.uncertain = false;
    skip_to(id, client, key, watch, zxid);
  }
  client.uncertain = 0;
}

// --- events that came ---

std::vector<CheckWatches::Key> CheckWatches::who_hears(const Client& client, const Event& event) const {
  std::vector<Key> keys;
  for (const Kind kind : {Kind::kData, Kind::kExist, Kind::kChild, Kind::kPersistent}) {
    const Key key{event.path, kind};
    if (concerns(kind, event.type) && client.watches.contains(key)) keys.push_back(key);
  }
  if (!concerns(Kind::kRecursive, event.type)) return keys;
  for (PathId at = event.path;; at = model_.parent(at)) {
    const Key key{at, Kind::kRecursive};
    if (client.watches.contains(key)) keys.push_back(key);
    if (model_.parent(at) == at) return keys;
  }
}

void CheckWatches::on_event(ClientId id, EventType type, std::string_view path, Zxid zxid) {
  Client& client = of(id);
  const Event event{type, model_.path(path), zxid};
  if (raw(zxid) < 0) return hear_late(id, client, event);
  if (zxid <= client.replied) {
    failures_.add("I9: ", id, " was told that ", path, " was ", name_of(type), " at ", zxid,
                  " only after a reply at ", client.replied);
  }
  const std::vector<Key> keys = who_hears(client, event);
  if (keys.empty())
    return failures_.add("I9: ", id, " was told that ", path, " was ", name_of(type), " at ", zxid,
                         ", which it does not watch");
  for (const Key& key : keys) hear(id, client, key, event);
  if (client.uncertain == 0 && !client.due.empty() && client.due.begin()->first < zxid) {
    const Key& missed = client.due.begin()->second;
    const Watch& watch = client.watches.find(missed)->second;
    if (!may_skip(missed, watch, zxid))
      failures_.add("I9: ", id, " was told of ", zxid, " before ", watch.due, " of ",
                    model_.name(missed.first));
  }
}

void CheckWatches::hear(ClientId id, Client& client, const Key& key, const Event& event) {
  const auto it = client.watches.find(key);
  Watch& watch = it->second;
  if (watch.uncertain && !find_uncertain(id, client, key, watch, event)) return;
  const auto& changes = changes_of(key);
  // Nodes that were created and deleted before the watch was set again.
  while (raw(watch.due) != 0 && watch.due < event.zxid && may_skip(key, watch, event.zxid)) {
    ++watch.next;
    look_ahead(id, client, key, watch);
  }
  const bool expected = raw(watch.due) != 0 && changes[watch.next].zxid == event.zxid &&
                        changes[watch.next].type == event.type && changes[watch.next].path == event.path;
  if (!expected) {
    failures_.add("I9: ", id, " was told that ", model_.name(event.path), " was ", name_of(event.type),
                  " at ", event.zxid,
                  raw(watch.due) == 0
                      ? text(", and it was not")
                      : text(", but next was ", name_of(changes[watch.next].type), " at ", watch.due));
  }
  if (!is_persistent(key.second)) return erase(id, client, it);
  if (!expected) return;
  ++watch.next;
  look_ahead(id, client, key, watch);
}

// The first event on a new connection: everything after it must come too.
bool CheckWatches::find_uncertain(ClientId id, Client& client, const Key& key, Watch& watch,
                                  const Event& event) {
  const auto& changes = changes_of(key);
  const auto found = std::find_if(changes.begin() + static_cast<std::ptrdiff_t>(watch.next), changes.end(),
                                  [&](const TreeChange& change) {
                                    return change.zxid == event.zxid && change.type == event.type &&
                                           change.path == event.path;
                                  });
  if (found == changes.end()) {
    failures_.add("I9: ", id, " was told that ", model_.name(event.path), " was ", name_of(event.type),
                  " at ", event.zxid, ", and it was not");
    return false;
  }
  watch.uncertain = false;
  --client.uncertain;
  watch.next = static_cast<std::size_t>(found - changes.begin());
  look_ahead(id, client, key, watch);
  return true;
}

void CheckWatches::on_swept(const wire::MultiTxn& sweep) {
  for (const wire::SubTxn& sub : sweep.txns) {
    wire::Reader r(sub.record);
    swept_.insert(model_.path(parent_path(r.string())));
  }
}

// An event that replaces those of the time without a connection. It describes the node as it is now, which
// need not be what happened to it first.
void CheckWatches::hear_late(ClientId id, Client& client, const Event& event) {
  std::vector<Kind> kinds;
  if (event.type == EventType::kNodeCreated) kinds = {Kind::kExist};
  if (event.type == EventType::kNodeDataChanged) kinds = {Kind::kData};
  if (event.type == EventType::kNodeDeleted) {
    kinds.push_back(Kind::kData);
    kinds.push_back(Kind::kChild);
  }
  if (event.type == EventType::kNodeChildrenChanged) kinds = {Kind::kChild};
  std::size_t heard = 0;
  for (const Kind kind : kinds) {
    const auto it = client.watches.find({event.path, kind});
    if (it == client.watches.end()) continue;
    ++heard;
    const bool may_be_due = raw(it->second.due) != 0 || (kind == Kind::kChild && swept_.contains(event.path));
    if (!it->second.set_again || !may_be_due)
      failures_.add("I9: ", id, " was told afterwards that ", model_.name(event.path), " was ",
                    name_of(event.type), ", and it was not");
    erase(id, client, it);
  }
  if (heard == 2) client.second_deletions.insert(event.path);
  if (heard > 0) return;
  const bool second = event.type == EventType::kNodeDeleted && client.second_deletions.erase(event.path) > 0;
  if (!second) {
    failures_.add("I9: ", id, " was told afterwards that ", model_.name(event.path), " was ",
                  name_of(event.type), ", which it does not watch");
  }
}

void CheckWatches::on_disconnected(ClientId id) {
  Client& client = of(id);
  client.second_deletions.clear();
  client.uncertain = 0;
  for (auto& [key, watch] : client.watches) {
    watch.set_again = true;
    watch.uncertain = is_persistent(key.second);
    if (watch.uncertain) ++client.uncertain;
  }
}

void CheckWatches::on_over(ClientId id) {
  Client& client = of(id);
  while (!client.watches.empty()) erase(id, client, client.watches.begin());
  client.second_deletions.clear();
}

}  // namespace drover::sim

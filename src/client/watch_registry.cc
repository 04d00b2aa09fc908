// SPDX-License-Identifier: Apache-2.0
#include "client/watch_registry.h"

#include <vector>

#include "wire/jute.h"
#include "wire/records.h"
#include "wire/requests.h"

namespace drover::client {
namespace {

using wire::EventType;
using wire::OpCode;

void erase(std::set<std::string, std::less<>>& paths, std::string_view path) {
  if (const auto found = paths.find(path); found != paths.end()) paths.erase(found);
}

// One setWatches frame being built.
struct Piece {
  std::array<std::vector<std::string_view>, kWatchKinds> lists;
  std::size_t bytes = 0;
  bool empty = true;

  void add(std::size_t kind, std::string_view path) {
    lists[kind].push_back(path);
    bytes += 4 + path.size();
    empty = false;
  }
  bool has_persistent() const {
    return !lists[static_cast<std::size_t>(WatchKind::kPersistent)].empty() ||
           !lists[static_cast<std::size_t>(WatchKind::kRecursive)].empty();
  }
  void append(std::string& out, Zxid since) const {
    wire::Frame frame(out);
    wire::Writer w(out);
    // Servers before 3.6 know only the older form.
    const bool old_form = !has_persistent();
    w.i32(kSetWatchesXid);
    w.i32(static_cast<std::int32_t>(old_form ? OpCode::kSetWatches : OpCode::kSetWatches2));
    w.i64(raw(since));
    for (std::size_t kind = 0; kind < (old_form ? 3 : kWatchKinds); ++kind) {
      w.i32(static_cast<std::int32_t>(lists[kind].size()));
      for (const std::string_view path : lists[kind]) w.string(path);
    }
  }
};

}  // namespace

void WatchRegistry::add(WatchKind kind, std::string_view path) {
  Paths& paths = of(kind);
  if (!paths.contains(path)) paths.emplace(path);
}

void WatchRegistry::remove(std::int32_t type, std::string_view path) {
  const bool any = type == kRemoveAny;
  if (any || type == kRemoveChild) erase(of(WatchKind::kChild), path);
  if (any || type == kRemoveData) {
    erase(of(WatchKind::kData), path);
    erase(of(WatchKind::kExist), path);
  }
  if (any || type == kRemovePersistent) erase(of(WatchKind::kPersistent), path);
  if (any || type == kRemoveRecursive) erase(of(WatchKind::kRecursive), path);
}

void WatchRegistry::fire(EventType event, std::string_view path) {
  if (event != EventType::kNodeChildrenChanged) {
    erase(of(WatchKind::kData), path);
    erase(of(WatchKind::kExist), path);
  }
  if (event == EventType::kNodeDeleted || event == EventType::kNodeChildrenChanged)
    erase(of(WatchKind::kChild), path);
}

void WatchRegistry::clear() {
  for (Paths& paths : paths_) paths.clear();
}

bool WatchRegistry::contains(WatchKind kind, std::string_view path) const {
  return paths_[static_cast<std::size_t>(kind)].contains(path);
}

std::size_t WatchRegistry::size() const {
  std::size_t sum = 0;
  for (const Paths& paths : paths_) sum += paths.size();
  return sum;
}

std::size_t WatchRegistry::append_set_watches(std::string& out, Zxid since, std::size_t piece_bytes) const {
  std::size_t frames = 0;
  Piece piece;
  const auto finish_piece = [&] {
    piece.append(out, since);
    ++frames;
    piece = {};
  };
  for (std::size_t kind = 0; kind < kWatchKinds; ++kind) {
    for (const std::string& path : paths_[kind]) {
      if (!piece.empty && piece.bytes + 4 + path.size() > piece_bytes) finish_piece();
      piece.add(kind, path);
    }
  }
  if (!piece.empty) finish_piece();
  return frames;
}

}  // namespace drover::client

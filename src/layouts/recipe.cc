// SPDX-License-Identifier: Apache-2.0
#include "layouts/recipe.h"

#include <algorithm>

#include "layouts/layout.h"

namespace drover::layouts {
namespace {

Recognition recognise_names(const std::vector<RecipeNode>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const RecipeNode& node : nodes) names.push_back(node.name);
  return recognise(names);
}

std::string_view mode_of(Role role) {
  switch (role) {
    case Role::kReader: return "read";
    case Role::kWriter: return "write";
    case Role::kPlain: break;
  }
  return {};
}

// The recognised parts among these nodes, in their order.
std::vector<RecipeEntry> entries_of(const Recognition& seen, const std::vector<RecipeNode>& nodes,
                                    std::string_view directory = {}) {
  std::map<std::string_view, const RecipeNode*> by_name;
  for (const RecipeNode& node : nodes) by_name.emplace(node.name, &node);
  std::vector<RecipeEntry> line;
  line.reserve(seen.parts.size());
  for (const Part& part : seen.parts)
    line.push_back({*by_name.at(part.name), std::string(directory), mode_of(part.role)});
  return line;
}

// The queue in an inner directory; empty if the directory is of another kind.
std::vector<RecipeEntry> line_of(const std::vector<RecipeNode>& nodes, Kind kind,
                                 std::string_view directory) {
  const Recognition seen = recognise_names(nodes);
  return seen.kind == kind ? entries_of(seen, nodes, directory) : std::vector<RecipeEntry>{};
}

std::optional<RecipeKind> kind_of_line(Kind kind) {
  switch (kind) {
    case Kind::kMutex:
    case Kind::kTurnQueue: return RecipeKind::kLock;
    case Kind::kElection: return RecipeKind::kElection;
    case Kind::kReadWriteLock: return RecipeKind::kReadWriteLock;
    default: return std::nullopt;
  }
}

std::optional<Recipe> lock_or_election(const Recognition& seen, const std::vector<RecipeNode>& nodes) {
  const auto kind = kind_of_line(seen.kind);
  if (!kind || seen.parts.empty()) return std::nullopt;
  const std::vector<RecipeEntry> line = entries_of(seen, nodes);
  const auto waiting = line.begin() + static_cast<std::ptrdiff_t>(holders_in(seen.kind, seen.parts));
  return Recipe{.kind = *kind,
                .layout = name_of(seen.family),
                .holders = {line.begin(), waiting},
                .waiting = {waiting, line.end()}};
}

const std::vector<RecipeNode>* inner(const RecipeDirectory& directory, std::string_view name) {
  const auto found = directory.inner.find(name);
  return found == directory.inner.end() ? nullptr : &found->second;
}

Creation creation_of(const RecipeEntry& entry) { return {entry.node.owner, entry.node.czxid}; }

Recipe curator_semaphore(const std::vector<RecipeNode>& leases, const std::vector<RecipeNode>* locks) {
  Recipe recipe{
      .kind = RecipeKind::kSemaphore, .layout = name_of(Family::kCurator), .holders = {}, .waiting = {}};
  recipe.holders = line_of(leases, Kind::kSemaphore, kLeases);
  if (locks) recipe.waiting = line_of(*locks, Kind::kMutex, kLocks);
  if (recipe.waiting.empty()) return recipe;
  const Creation first = creation_of(recipe.waiting.front());
  std::erase_if(recipe.holders,
                [&](const RecipeEntry& lease) { return !is_granted(creation_of(lease), first); });
  return recipe;
}

Recipe kazoo_semaphore(const RecipeDirectory& directory, const std::vector<RecipeNode>& line) {
  Recipe recipe{
      .kind = RecipeKind::kSemaphore, .layout = name_of(Family::kKazoo), .holders = {}, .waiting = {}};
  for (const RecipeNode& node : directory.children) {
    if (node.owner != 0) recipe.holders.push_back({node});
  }
  recipe.waiting = line_of(line, Kind::kMutex, kBesideDirectory);
  recipe.capacity = leases_max(directory.data);
  return recipe;
}

Recipe kazoo_locking_queue(const std::vector<RecipeNode>& entries, const std::vector<RecipeNode>& taken) {
  Recipe recipe{.kind = RecipeKind::kQueue, .layout = name_of(Family::kKazoo), .holders = {}, .waiting = {}};
  for (RecipeEntry& entry : line_of(entries, Kind::kQueue, kEntries)) {
    const auto found = std::ranges::find(taken, entry.node.name, &RecipeNode::name);
    if (found == taken.end()) {
      recipe.waiting.push_back(std::move(entry));
    } else {
      // The client that took it created the node of that name.
      entry.node.owner = found->owner;
      entry.node.ctime = found->ctime;
      recipe.holders.push_back(std::move(entry));
    }
  }
  return recipe;
}

std::optional<Recipe> queue(const Recognition& seen, const RecipeDirectory& directory) {
  const auto* entries = inner(directory, kEntries);
  const auto* taken = inner(directory, kTaken);
  if (entries && taken) return kazoo_locking_queue(*entries, *taken);
  if (seen.kind != Kind::kQueue) return std::nullopt;
  std::vector<RecipeEntry> items = entries_of(seen, directory.children);
  // Queue items are not ephemeral: they must survive their session.
  std::erase_if(items, [](const RecipeEntry& item) { return item.node.owner != 0; });
  if (items.empty()) return std::nullopt;
  return Recipe{
      .kind = RecipeKind::kQueue, .layout = name_of(seen.family), .holders = {}, .waiting = std::move(items)};
}

std::optional<Recipe> barrier_or_membership(const Recognition& seen, const RecipeDirectory& directory) {
  bool ready = false;
  std::vector<RecipeEntry> members;
  for (const RecipeNode& node : directory.children) {
    if (node.name == "ready") {
      ready = true;
    } else if (node.owner == 0) {
      return std::nullopt;
    } else {
      members.push_back({node});
    }
  }
  if (members.empty() && !ready) return std::nullopt;
  std::ranges::sort(members, {}, [](const RecipeEntry& e) { return e.node.ctime; });
  return Recipe{.kind = ready ? RecipeKind::kBarrier : RecipeKind::kMembership,
                // Without special names the layout is the same in all libraries.
                .layout = seen.kind == Kind::kGroup ? name_of(seen.family) : std::string_view{},
                .holders = std::move(members),
                .waiting = {}};
}

}  // namespace

std::string_view name_of(RecipeKind kind) {
  switch (kind) {
    case RecipeKind::kLock: return "lock";
    case RecipeKind::kElection: return "election";
    case RecipeKind::kReadWriteLock: return "rwlock";
    case RecipeKind::kSemaphore: return "semaphore";
    case RecipeKind::kQueue: return "queue";
    case RecipeKind::kBarrier: return "barrier";
    case RecipeKind::kMembership: return "membership";
  }
  return "membership";
}

namespace {

std::optional<Recipe> recognise_seen(const RecipeDirectory& directory) {
  if (directory.children.empty()) return std::nullopt;
  const Recognition seen = recognise_names(directory.children);
  if (auto found = lock_or_election(seen, directory.children)) return found;
  if (const auto* leases = inner(directory, kLeases))
    return curator_semaphore(*leases, inner(directory, kLocks));
  if (const auto* line = inner(directory, kBesideDirectory)) return kazoo_semaphore(directory, *line);
  if (auto found = queue(seen, directory)) return found;
  return barrier_or_membership(seen, directory);
}

// The youngest nodes wait, or are members like all others.
void count_unseen(const RecipeDirectory& directory, Recipe& recipe) {
  const bool all_hold = recipe.kind == RecipeKind::kMembership || recipe.kind == RecipeKind::kBarrier;
  for (const auto& [name, count] : directory.unseen) {
    const bool kazoo_leases = recipe.kind == RecipeKind::kSemaphore && name.empty();
    if (name == kTaken) continue;  // Each of them is counted in "entries".
    (all_hold || kazoo_leases || name == kLeases ? recipe.holders_unseen : recipe.waiting_unseen) += count;
  }
}

}  // namespace

std::optional<Recipe> recognise_recipe(const RecipeDirectory& directory) {
  auto recipe = recognise_seen(directory);
  if (recipe) count_unseen(directory, *recipe);
  return recipe;
}

}  // namespace drover::layouts

// SPDX-License-Identifier: Apache-2.0
#include "server/recipe_shapes.h"

#include <algorithm>
#include <charconv>

namespace drover::server {
namespace {

constexpr std::string_view kCurator = "Curator, drover";
constexpr std::string_view kKazoo = "kazoo";

// The number that the server put behind `marker`: at least ten digits, and a sign where the counter has
// wrapped.
std::optional<std::int32_t> sequence_behind(std::string_view name, std::string_view marker) {
  const std::size_t at = name.rfind(marker);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(at + marker.size());
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.size() < 10 || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

struct Numbered {
  RecipeEntry entry;
  std::int32_t sequence = 0;
};

// In the order in which the counter counts, also where it wraps.
void sort_by_sequence(std::vector<Numbered>& line) {
  std::ranges::stable_sort(line, [](const Numbered& a, const Numbered& b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.sequence) -
                                     static_cast<std::uint32_t>(b.sequence)) < 0;
  });
}

struct Marker {
  std::string_view text;
  std::string_view mode = {};
};

// Those whose names have one of the markers, in order.
std::vector<RecipeEntry> line_of(const std::vector<RecipeNode>& nodes, std::initializer_list<Marker> markers,
                                 std::string_view directory = {}) {
  std::vector<Numbered> line;
  for (const RecipeNode& node : nodes) {
    for (const Marker& marker : markers) {
      const auto sequence = sequence_behind(node.name, marker.text);
      if (!sequence) continue;
      line.push_back({{node, std::string(directory), marker.mode}, *sequence});
      break;
    }
  }
  sort_by_sequence(line);
  std::vector<RecipeEntry> out;
  for (Numbered& each : line) out.push_back(std::move(each.entry));
  return out;
}

Recipe first_holds(RecipeKind kind, std::string_view layout, std::vector<RecipeEntry> line) {
  Recipe recipe{.kind = kind, .layout = layout, .holders = {}, .waiting = std::move(line)};
  recipe.holders.push_back(std::move(recipe.waiting.front()));
  recipe.waiting.erase(recipe.waiting.begin());
  return recipe;
}

// One writer, or all readers up to the first writer.
Recipe read_write(std::string_view layout, std::vector<RecipeEntry> line) {
  Recipe recipe{.kind = RecipeKind::kReadWriteLock, .layout = layout, .holders = {}, .waiting = {}};
  auto inside = std::ranges::find(line, "write", &RecipeEntry::mode);
  if (inside == line.begin()) ++inside;
  recipe.holders.assign(line.begin(), inside);
  recipe.waiting.assign(inside, line.end());
  return recipe;
}

std::optional<Recipe> lock_or_election(const std::vector<RecipeNode>& nodes) {
  const Marker read{"__READ__", "read"};
  const Marker write{"__WRIT__", "write"};
  if (auto line = line_of(nodes, {read, write}); !line.empty()) return read_write(kCurator, std::move(line));
  if (!line_of(nodes, {{"__rlock__"}}).empty())
    return read_write(kKazoo, line_of(nodes, {{"__rlock__", "read"}, {"__lock__", "write"}}));
  if (auto line = line_of(nodes, {{"__lock__"}}); !line.empty())
    return first_holds(RecipeKind::kLock, kKazoo, std::move(line));
  if (auto line = line_of(nodes, {{"latch-"}}); !line.empty())
    return first_holds(RecipeKind::kElection, kCurator, std::move(line));
  if (auto line = line_of(nodes, {{"lock-"}}); !line.empty())
    return first_holds(RecipeKind::kLock, kCurator, std::move(line));
  return std::nullopt;
}

const std::vector<RecipeNode>* inner(const RecipeDirectory& directory, std::string_view name) {
  const auto found = directory.inner.find(name);
  return found == directory.inner.end() ? nullptr : &found->second;
}

// Whoever is first among the locks makes its lease at once and waits until there are few enough: that lease,
// the newest of its session, is not held yet.
Recipe curator_semaphore(const std::vector<RecipeNode>& leases, const std::vector<RecipeNode>* locks) {
  Recipe recipe{.kind = RecipeKind::kSemaphore, .layout = kCurator, .holders = {}, .waiting = {}};
  recipe.holders = line_of(leases, {{"lease-"}}, "leases");
  if (locks) recipe.waiting = line_of(*locks, {{"lock-"}}, "locks");
  if (recipe.waiting.empty()) return recipe;
  const std::int64_t asking = recipe.waiting.front().node.owner;
  for (std::size_t i = recipe.holders.size(); i-- > 0;) {
    if (recipe.holders[i].node.owner != asking) continue;
    recipe.holders.erase(recipe.holders.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  return recipe;
}

Recipe kazoo_semaphore(const RecipeDirectory& directory, const std::vector<RecipeNode>& line) {
  Recipe recipe{.kind = RecipeKind::kSemaphore, .layout = kKazoo, .holders = {}, .waiting = {}};
  for (const RecipeNode& node : directory.children) {
    if (node.owner != 0) recipe.holders.push_back({node});
  }
  recipe.waiting = line_of(line, {{"__lock__"}}, kBesideDirectory);
  std::int64_t leases = 0;
  const char* const end = directory.data.data() + directory.data.size();
  if (std::from_chars(directory.data.data(), end, leases).ptr == end && leases > 0) recipe.capacity = leases;
  return recipe;
}

Recipe kazoo_locking_queue(const std::vector<RecipeNode>& entries, const std::vector<RecipeNode>& taken) {
  Recipe recipe{.kind = RecipeKind::kQueue, .layout = kKazoo, .holders = {}, .waiting = {}};
  // Names begin with the priority, so that their order is the order of work.
  for (const RecipeNode& node : entries) {
    if (!node.name.starts_with("entry-")) continue;
    RecipeEntry entry{node, "entries"};
    const auto found = std::ranges::find(taken, node.name, &RecipeNode::name);
    if (found == taken.end()) {
      recipe.waiting.push_back(std::move(entry));
    } else {
      // Whoever took it made the node of that name.
      entry.node.owner = found->owner;
      entry.node.ctime = found->ctime;
      recipe.holders.push_back(std::move(entry));
    }
  }
  std::ranges::sort(recipe.waiting, {},
                    [](const RecipeEntry& e) -> const std::string& { return e.node.name; });
  return recipe;
}

std::optional<Recipe> queue(const RecipeDirectory& directory) {
  const auto* entries = inner(directory, "entries");
  const auto* taken = inner(directory, "taken");
  if (entries && taken) return kazoo_locking_queue(*entries, *taken);
  for (const std::string_view marker : {"queue-", "qn-", "q-", "entry-"}) {
    std::vector<RecipeEntry> items;
    for (const RecipeNode& node : directory.children) {
      const auto dash = node.name.rfind('-');
      const bool is_item = node.owner == 0 && node.name.find(marker) != std::string::npos &&
                           node.name.size() - std::min(dash, node.name.size()) > 10;
      if (is_item) items.push_back({node});
    }
    if (items.empty()) continue;
    // With priorities and times the name's beginning decides; without, it is the same for all.
    std::ranges::sort(items, {},
                      [&](const RecipeEntry& e) { return e.node.name.substr(e.node.name.find(marker)); });
    return Recipe{.kind = RecipeKind::kQueue,
                  .layout = marker == "entry-" ? kKazoo : kCurator,
                  .holders = {},
                  .waiting = std::move(items)};
  }
  return std::nullopt;
}

std::optional<Recipe> barrier_or_membership(const RecipeDirectory& directory) {
  bool ready = false;
  bool party = false;
  std::vector<RecipeEntry> members;
  for (const RecipeNode& node : directory.children) {
    if (node.name == "ready") {
      ready = true;
    } else if (node.owner == 0) {
      return std::nullopt;
    } else {
      party = party || node.name.find("__party__") != std::string::npos;
      members.push_back({node});
    }
  }
  if (members.empty() && !ready) return std::nullopt;
  std::ranges::sort(members, {}, [](const RecipeEntry& e) { return e.node.ctime; });
  return Recipe{.kind = ready ? RecipeKind::kBarrier : RecipeKind::kMembership,
                .layout = party ? kKazoo : std::string_view{},  // both libraries make them look like this
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

std::optional<Recipe> recognise_recipe(const RecipeDirectory& directory) {
  if (directory.children.empty()) return std::nullopt;
  if (auto found = lock_or_election(directory.children)) return found;
  if (const auto* leases = inner(directory, "leases"))
    return curator_semaphore(*leases, inner(directory, "locks"));
  if (const auto* line = inner(directory, kBesideDirectory)) return kazoo_semaphore(directory, *line);
  if (auto found = queue(directory)) return found;
  return barrier_or_membership(directory);
}

}  // namespace drover::server

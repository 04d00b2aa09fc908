// SPDX-License-Identifier: Apache-2.0
#include "cli/recipes/read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/child_path.h"
#include "cli/common/human_text.h"
#include "layouts/directories.h"
#include "layouts/revocation.h"
#include "layouts/sequence.h"

namespace drover::cli::observe {
namespace {

namespace json = boost::json;

constexpr std::size_t kNamesInNote = 5;

// The existing nodes, in the requested order.
Result<std::vector<std::pair<std::size_t, NodeData>>> get_all(const Client& client,
                                                              const std::vector<std::string>& paths) {
  std::vector<std::pair<std::size_t, NodeData>> nodes;
  for (std::size_t first = 0; first < paths.size(); first += kAtOnce) {
    std::vector<Task<Result<NodeData>>> reads;
    for (std::size_t i = first; i < std::min(paths.size(), first + kAtOnce); ++i) {
      reads.push_back(client.get(paths[i], Wait::within(kPatience)));
    }
    auto results = sync_wait(when_all(std::move(reads)));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i])
        nodes.emplace_back(first + i, *std::move(results[i]));
      else if (results[i].error() != Errc::kNoNode)
        return std::unexpected(results[i].error());
    }
  }
  return nodes;
}

// A missing directory counts as empty.
Result<std::vector<std::string>> names_in(const Client& client, const std::string& path) {
  auto children = sync_wait(client.children(path, Wait::within(kPatience)));
  if (!children && children.error() == Errc::kNoNode) return std::vector<std::string>{};
  if (!children) return std::unexpected(children.error());
  return std::move(children->names);
}

std::string beside(const std::string& path, std::string_view ending) { return path + std::string(ending); }

std::string claims_of(const std::string& path, const ReadLimits& limits) {
  return limits.claims.empty() ? beside(path, layouts::kClaims) : limits.claims;
}

Stand stand_of(std::string path, Role role, NodeData node) {
  Stand stand{std::move(path), role, node.stat, std::move(node.data)};
  stand.asked_to_leave = layouts::is_revocation(stand.data);
  return stand;
}

layouts::Creation creation_of(const Stat& stat) { return {raw(stat.ephemeral_owner), raw(stat.czxid)}; }

class Reader {
 public:
  Reader(const Client& client, const ReadLimits& limits) : client_(client), limits_(limits) {}

  Result<View> read(const std::string& path) {
    auto self = sync_wait(client_.get(path, Wait::within(kPatience)));
    if (!self) return std::unexpected(self.error());
    auto names = names_in(client_, path);
    if (!names) return std::unexpected(names.error());
    Recognition seen = recognise(*names);
    View view{.path = path, .kind = seen.kind, .family = seen.family, .order = seen.order};
    if (!seen.others.empty() && seen.kind != Kind::kNothing) note_others(seen.others, view);
    const Result<void> filled = fill(seen, *self, view);
    if (!filled) return std::unexpected(filled.error());
    return view;
  }

 private:
  static void note_others(const std::vector<std::string>& others, View& view) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(others.size(), kNamesInNote); ++i)
      names.push_back(safe_text(others[i]));
    view.notes.push_back(fmt::format("{} nodes with other names: {}{}", others.size(), fmt::join(names, ", "),
                                     others.size() > kNamesInNote ? ", …" : ""));
  }

  Result<void> fill(const Recognition& seen, const NodeData& self, View& view) {
    switch (seen.kind) {
      case Kind::kMutex:
      case Kind::kReadWriteLock:
      case Kind::kElection:
      case Kind::kTurnQueue: return fill_line(view.path, seen, view);
      case Kind::kSemaphore:
        return seen.family == Family::kKazoo ? fill_kazoo_semaphore(seen, self, view)
                                             : fill_semaphore(seen, view);
      case Kind::kTimeLease: return fill_time_lease(view);
      case Kind::kQueue: return fill_queue(seen, view);
      case Kind::kGroup: return fill_group(seen.parts, view);
      case Kind::kSeveral: view.things = seen.things; return {};
      case Kind::kSimpleLock:
      case Kind::kNothing: break;
    }
    return fill_unnamed(seen, self, view);
  }

  // The nodes of these parts, without those that are gone.
  Result<std::vector<Stand>> stands(const std::string& directory, std::vector<Part>& parts, View& view) {
    if (parts.size() > limits_.line_max) {
      view.notes.push_back(fmt::format("only the first {} of {} are shown", limits_.line_max, parts.size()));
      view.unseen += parts.size() - limits_.line_max;
      parts.resize(limits_.line_max);
    }
    std::vector<std::string> paths;
    for (const Part& part : parts) paths.push_back(child_path(directory, part.name));
    auto nodes = get_all(client_, paths);
    if (!nodes) return std::unexpected(nodes.error());
    std::vector<Stand> all;
    std::vector<Part> there;
    for (auto& [i, node] : *nodes) {
      all.push_back(stand_of(paths[i], parts[i].role, std::move(node)));
      there.push_back(std::move(parts[i]));
      if (!all.back().stat.is_ephemeral()) {
        view.notes.push_back(fmt::format("{} is not ephemeral: it stays until a client deletes it",
                                         safe_text(there.back().name)));
      }
    }
    parts = std::move(there);
    return all;
  }

  Result<void> fill_line(const std::string& directory, const Recognition& seen, View& view) {
    std::vector<Part> parts = seen.parts;
    auto all = stands(directory, parts, view);
    if (!all) return std::unexpected(all.error());
    const auto holders = static_cast<std::ptrdiff_t>(holders_in(seen.kind, parts));
    view.holders.assign(std::make_move_iterator(all->begin()),
                        std::make_move_iterator(all->begin() + holders));
    view.waiters.assign(std::make_move_iterator(all->begin() + holders), std::make_move_iterator(all->end()));
    return {};
  }

  Result<void> fill_semaphore(const Recognition& seen, View& view) {
    std::vector<Part> leases = seen.parts;
    std::vector<Stand> line;
    std::string directory = view.path;
    if (leases.empty()) {
      directory = child_path(view.path, layouts::kLeases);
      auto names = names_in(client_, directory);
      if (!names) return std::unexpected(names.error());
      leases = recognise(*names).parts;
      auto waiting = mutex_line(child_path(view.path, layouts::kLocks), view);
      if (!waiting) return std::unexpected(waiting.error());
      line = *std::move(waiting);
    }
    auto all = stands(directory, leases, view);
    if (!all) return std::unexpected(all.error());
    for (Stand& lease : *all) {
      const bool granted =
          line.empty() || layouts::is_granted(creation_of(lease.stat), creation_of(line[0].stat));
      if (granted) view.holders.push_back(std::move(lease));
    }
    view.waiters = std::move(line);
    return {};
  }

  Result<std::vector<Stand>> mutex_line(const std::string& directory, View& view) {
    auto names = names_in(client_, directory);
    if (!names) return std::unexpected(names.error());
    std::vector<Part> parts = recognise(*names).parts;
    return stands(directory, parts, view);
  }

  Result<void> fill_kazoo_semaphore(const Recognition& seen, const NodeData& self, View& view) {
    std::vector<Part> parts = seen.parts;
    auto all = stands(view.path, parts, view);
    if (!all) return std::unexpected(all.error());
    view.holders = *std::move(all);
    auto waiting = mutex_line(beside(view.path, layouts::kBesideDirectory), view);
    if (!waiting) return std::unexpected(waiting.error());
    view.waiters = *std::move(waiting);
    const auto leases = layouts::leases_max(self.data);
    view.notes.push_back(
        leases ? fmt::format("at most {} leases", *leases)
               : "its data has no number of leases: these may be the parties of a double barrier");
    return {};
  }

  Result<void> fill_time_lease(View& view) {
    const std::string path = child_path(view.path, layouts::kLeaseHolder);
    auto node = sync_wait(client_.get(path, Wait::within(kPatience)));
    if (!node && node.error() == Errc::kNoNode) return {};
    if (!node) return std::unexpected(node.error());
    json::error_code error;
    const json::value lease = json::parse(node->data, error);
    const json::object* object = error ? nullptr : lease.if_object();
    const auto field = [&](std::string_view name) -> std::string {
      const json::value* value = object == nullptr ? nullptr : object->if_contains(name);
      return value != nullptr && value->is_string() ? std::string(value->get_string()) : "?";
    };
    view.holders.push_back({path, Role::kPlain, node->stat, field("holder")});
    view.notes.push_back(
        fmt::format("it ends at {} UTC, whether its holder is connected or not", safe_text(field("end"))));
    return {};
  }

  // Claims have the names of their items, in another directory. Other nodes there belong to the
  // consumers.
  Result<std::unordered_map<std::string, Stand>> claims(const std::string& directory,
                                                        const std::vector<Part>& items) {
    std::unordered_map<std::string, Stand> claims;
    auto names = names_in(client_, directory);
    if (!names) return std::unexpected(names.error());
    std::unordered_set<std::string_view> of_items;
    for (const Part& item : items) of_items.insert(item.name);
    std::erase_if(*names, [&](const std::string& name) { return !of_items.contains(name); });
    std::sort(names->begin(), names->end());
    if (names->size() > limits_.line_max) names->resize(limits_.line_max);
    std::vector<std::string> paths;
    for (const std::string& name : *names) paths.push_back(child_path(directory, name));
    auto nodes = get_all(client_, paths);
    if (!nodes) return std::unexpected(nodes.error());
    for (auto& [i, node] : *nodes)
      claims.emplace((*names)[i], stand_of(paths[i], Role::kPlain, std::move(node)));
    return claims;
  }

  Result<void> fill_queue(const Recognition& seen, View& view) {
    std::string directory = view.path;
    std::string claims_at = claims_of(view.path, limits_);
    std::vector<Part> parts = seen.parts;
    if (parts.empty()) {  // kazoo's LockingQueue
      directory = child_path(view.path, layouts::kEntries);
      claims_at = child_path(view.path, layouts::kTaken);
      auto names = names_in(client_, directory);
      if (!names) return std::unexpected(names.error());
      parts = recognise(*names).parts;
    }
    view.items_total = parts.size();
    auto claimed = claims(claims_at, parts);
    if (!claimed) return std::unexpected(claimed.error());
    return fill_items(directory, parts, *claimed, view);
  }

  // The head of the queue, claimed items after it, and the oldest item for its age.
  Result<void> fill_items(const std::string& directory, const std::vector<Part>& parts,
                          const std::unordered_map<std::string, Stand>& claimed, View& view) {
    const auto oldest = std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return layouts::comes_before(a.sequence, b.sequence);
    });
    std::vector<const Part*> shown;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i < limits_.items_max || claimed.contains(parts[i].name)) shown.push_back(&parts[i]);
    }
    std::vector<std::string> paths;
    for (const Part* part : shown) paths.push_back(child_path(directory, part->name));
    if (oldest != parts.end()) paths.push_back(child_path(directory, oldest->name));
    auto nodes = get_all(client_, paths);
    if (!nodes) return std::unexpected(nodes.error());
    for (auto& [i, node] : *nodes) {
      if (i == shown.size()) {
        view.oldest_ms = node.stat.ctime_ms;
        continue;
      }
      Item item{shown[i]->name, shown[i]->key, node.stat, {}};
      if (const auto claim = claimed.find(item.name); claim != claimed.end()) item.claim = claim->second;
      view.items.push_back(std::move(item));
    }
    if (shown.size() < parts.size()) {
      view.notes.push_back(fmt::format("{} more items follow", parts.size() - shown.size()));
    }
    return {};
  }

  Result<void> fill_group(std::vector<Part> parts, View& view) {
    auto all = stands(view.path, parts, view);
    if (!all) return std::unexpected(all.error());
    view.members = *std::move(all);
    return {};
  }

  // Unknown names: an ephemeral node is a simple lock, and ephemeral children are members.
  Result<void> fill_unnamed(const Recognition& seen, const NodeData& self, View& view) {
    if (self.stat.is_ephemeral()) {
      view.kind = Kind::kSimpleLock;
      view.family = Family::kDrover;
      view.holders.push_back(stand_of(view.path, Role::kPlain, self));
      return {};
    }
    std::vector<std::string> names = seen.others;
    if (names.size() > limits_.line_max) {
      view.notes.push_back(
          fmt::format("only the first {} of {} children were read", limits_.line_max, names.size()));
      names.resize(limits_.line_max);
    }
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(child_path(view.path, name));
    auto nodes = get_all(client_, paths);
    if (!nodes) return std::unexpected(nodes.error());
    sort_children(names, paths, *nodes, view);
    return {};
  }

  static void sort_children(const std::vector<std::string>& names, const std::vector<std::string>& paths,
                            std::vector<std::pair<std::size_t, NodeData>>& nodes, View& view) {
    std::vector<std::string> others;
    for (auto& [i, node] : nodes) {
      // A service instance may be a persistent node (Curator's STATIC and PERMANENT).
      const bool instance = node.data.find("\"serviceType\":") != std::string::npos;
      const bool lock = std::binary_search(names.begin(), names.end(), beside(names[i], layouts::kEpoch));
      if ((node.stat.is_ephemeral() && !lock) || instance) {
        view.members.push_back(stand_of(paths[i], Role::kPlain, std::move(node)));
      } else if (lock) {
        view.notes.push_back(
            fmt::format("{} is a simple lock or an election by one node", safe_text(paths[i])));
      } else {
        others.push_back(names[i]);
      }
    }
    if (view.members.empty()) return;
    view.kind = Kind::kGroup;
    if (!others.empty()) note_others(others, view);
  }

  const Client& client_;
  const ReadLimits& limits_;
};

}  // namespace

Result<View> read_view(const Client& client, const std::string& path, const ReadLimits& limits) {
  return Reader(client, limits).read(path);
}

std::vector<std::string> watched_paths(const std::string& path, const ReadLimits& limits) {
  return {path, claims_of(path, limits), beside(path, layouts::kBesideDirectory)};
}

}  // namespace drover::cli::observe

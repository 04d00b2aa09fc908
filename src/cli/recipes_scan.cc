// SPDX-License-Identifier: Apache-2.0
//
// Looking for recipes in a whole tree: a walk from directory to directory that never holds more than the
// names it has still to visit.
#include <algorithm>
#include <array>
#include <deque>

#include "cli/recipes_read.h"

namespace drover::cli::observe {
namespace {

constexpr std::size_t kAtOnce = 200;
constexpr std::size_t kChildrenMax = 10'000;  // of one directory that is no recipe
constexpr std::chrono::seconds kPatience{30};

// Directories beside a recipe that belong to it.
bool is_beside(std::string_view name) {
  constexpr std::array<std::string_view, 6> kEnds{".claims", ".turns", ".done",
                                                  ".puts",   ".dead",  "-__lock__"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return name.ends_with(end); });
}

// Children that have children, and ephemeral ones that are locks by themselves.
struct Below {
  std::vector<std::string> directories;
  std::vector<std::string> locks;
};

Result<Below> look_below(const Client& client, const std::string& path,
                         const std::vector<std::string>& names) {
  Below below;
  for (std::size_t first = 0; first < names.size(); first += kAtOnce) {
    std::vector<Task<Result<std::optional<Stat>>>> reads;
    for (std::size_t i = first; i < std::min(names.size(), first + kAtOnce); ++i) {
      reads.push_back(client.exists(join_path(path, names[i]), Wait::within(kPatience)));
    }
    const auto results = sync_wait(when_all(std::move(reads)));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i]) return std::unexpected(results[i].error());
      const std::optional<Stat>& stat = *results[i];
      const std::string& name = names[first + i];
      if (stat && stat->num_children > 0 && !is_beside(name))
        below.directories.push_back(join_path(path, name));
      const bool has_epoch =
          stat && stat->is_ephemeral() && std::binary_search(names.begin(), names.end(), name + ".epoch");
      if (has_epoch) below.locks.push_back(join_path(path, name));
    }
  }
  return below;
}

// The insides of what is shown already are not shown again.
bool is_inside(Kind kind) { return kind != Kind::kNothing && kind != Kind::kGroup && kind != Kind::kSeveral; }

}  // namespace

Result<Scanned> scan(const Client& client, const std::string& path, const ReadLimits& limits,
                     const std::function<bool(const View&)>& found) {
  Scanned scanned;
  std::deque<std::string> todo{path};
  while (!todo.empty()) {
    const std::string directory = std::move(todo.front());
    todo.pop_front();
    ++scanned.directories;
    auto view = read_view(client, directory, limits);
    // It has gone meanwhile, or is not for us to read.
    if (!view && (view.error() == Errc::kNoNode || view.error() == Errc::kNoAuth)) continue;
    if (!view) return std::unexpected(view.error());
    if (view->kind != Kind::kNothing && !found(*view)) return scanned;
    if (is_inside(view->kind)) continue;
    auto children = sync_wait(client.children(directory, Wait::within(kPatience)));
    if (!children) continue;
    std::erase_if(children->names,
                  [&](const std::string& name) { return directory == "/" && name == "zookeeper"; });
    std::sort(children->names.begin(), children->names.end());
    if (children->names.size() > kChildrenMax) {
      children->names.resize(kChildrenMax);
      scanned.complete = false;
    }
    auto below = look_below(client, directory, children->names);
    if (!below) return std::unexpected(below.error());
    for (const std::string& lock : below->locks) {
      const auto one = read_view(client, lock, limits);
      if (one && !found(*one)) return scanned;
    }
    for (std::string& each : below->directories) {
      if (todo.size() + scanned.directories < limits.directories)
        todo.push_back(std::move(each));
      else
        scanned.complete = false;
    }
  }
  return scanned;
}

}  // namespace drover::cli::observe

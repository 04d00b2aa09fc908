// SPDX-License-Identifier: Apache-2.0
//
// Searches a subtree for recipes, directory by directory. Memory is bounded by the names that are still to be
// visited.
#include <algorithm>
#include <deque>
#include <thread>

#include "base/child_path.h"
#include "cli/recipes/read.h"
#include "layouts/directories.h"

namespace drover::cli::observe {
namespace {

constexpr std::size_t kDirectoriesAtOnce = 16;
constexpr std::size_t kChildrenMax = 10'000;  // of a directory that is not a recipe

// Children with children, and ephemeral children that are simple locks.
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
      reads.push_back(client.exists(child_path(path, names[i]), Wait::within(kPatience)));
    }
    const auto results = sync_wait(when_all(std::move(reads)));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i]) return std::unexpected(results[i].error());
      const std::optional<Stat>& stat = *results[i];
      const std::string& name = names[first + i];
      if (stat && stat->num_children > 0 && !layouts::is_beside_recipe(name))
        below.directories.push_back(child_path(path, name));
      const bool has_epoch =
          stat && stat->is_ephemeral() &&
          std::binary_search(names.begin(), names.end(), name + std::string(layouts::kEpoch));
      if (has_epoch) below.locks.push_back(child_path(path, name));
    }
  }
  return below;
}

// Directories inside a recipe that is already shown are skipped.
bool is_inside(Kind kind) { return kind != Kind::kNothing && kind != Kind::kGroup && kind != Kind::kSeveral; }

// One directory, and what to visit after it.
struct Looked {
  Result<View> view = fail(Errc::kNoNode);
  Below below = {};
  bool complete = true;
};

// The node is gone, or may not be read.
bool is_to_be_left_out(const Error& error) { return error == Errc::kNoNode || error == Errc::kNoAuth; }

Looked look_at(const Client& client, const std::string& directory, const ReadLimits& limits) {
  Looked looked{.view = read_view(client, directory, limits)};
  if (!looked.view || is_inside(looked.view->kind)) return looked;
  auto children = sync_wait(client.children(directory, Wait::within(kPatience)));
  if (!children) return looked;
  std::vector<std::string>& names = children->names;
  std::erase_if(names, [&](const std::string& name) { return directory == "/" && name == "zookeeper"; });
  std::sort(names.begin(), names.end());
  looked.complete = names.size() <= kChildrenMax;
  if (!looked.complete) names.resize(kChildrenMax);
  auto below = look_below(client, directory, names);
  if (below) looked.below = *std::move(below);
  if (!below) looked.view = std::unexpected(below.error());
  return looked;
}

// Several at a time, because each needs a few requests in sequence.
std::vector<Looked> look_at_all(const Client& client, const std::vector<std::string>& directories,
                                const ReadLimits& limits) {
  std::vector<Looked> all(directories.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    threads.emplace_back([&, i] { all[i] = look_at(client, directories[i], limits); });
  }
  threads.clear();
  return all;
}

}  // namespace

Result<Scanned> scan(const Client& client, const std::string& path, const ReadLimits& limits,
                     const std::function<bool(const View&)>& found) {
  Scanned scanned;
  std::deque<std::string> todo{path};
  while (!todo.empty()) {
    std::vector<std::string> now;
    for (; now.size() < kDirectoriesAtOnce && !todo.empty(); todo.pop_front())
      now.push_back(std::move(todo.front()));
    scanned.directories += now.size();
    for (Looked& looked : look_at_all(client, now, limits)) {
      if (!looked.view && is_to_be_left_out(looked.view.error())) continue;
      if (!looked.view) return std::unexpected(looked.view.error());
      scanned.complete = scanned.complete && looked.complete;
      if (looked.view->kind != Kind::kNothing && !found(*looked.view)) return scanned;
      for (const std::string& lock : looked.below.locks) {
        const auto one = read_view(client, lock, limits);
        if (one && !found(*one)) return scanned;
      }
      for (std::string& each : looked.below.directories) {
        const bool room = todo.size() + scanned.directories < limits.directories;
        if (room) todo.push_back(std::move(each));
        scanned.complete = scanned.complete && room;
      }
    }
  }
  return scanned;
}

}  // namespace drover::cli::observe

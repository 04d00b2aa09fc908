// SPDX-License-Identifier: Apache-2.0
//
// Removes everything that a load created: children are deleted in transactions of a hundred, several in
// flight.
#include <algorithm>

#include "cli/bench/load.h"

namespace drover::cli::observe {
namespace {

constexpr std::size_t kInTransaction = 100, kRemovalsAtOnce = 16;
constexpr std::chrono::seconds kCleanupPatience{120};
constexpr std::string_view kPrefix = "drover-bench-";

Result<void> remove_leaves(const Client& client, const std::vector<std::string>& paths) {
  for (std::size_t first = 0; first < paths.size();) {
    std::vector<Task<Result<std::vector<OpResult>>>> removals;
    for (; removals.size() < kRemovalsAtOnce && first < paths.size(); first += kInTransaction) {
      std::vector<Op> ops;
      for (std::size_t i = first; i < std::min(paths.size(), first + kInTransaction); ++i) {
        ops.push_back(Op::remove(paths[i]));
      }
      removals.push_back(client.multi(std::move(ops), Wait::within(kCleanupPatience)));
    }
    for (const auto& removed : sync_wait(when_all(std::move(removals)))) {
      if (!removed) return std::unexpected(removed.error());
    }
  }
  return {};
}

// Leaf children are deleted together; others one by one, after their subtrees.
Result<void> remove_below(const Client& client, const std::string& root, int depth) {
  auto children = sync_wait(client.children(root, Wait::within(kCleanupPatience)));
  if (!children && children.error() == Errc::kNoNode) return {};
  if (!children) return std::unexpected(children.error());
  std::vector<std::string> paths;
  for (const std::string& name : children->names) paths.push_back(root + "/" + name);
  if (depth > 0) {
    for (const std::string& path : paths) {
      const auto stat = sync_wait(client.exists(path, Wait::within(kCleanupPatience)));
      if (!stat) return std::unexpected(stat.error());
      if (!stat->has_value() || (*stat)->num_children == 0) continue;
      if (const auto removed = remove_below(client, path, depth - 1); !removed) return removed;
    }
  }
  return remove_leaves(client, paths);
}

}  // namespace

Result<void> remove_tree(const Client& client, const std::string& root) {
  // Locks and created nodes have a directory of their own, and nothing is deeper.
  auto removed = remove_below(client, root, 0);
  if (!removed && removed.error() == Errc::kNotEmpty) removed = remove_below(client, root, 1);
  // Ephemeral nodes of ending sessions may disappear first.
  for (int i = 0; i < 3 && !removed && removed.error() == Errc::kNoNode; ++i)
    removed = remove_below(client, root, 1);
  if (!removed) return removed;
  auto gone = sync_wait(client.remove(root, Version::kAny, Wait::within(kCleanupPatience)));
  if (!gone && gone.error() == Errc::kNoNode) return {};
  return gone;
}

Result<std::vector<std::string>> find_leftovers(const Client& client) {
  auto children = sync_wait(client.children("/", Wait::within(kCleanupPatience)));
  if (!children) return std::unexpected(children.error());
  std::vector<std::string> roots;
  for (const std::string& name : children->names) {
    if (name.starts_with(kPrefix)) roots.push_back("/" + name);
  }
  return roots;
}

}  // namespace drover::cli::observe

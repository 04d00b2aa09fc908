// SPDX-License-Identifier: Apache-2.0
//
// Draws and searches a subtree.
#include <fnmatch.h>

#include <algorithm>

#include "base/child_path.h"
#include "base/path.h"
#include "cli/commands/commands.h"
#include "cli/common/progress.h"
#include "cli/common/text.h"
#include "cli/subtree/nodes.h"
#include "cli/subtree/walk.h"

namespace drover::cli {
namespace {

bool has_name(const std::string& path, const std::string& glob) {
  return ::fnmatch(glob.c_str(), std::string(base_name(path)).c_str(), 0) == 0;
}

// Reads the nodes, a window at a time, and keeps those that match.
std::expected<std::vector<std::string>, Failure> those_that_fit(Context& context,
                                                                std::vector<std::string> paths,
                                                                const Flags& flags) {
  Progress progress(context.output, "reading", paths.size());
  std::vector<std::string> found;
  for (std::size_t at = 0; at < paths.size(); at += kWindow) {
    const std::size_t end = std::min(paths.size(), at + kWindow);
    std::vector<Task<Result<NodeData>>> reads;
    for (std::size_t i = at; i < end; ++i) reads.push_back(context.client().get(paths[i], context.wait()));
    const auto nodes = context.ask_all(std::move(reads));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i] && (nodes[i].error() == Errc::kNoNode || nodes[i].error() == Errc::kNoAuth)) continue;
      if (!nodes[i]) return fail_with(nodes[i].error());
      const bool fits =
          (!flags.has("ephemeral") || nodes[i]->stat.is_ephemeral()) &&
          (!flags.has("data") || nodes[i]->data.find(flags.value("data")) != std::string::npos) &&
          (!flags.has("empty") || nodes[i]->data.empty());
      if (fits) found.push_back(paths[at + i]);
    }
    progress.show(end);
  }
  return found;
}

// The prefix of a node's line: "│  " for each ancestor that has later siblings.
struct Branch {
  std::string path;
  std::string name;
  std::string indent;
  bool is_last = true;
};

}  // namespace

Outcome find_in_tree(Context& context, const Flags& flags) {
  const std::string& root = flags.arguments()[0];
  Progress listing(context.output, "listing");
  CLI_GET(tree, read_tree(context, root, {.seen = [&](std::size_t n) { listing.show(n); }}));
  listing.end();
  std::vector<std::string> paths = std::move(tree.paths);
  std::erase_if(paths, [&](const std::string& path) {
    return (flags.has("name") && !has_name(path, flags.value("name"))) ||
           (flags.has("leaf") && tree.children.contains(path));
  });
  if (flags.has("data") || flags.has("ephemeral") || flags.has("empty")) {
    CLI_GET(found, those_that_fit(context, std::move(paths), flags));
    paths = std::move(found);
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    if (context.json) {
      context.print(JsonObject().text("path", path));
    } else {
      context.print(path);
    }
  }
  return {};
}

Outcome print_tree(Context& context, const std::string& root) {
  CLI_GET(tree, read_tree(context, root));
  std::vector<Branch> open{{root, root, "", true}};
  while (!open.empty()) {
    const Branch branch = std::move(open.back());
    open.pop_back();
    const bool is_root = branch.path == root;
    context.print(is_root ? branch.name : branch.indent + (branch.is_last ? "└─ " : "├─ ") + branch.name);
    const auto found = tree.children.find(branch.path);
    if (found == tree.children.end()) continue;
    const std::string indent = is_root ? "" : branch.indent + (branch.is_last ? "   " : "│  ");
    for (auto name = found->second.rbegin(); name != found->second.rend(); ++name) {
      open.push_back({child_path(branch.path, *name), *name, indent, name == found->second.rbegin()});
    }
  }
  if (!tree.unreadable.empty()) return fail_with(tree.unreadable.begin()->second);
  return {};
}

}  // namespace drover::cli

// SPDX-License-Identifier: Apache-2.0
//
// A whole subtree, read with many requests under way at a time. It is no snapshot: what changes meanwhile may
// or may not be in it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/context.h"

namespace drover::cli {

struct Tree {
  std::vector<std::string> paths;  // from the root downwards, level by level
  std::unordered_map<std::string, std::vector<std::string>> children;  // sorted names; none of a leaf
  std::unordered_map<std::string, Error> unreadable;                   // whose children could not be listed

  // ZooKeeper's order of `ls -R`: all children of a node, and then what is below each of them. Ends with the
  // first error, if a node could not be listed.
  Outcome visit(const std::string& root, const std::function<void(const std::string&)>& visitor) const;
};

struct WalkOptions {
  bool watch = false;                          // set the shell's watch on every node's children
  std::function<void(std::size_t)> seen = {};  // how many so far
};

// Nodes that vanish meanwhile have no children. The root must be there.
std::expected<Tree, Failure> read_tree(Context& context, const std::string& root,
                                       const WalkOptions& options = {});

}  // namespace drover::cli

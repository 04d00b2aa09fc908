// SPDX-License-Identifier: Apache-2.0
//
// Reads a subtree with many requests in flight. It is not a snapshot: concurrent changes may or may not be
// included.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/connection/context.h"

namespace drover::cli {

struct Tree {
  std::vector<std::string> paths;                                      // from the root down, level by level
  std::unordered_map<std::string, std::vector<std::string>> children;  // sorted names; no entry for a leaf
  std::unordered_map<std::string, Error> unreadable;                   // nodes that could not be listed

  // The order of ZooKeeper's `ls -R`: all children of a node, then the subtree of each. Returns the first
  // error, if a node could not be listed.
  Outcome visit(const std::string& root, const std::function<void(const std::string&)>& visitor) const;
};

struct WalkOptions {
  bool watch = false;                          // set the shell's watch on every node's children
  std::function<void(std::size_t)> seen = {};  // called with the count so far
};

// Nodes that disappear meanwhile have no children. The root must exist.
std::expected<Tree, Failure> read_tree(Context& context, const std::string& root,
                                       const WalkOptions& options = {});

}  // namespace drover::cli

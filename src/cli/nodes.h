// SPDX-License-Identifier: Apache-2.0
//
// Many nodes at a time: read whole, and made in transactions of a size that every server takes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"

namespace drover::cli {

struct NodeCopy {
  std::string path;
  NodeData node;
  std::vector<Acl> acl;
};

// In the order of the paths. Those that are gone by now are left out.
std::expected<std::vector<NodeCopy>, Failure> read_nodes(Context& context,
                                                         const std::vector<std::string>& paths,
                                                         const std::function<void(std::size_t)>& seen = {});

// Which of them exist.
std::expected<std::vector<std::optional<Stat>>, Failure> find_nodes(Context& context,
                                                                    const std::vector<std::string>& paths);

// One after the other in transactions, several under way. Each is all or nothing; all of them together are
// not: after a failure those before it have been done. Returns how many elements were.
struct Written {
  std::size_t done = 0;
  std::optional<Failure> failure = {};
};
Written write_ops(Context& context, std::vector<Op> ops, const std::function<void(std::size_t)>& seen = {});

// Small enough to be one transaction?
bool fits_one_transaction(const std::vector<Op>& ops);

// A persistent node with the same data and ACL.
Op copy_op(const NodeCopy& node, std::string path);

}  // namespace drover::cli

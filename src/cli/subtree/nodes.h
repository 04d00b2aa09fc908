// SPDX-License-Identifier: Apache-2.0
//
// Reads many nodes at a time, and creates them in transactions of a size that every server accepts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection/context.h"

namespace drover::cli {

struct NodeCopy {
  std::string path;
  NodeData node;
  std::vector<Acl> acl;
};

// In the order of the paths. Nodes that no longer exist are skipped.
std::expected<std::vector<NodeCopy>, Failure> read_nodes(Context& context,
                                                         const std::vector<std::string>& paths,
                                                         const std::function<void(std::size_t)>& seen = {});

// The stats of the nodes; nullopt for a node that does not exist.
std::expected<std::vector<std::optional<Stat>>, Failure> find_nodes(Context& context,
                                                                    const std::vector<std::string>& paths);

// Executes the operations in transactions, several in flight. Each transaction is atomic, all together are
// not: after a failure, earlier ones have been applied. Returns how many operations were applied.
struct Written {
  std::size_t done = 0;
  std::optional<Failure> failure = {};
};
Written write_ops(Context& context, std::vector<Op> ops, const std::function<void(std::size_t)>& seen = {});

// True if they fit into one transaction.
bool fits_one_transaction(const std::vector<Op>& ops);

// A persistent node with the same data and ACL.
Op copy_op(const NodeCopy& node, std::string path);

}  // namespace drover::cli

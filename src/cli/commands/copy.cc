// SPDX-License-Identifier: Apache-2.0
//
// Copies nodes and subtrees with data and ACLs. Copies are persistent: an ephemeral node belongs to its
// session, and containers and TTL nodes cannot be recognised by their Stat.
#include "cli/commands/commands.h"
#include "cli/common/progress.h"
#include "cli/common/text.h"
#include "cli/subtree/nodes.h"
#include "cli/subtree/walk.h"

namespace drover::cli {
namespace {

bool is_below(const std::string& path, const std::string& root) {
  return path == root || root == "/" || path.starts_with(root + "/");
}

// Renames "/from/x" to "/to/x".
std::string moved(const std::string& path, const std::string& from, const std::string& to) {
  return to + path.substr(from.size());
}

Outcome check_both(const std::string& from, const std::string& to) {
  CLI_TRY(check_path(from));
  CLI_TRY(check_path(to));
  if (from == "/" || to == "/") return fail_with("the root cannot be copied or replaced");
  if (is_below(to, from)) return fail_with(to + " is " + from + " or below it: choose another target");
  return {};
}

std::expected<std::vector<NodeCopy>, Failure> read_subtree(Context& context, const std::string& root) {
  CLI_GET(tree, read_tree(context, root));
  if (!tree.unreadable.empty()) return fail_with(tree.unreadable.begin()->second);
  Progress progress(context.output, "reading", tree.paths.size());
  return read_nodes(context, tree.paths, [&](std::size_t n) { progress.show(n); });
}

std::string done_text(std::size_t done, std::size_t total) {
  return " (" + std::to_string(done) + " of " + std::to_string(total) +
         " changes were made before the error)";
}

Outcome write_all(Context& context, std::vector<Op> ops, const char* what) {
  const std::size_t total = ops.size();
  Progress progress(context.output, what, total);
  Written written = write_ops(context, std::move(ops), [&](std::size_t n) { progress.show(n); });
  progress.end();
  if (!written.failure) return {};
  if (written.done > 0) written.failure->message += done_text(written.done, total);
  return fail_with(*std::move(written.failure));
}

}  // namespace

Outcome copy_nodes(Context& context, const Flags& flags) {
  const std::string& from = flags.arguments()[0];
  const std::string& to = flags.arguments()[1];
  CLI_TRY(check_both(from, to));
  std::vector<NodeCopy> nodes;
  if (flags.has("r")) {
    CLI_GET(found, read_subtree(context, from));
    nodes = std::move(found);
  } else {
    CLI_GET(found, read_nodes(context, {from}));
    if (found.empty()) return fail_with(Error{.code = Errc::kNoNode, .path = from});
    if (found[0].node.stat.num_children > 0) {
      context.output.err_line("(only " + from + " itself was copied; use -r for the whole subtree)");
    }
    nodes = std::move(found);
  }
  std::vector<Op> ops;
  for (const NodeCopy& node : nodes) {
    if (node.node.stat.is_ephemeral()) continue;
    ops.push_back(copy_op(node, moved(node.path, from, to)));
  }
  if (ops.size() < nodes.size()) {
    context.output.err_line("(" + std::to_string(nodes.size() - ops.size()) +
                            " ephemeral nodes are skipped)");
  }
  return write_all(context, std::move(ops), "copying");
}

// One transaction that fails if anything has changed meanwhile. A subtree that does not fit is refused, not
// moved in parts: a user who knows that nobody else uses it can copy and delete it.
Outcome move_nodes(Context& context, const Flags& flags) {
  const std::string& from = flags.arguments()[0];
  const std::string& to = flags.arguments()[1];
  CLI_TRY(check_both(from, to));
  CLI_GET(nodes, read_subtree(context, from));
  std::vector<Op> ops;
  for (const NodeCopy& node : nodes) {
    if (node.node.stat.is_ephemeral()) {
      return fail_with(node.path + " is ephemeral: it belongs to its session and cannot be moved");
    }
    ops.push_back(copy_op(node, moved(node.path, from, to)));
  }
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    ops.push_back(Op::remove(node->path, node->node.stat.version));
  }
  if (!fits_one_transaction(ops)) {
    return fail_with(from + " is too large to be moved in one transaction: use `cp -r`, then `deleteall`");
  }
  return write_all(context, std::move(ops), "moving");
}

}  // namespace drover::cli

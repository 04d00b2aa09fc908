// SPDX-License-Identifier: Apache-2.0
#include "cli/subtree/walk.h"

#include <algorithm>

#include "base/child_path.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

Task<Result<Children>> list(const Context& context, const std::string& path, bool watch) {
  if (!watch) return context.client().children(path, context.wait());
  context.watches.note(path, WatchScope::kChildren);
  return context.client().children(path, context.watches.watch(), context.wait());
}

void take(Tree& tree, const std::string& path, Result<Children> listed) {
  if (!listed) {
    if (listed.error() != Errc::kNoNode) tree.unreadable.emplace(path, std::move(listed).error());
    return;
  }
  std::sort(listed->names.begin(), listed->names.end());
  for (const std::string& name : listed->names) tree.paths.push_back(child_path(path, name));
  if (!listed->names.empty()) tree.children.emplace(path, std::move(listed->names));
}

}  // namespace

std::expected<Tree, Failure> read_tree(Context& context, const std::string& root,
                                       const WalkOptions& options) {
  CLI_TRY(check_path(root));
  Tree tree;
  tree.paths.push_back(root);
  for (std::size_t done = 0; done < tree.paths.size();) {
    const std::size_t end = std::min(tree.paths.size(), done + kWindow);
    std::vector<Task<Result<Children>>> questions;
    for (std::size_t i = done; i < end; ++i) questions.push_back(list(context, tree.paths[i], options.watch));
    std::vector<Result<Children>> answers = context.ask_all(std::move(questions));
    for (std::size_t i = done; i < end; ++i) {
      Result<Children>& answer = answers[i - done];
      if (i == 0 && !answer) return fail_with(answer.error());
      // A copy, because take() grows the list of paths.
      take(tree, std::string(tree.paths[i]), std::move(answer));
    }
    done = end;
    if (options.seen) options.seen(tree.paths.size());
  }
  return tree;
}

Outcome Tree::visit(const std::string& root, const std::function<void(const std::string&)>& visitor) const {
  visitor(root);
  // No recursion: a deep tree must not overflow the stack.
  std::vector<std::string> open{root};
  while (!open.empty()) {
    const std::string path = std::move(open.back());
    open.pop_back();
    if (const auto failed = unreadable.find(path); failed != unreadable.end())
      return fail_with(failed->second);
    const auto found = children.find(path);
    if (found == children.end()) continue;
    for (const std::string& name : found->second) visitor(child_path(path, name));
    for (auto name = found->second.rbegin(); name != found->second.rend(); ++name) {
      open.push_back(child_path(path, *name));
    }
  }
  return {};
}

}  // namespace drover::cli

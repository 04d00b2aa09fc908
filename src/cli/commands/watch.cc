// SPDX-License-Identifier: Apache-2.0
//
// Adds persistent watches, and removes watches.
#include <algorithm>
#include <cctype>

#include "cli/commands/commands.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

std::vector<WatchScope> scopes_of(const Flags& flags) {
  if (flags.has("c")) return {WatchScope::kChildren};
  if (flags.has("d")) return {WatchScope::kData};
  if (flags.has("p")) return {WatchScope::kPersistent};
  if (flags.has("r")) return {WatchScope::kPersistentRecursive};
  return {WatchScope::kChildren, WatchScope::kData, WatchScope::kPersistent,
          WatchScope::kPersistentRecursive};
}

}  // namespace

Outcome add_watch(Context& context, const Flags& flags) {
  const std::string mode = flags.has("m") ? upper(flags.value("m")) : "PERSISTENT_RECURSIVE";
  const bool recursive = mode == "PERSISTENT_RECURSIVE";
  if (!recursive && mode != "PERSISTENT") return fail_with(usage_of(*find_command("addWatch")));
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  const WatchScope scope = recursive ? WatchScope::kPersistentRecursive : WatchScope::kPersistent;
  context.watches.note(path, scope);
  const auto added = Context::ask(
      context.client().add_watch(path, recursive ? WatchMode::kPersistentRecursive : WatchMode::kPersistent,
                                 context.watches.watch(), context.wait()));
  if (added) return {};
  context.watches.forget(path, scope);
  return fail_with(added.error());
}

Outcome remove_watches(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  if (context.watches.remove(context.client(), path, scopes_of(flags))) return {};
  return fail_with(Error{.code = Errc::kNoWatcher, .path = path});
}

}  // namespace drover::cli

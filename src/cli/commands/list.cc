// SPDX-License-Identifier: Apache-2.0
//
// Lists children and subtrees.
#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/common/text.h"
#include "cli/subtree/walk.h"

namespace drover::cli {
namespace {

constexpr std::string_view kLsHelp =
    "usage: ls [options] path\n"
    " -?   help\n"
    " -R   recurse\n"
    " -s   stat\n"
    " -w   watch\n";

Outcome list_recursively(Context& context, const std::string& path, const Flags& flags) {
  const bool watch = flags.has("w");
  if (watch) {
    CLI_TRY(check_path(path));
    CLI_TRY(Context::ask(context.client().get(path, context.watches.watch(), context.wait())));
    context.watches.note(path, WatchScope::kData);
  }
  CLI_GET(tree, read_tree(context, path, {.watch = watch}));
  return tree.visit(path, [&](const std::string& each) {
    if (context.json) {
      context.print(JsonObject().text("path", each));
    } else {
      context.print(each);
    }
  });
}

}  // namespace

Outcome list_children(Context& context, const Flags& flags) {
  if (flags.has("?")) context.output.out(kLsHelp);
  if (flags.arguments().empty()) return fail_with(usage_of(*find_command("ls")));
  const std::string& path = flags.arguments()[0];
  if (flags.has("-tree")) return print_tree(context, path);
  if (flags.has("R")) return list_recursively(context, path, flags);
  CLI_TRY(check_path(path));
  const bool watch = flags.has("w");
  if (watch) context.watches.note(path, WatchScope::kChildren);
  auto children =
      Context::ask(watch ? context.client().children(path, context.watches.watch(), context.wait())
                         : context.client().children(path, context.wait()));
  if (!children) {
    if (watch) context.watches.forget(path, WatchScope::kChildren);
    return fail_with(children.error());
  }
  std::sort(children->names.begin(), children->names.end());
  if (context.json) {
    context.print(JsonObject()
                      .text("path", path)
                      .json("children", json_strings(children->names))
                      .json("stat", json_of(children->stat)));
    return {};
  }
  context.print(list_text(children->names));
  if (flags.has("s")) context.output.out(stat_text(children->stat));
  return {};
}

Outcome get_ephemerals(Context& context, const Flags& flags) {
  const std::string path = flags.arguments().empty() ? "/" : flags.arguments()[0];
  CLI_TRY(check_path(path));
  CLI_GET(paths, Context::ask(context.client().ephemerals(path, context.wait())));
  if (context.json) {
    context.print(JsonObject().json("ephemerals", json_strings(paths)));
  } else {
    context.print(list_text(paths));
  }
  return {};
}

Outcome count_all_children(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  CLI_GET(count, Context::ask(context.client().count_descendants(path, context.wait())));
  if (context.json) {
    context.print(JsonObject().text("path", path).number("count", count));
  } else {
    context.print(std::to_string(count));
  }
  return {};
}

}  // namespace drover::cli

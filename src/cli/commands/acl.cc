// SPDX-License-Identifier: Apache-2.0
//
// ACLs and identities.
#include "cli/commands/commands.h"
#include "cli/common/human_text.h"
#include "cli/common/text.h"
#include "cli/subtree/walk.h"

namespace drover::cli {
namespace {

// Sets the ACL node by node; a failure is reported, and the others continue. The tree is read first, so that
// an ACL that removes read permission does not stop the work at the first node.
Outcome set_acl_below(Context& context, const std::string& path, const std::vector<Acl>& acl,
                      Version version) {
  CLI_GET(tree, read_tree(context, path));
  for (std::size_t at = 0; at < tree.paths.size(); at += kWindow) {
    std::vector<Task<Result<Stat>>> calls;
    for (std::size_t i = at; i < std::min(tree.paths.size(), at + kWindow); ++i) {
      calls.push_back(context.client().set_acl(tree.paths[i], acl, version, context.wait()));
    }
    for (const auto& done : context.ask_all(std::move(calls))) {
      // Without a newline, as in ZooKeeper's shell.
      if (!done) context.output.out(keeper_message(done.error()));
    }
  }
  return {};
}

}  // namespace

Outcome get_acl(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  CLI_GET(found, Context::ask(context.client().acl(path, context.wait())));
  if (context.json) {
    context.print(
        JsonObject().text("path", path).json("acl", json_of(found.acl)).json("stat", json_of(found.stat)));
    return {};
  }
  context.output.out(acl_text(found.acl));
  if (flags.has("s")) context.output.out(stat_text(found.stat));
  return {};
}

Outcome set_acl(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  std::vector<std::string> complaints;
  const std::vector<Acl> acl = parse_acl(flags.arguments()[1], complaints);
  for (const std::string& line : complaints) context.output.err_line(line);
  CLI_GET(version, version_flag(flags));
  CLI_TRY(check_path(path));
  if (acl.empty()) return fail_with(Error{Errc::kInvalidAcl});
  if (flags.has("R")) return set_acl_below(context, path, acl, version);
  CLI_GET(stat, Context::ask(context.client().set_acl(path, acl, version, context.wait())));
  if (context.json) {
    context.print(JsonObject().text("path", path).json("stat", json_of(stat)));
  } else if (flags.has("s")) {
    context.output.out(stat_text(stat));
  }
  return {};
}

Outcome add_auth(Context& context, const Flags& flags) {
  AuthInfo auth{flags.arguments()[0], flags.arguments()[1]};
  // A refusal ends the session, and the change of state is printed.
  const auto added = Context::ask(context.client().add_auth(std::move(auth), context.wait()));
  if (!added && added.error() != Errc::kAuthFailed) return fail_with(added.error());
  return {};
}

Outcome who_am_i(Context& context, const Flags&) {
  CLI_GET(identities, Context::ask(context.client().who_am_i(context.wait())));
  if (context.json) {
    std::vector<std::string> entries;
    for (const Identity& each : identities) {
      entries.push_back(JsonObject().text("scheme", each.scheme).text("id", each.id).str());
    }
    context.print(JsonObject().json("identities", json_array(entries)));
    return {};
  }
  context.print("Auth scheme: User");
  for (const Identity& each : identities)
    context.print(observe::safe_text(each.scheme) + ": " + observe::safe_text(each.id));
  return {};
}

}  // namespace drover::cli

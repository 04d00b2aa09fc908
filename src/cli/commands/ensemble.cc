// SPDX-License-Identifier: Apache-2.0
//
// The ensemble's members, and the shell's version.
#include <algorithm>
#include <cctype>
#include <fstream>

#include "cli/commands/commands.h"
#include "cli/common/text.h"
#include "cli/ensemble/config_text.h"
#include "drover/version.h"

namespace drover::cli {
namespace {

const std::string kConfigPath = "/zookeeper/config";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return text;
}

std::expected<std::string, Failure> members_from_file(const std::string& name) {
  std::ifstream file(name);
  if (!file) return fail_with("Error processing " + name + name + " (No such file or directory)");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::expected<ConfigChange, Failure> change_of(const Flags& flags) {
  const bool whole = flags.has("file") || flags.has("members");
  const bool parts = flags.has("add") || flags.has("remove");
  if (!whole && !parts) return fail_with(usage_of(*find_command("reconfig")));
  ConfigChange change;
  if (flags.has("v")) {
    const auto version = parse_long(flags.value("v"), 16);
    if (!version) return fail_with("-v must be followed by a long (configuration version)");
    change.from_version = *version;
  }
  if (whole && parts) {
    return fail_with(
        "Can't use -file or -members together with -add or -remove (mixing incremental and non-incremental "
        "modes is not allowed)");
  }
  if (flags.has("file") && flags.has("members")) {
    return fail_with("Can't use -file and -members together (conflicting non-incremental modes)");
  }
  change.joining = lower(flags.value("add"));
  change.leaving = lower(flags.value("remove"));
  change.members = lower(flags.value("members"));
  if (flags.has("file")) {
    CLI_GET(text, members_from_file(flags.value("file")));
    auto members = member_lines(text);
    if (!members) return fail_with("Error processing " + flags.value("file") + members.error());
    change.members = *std::move(members);
  }
  return change;
}

void print_config(Context& context, const NodeData& node, const Flags& flags) {
  if (context.json) {
    context.print(JsonObject()
                      .text("config", node.data)
                      .text("connect", client_addresses(node.data))
                      .json("stat", json_of(node.stat)));
    return;
  }
  const std::string text = node.is_without_data ? "null" : printable(node.data);
  context.print(flags.has("c") ? client_addresses(text) : text);
  if (flags.has("s")) context.output.out(stat_text(node.stat));
}

}  // namespace

// Reads it outside any chroot.
Outcome show_config(Context& context, const Flags& flags) {
  const Client& root = context.connection.root();
  const bool watch = flags.has("w");
  if (watch) context.watches.note(kConfigPath, WatchScope::kData);
  const auto node = Context::ask(watch ? root.get(kConfigPath, context.watches.watch(), context.wait())
                                       : root.get(kConfigPath, context.wait()));
  if (!node) {
    if (watch) context.watches.forget(kConfigPath, WatchScope::kData);
    return fail_with(node.error());
  }
  print_config(context, *node, flags);
  return {};
}

Outcome reconfigure(Context& context, const Flags& flags) {
  CLI_GET(change, change_of(flags));
  auto node = Context::ask(context.client().reconfig(std::move(change), context.wait()));
  if (!node) {
    node.error().path.clear();
    Failure failure = fail_with(node.error()).error();
    // The path of Java's exception is empty here; elsewhere, one without a path prints "null".
    if (failure.message.ends_with(" null")) failure.message.resize(failure.message.size() - 4);
    return fail_with(std::move(failure));
  }
  if (context.json) {
    print_config(context, *node, flags);
    return {};
  }
  context.print("Committed new configuration:\n" + node->data);
  if (flags.has("s")) context.output.out(stat_text(node->stat));
  return {};
}

Outcome show_version(Context& context, const Flags&) {
  if (context.json) {
    context.print(JsonObject().text("version", kVersion));
  } else {
    context.print("ZooKeeper CLI version: " + std::string(kFullVersion));
  }
  return {};
}

}  // namespace drover::cli

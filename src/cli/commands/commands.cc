// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/common/text.h"

namespace drover::cli {
namespace {

constexpr std::array kStatFlag{Flag{"s"}};
constexpr std::array kWatchFlag{Flag{"w"}};
constexpr std::array kGetFlags{Flag{"s"}, Flag{"w"}, Flag{"b"}, Flag{"x"}};
constexpr std::array kLsFlags{Flag{"?"}, Flag{"s"}, Flag{"w"}, Flag{"R"}, Flag{"-tree"}};
constexpr std::array kCreateFlags{Flag{"e"}, Flag{"s"}, Flag{"c"}, Flag{"t", true}};
constexpr std::array kVersionFlag{Flag{"v", true}};
constexpr std::array kSetFlags{Flag{"s"}, Flag{"v", true}, Flag{"b"}};
constexpr std::array kSetAclFlags{Flag{"s"}, Flag{"v", true}, Flag{"R"}};
constexpr std::array kRecursiveFlag{Flag{"r"}};
constexpr std::array kForceFlag{Flag{"f"}};
constexpr std::array kCountFlag{Flag{"n", true}};
constexpr std::array kFindFlags{Flag{"name", true}, Flag{"data", true}, Flag{"ephemeral"}, Flag{"empty"},
                                Flag{"leaf"}};
constexpr std::array kBatchFlag{Flag{"b", true}};
constexpr std::array kModeFlag{Flag{"m", true}};
constexpr std::array kRemoveFlags{Flag{"c"}, Flag{"d"}, Flag{"a"}, Flag{"l"}, Flag{"p"}, Flag{"r"}};
constexpr std::array kConfigFlags{Flag{"s"}, Flag{"w"}, Flag{"c"}};
constexpr std::array kReconfigFlags{Flag{"s"},          Flag{"v", true},
                                    Flag{"file", true}, Flag{"members", true},
                                    Flag{"add", true},  Flag{"remove", true}};
constexpr std::array kSetQuotaFlags{Flag{"n", true, "num soft quota"}, Flag{"b", true, "bytes soft quota"},
                                    Flag{"N", true, "num hard quota"}, Flag{"B", true, "bytes hard quota"}};
constexpr std::array kDelQuotaFlags{Flag{"n", false, "num soft quota"}, Flag{"b", false, "bytes soft quota"},
                                    Flag{"N", false, "num hard quota"}, Flag{"B", false, "bytes hard quota"}};

constexpr std::string_view kOldGet =
    "'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.";
constexpr std::string_view kOldLs =
    "'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.";
constexpr std::string_view kOldStat =
    "'stat path [watch]' has been deprecated. Please use 'stat [-w] path' instead.";
constexpr std::string_view kAddWatchUsage =
    "[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is "
    "PERSISTENT_RECURSIVE";
constexpr std::string_view kReconfigUsage =
    "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | "
    "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]";

// Sorted by name, as they are shown.
const std::array kCommands{
    Command{.name = "addWatch",
            .usage = kAddWatchUsage,
            .summary = "set a watch that stays until it is removed",
            .run = add_watch,
            .flags = kModeFlag,
            .arguments_min = 1,
            .arguments_max = 1},
    Command{.name = "addauth",
            .usage = "scheme auth",
            .summary = "authenticate",
            .run = add_auth,
            .arguments_min = 2},
    Command{.name = "close", .usage = "", .summary = "close the session", .ignores_words = true},
    Command{.name = "config",
            .usage = "[-c] [-w] [-s]",
            .summary = "print the ensemble's members",
            .run = show_config,
            .flags = kConfigFlags},
    Command{.name = "connect", .usage = "host:port", .summary = "open a new session", .ignores_words = true},
    Command{.name = "cp",
            .usage = "[-r] from to",
            .summary = "copy a node, with -r a subtree",
            .run = copy_nodes,
            .flags = kRecursiveFlag,
            .arguments_min = 2,
            .arguments_max = 2,
            .is_ours = true},
    Command{.name = "create",
            .usage = "[-s] [-e] [-c] [-t ttl] path [data] [acl]",
            .summary = "create a node",
            .run = create_node,
            .flags = kCreateFlags,
            .arguments_min = 1},
    Command{.name = "delete",
            .usage = "[-v version] path",
            .summary = "delete a node without children",
            .run = delete_node,
            .flags = kVersionFlag,
            .arguments_min = 1},
    Command{.name = "deleteall",
            .usage = "path [-b batch size]",
            .summary = "delete a subtree",
            .run = delete_all,
            .flags = kBatchFlag,
            .arguments_min = 1},
    Command{.name = "delquota",
            .usage = "[-n|-b|-N|-B] path",
            .summary = "remove limits",
            .run = delete_quota,
            .flags = kDelQuotaFlags,
            .grouping = Grouping::kAtMostOne,
            .arguments_min = 1},
    Command{.name = "edit",
            .usage = "path",
            .summary = "edit a node's data in $EDITOR",
            .run = edit_node,
            .arguments_min = 1,
            .arguments_max = 1,
            .is_ours = true},
    Command{.name = "export",
            .usage = "path file",
            .summary = "save a subtree to a file of JSON lines (-: stdout)",
            .run = export_tree,
            .arguments_min = 2,
            .arguments_max = 2,
            .is_ours = true},
    Command{.name = "find",
            .usage = "path [-name glob] [-data text] [-ephemeral] [-empty] [-leaf]",
            .summary = "list nodes that match all conditions",
            .run = find_in_tree,
            .flags = kFindFlags,
            .arguments_min = 1,
            .arguments_max = 1,
            .is_ours = true},
    Command{.name = "get",
            .usage = "[-s] [-w] path",
            .summary = "print a node's data (-b: as Base64, -x: as a hexdump)",
            .run = get_data,
            .flags = kGetFlags,
            .arguments_min = 1,
            .old_watch = kOldGet},
    Command{.name = "getAcl",
            .usage = "[-s] path",
            .summary = "print the ACL",
            .run = get_acl,
            .flags = kStatFlag,
            .arguments_min = 1},
    Command{.name = "getAllChildrenNumber",
            .usage = "path",
            .summary = "count the nodes of a subtree",
            .run = count_all_children,
            .arguments_min = 1},
    Command{.name = "getEphemerals",
            .usage = "path",
            .summary = "list this session's ephemeral nodes",
            .run = get_ephemerals},
    Command{.name = "help", .usage = "[command]", .summary = "explain all commands, or one", .is_ours = true},
    Command{.name = "history", .usage = "", .summary = "print the last eleven lines", .ignores_words = true},
    Command{.name = "import",
            .usage = "[-f] file path",
            .summary = "load an exported subtree (-f: overwrite nodes)",
            .run = import_tree,
            .flags = kForceFlag,
            .arguments_min = 2,
            .arguments_max = 2,
            .is_ours = true},
    Command{.name = "listquota",
            .usage = "path",
            .summary = "print limits and usage",
            .run = list_quota,
            .arguments_min = 1},
    Command{.name = "ls",
            .usage = "[-s] [-w] [-R] path",
            .summary = "list children (--tree: the subtree as a tree)",
            .run = list_children,
            .flags = kLsFlags,
            .arguments_min = 0,  // -? alone is answered too
            .old_watch = kOldLs},
    Command{.name = "mv",
            .usage = "from to",
            .summary = "move a subtree in one transaction",
            .run = move_nodes,
            .arguments_min = 2,
            .arguments_max = 2,
            .is_ours = true},
    Command{.name = "printwatches",
            .usage = "on|off",
            .summary = "switch the printing of watch events",
            .ignores_words = true},
    Command{.name = "quit", .usage = "", .summary = "close the session and exit", .ignores_words = true},
    Command{.name = "reconfig",
            .usage = kReconfigUsage,
            .summary = "change the ensemble's members",
            .run = reconfigure,
            .flags = kReconfigFlags},
    Command{
        .name = "redo", .usage = "cmdno", .summary = "repeat a line of the history", .ignores_words = true},
    Command{.name = "removewatches",
            .usage = "path [-c|-d|-a] [-l]",
            .summary = "remove watches",
            .run = remove_watches,
            .flags = kRemoveFlags,
            .arguments_min = 1},
    Command{.name = "set",
            .usage = "[-s] [-v version] path data",
            .summary = "change a node's data (-b: from Base64)",
            .run = set_data,
            .flags = kSetFlags,
            .arguments_min = 2},
    Command{.name = "setAcl",
            .usage = "[-s] [-v version] [-R] path acl",
            .summary = "set the ACL",
            .run = set_acl,
            .flags = kSetAclFlags,
            .arguments_min = 2},
    Command{.name = "setquota",
            .usage = "-n|-b|-N|-B val path",
            .summary = "limit nodes or bytes of a subtree",
            .run = set_quota,
            .flags = kSetQuotaFlags,
            .grouping = Grouping::kExactlyOne,
            .arguments_min = 1},
    Command{.name = "stat",
            .usage = "[-w] path",
            .summary = "print versions, times and sizes of a node",
            .run = stat_node,
            .flags = kWatchFlag,
            .arguments_min = 1,
            .old_watch = kOldStat},
    Command{.name = "sync",
            .usage = "path",
            .summary = "make the server catch up with its leader",
            .run = sync_path,
            .arguments_min = 1},
    Command{.name = "version",
            .usage = "",
            .summary = "print the version of the shell",
            .run = show_version,
            .arguments_max = 0},
    Command{.name = "watch",
            .usage = "[-n count] path",
            .summary = "print every change of a subtree until Ctrl-C",
            .run = follow_tree,
            .flags = kCountFlag,
            .arguments_min = 1,
            .arguments_max = 1,
            .is_ours = true},
    Command{.name = "whoami",
            .usage = "",
            .summary = "print your identities",
            .run = who_am_i,
            .ignores_words = true},
};

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [&](const Command& each) { return each.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

std::string usage_of(const Command& command) { return fmt::format("{} {}", command.name, command.usage); }

std::string usage_text() {
  std::string text = "ZooKeeper -server host:port -client-configuration properties-file cmd args\n";
  for (const Command& command : kCommands) {
    if (!command.is_ours) text += "\t" + usage_of(command) + "\n";
  }
  return text;
}

std::string help_text() {
  std::string text;
  for (const Command& command : kCommands)
    text += fmt::format("  {:<21} {}\n", command.name, command.summary);
  return text + "\n`help COMMAND` shows its flags. With --json, a command prints its reply as JSON.\n";
}

Outcome run_command(const Command& command, Context& context, std::vector<std::string> words) {
  if (command.ignores_words) return command.run(context, Flags{});
  auto flags = parse_flags(command.flags, command.grouping, words);
  if (flags && !command.old_watch.empty() && flags->arguments().size() > 1) {
    context.output.err_line(command.old_watch);
    words[1] = "-w";
    flags = parse_flags(command.flags, command.grouping, words);
  }
  if (!flags) return fail_with(flags.error());
  const std::size_t count = flags->arguments().size();
  if (count < command.arguments_min || count > command.arguments_max) return fail_with(usage_of(command));
  return command.run(context, *flags);
}

}  // namespace drover::cli

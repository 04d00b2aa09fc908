// SPDX-License-Identifier: Apache-2.0
//
// The table of the shell's commands. Commands about the shell itself (history, connect, quit and others) have
// no function here: cli/session runs them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cli/connection/context.h"
#include "cli/connection/failure.h"
#include "cli/connection/flags.h"

namespace drover::cli {

struct Command {
  std::string_view name;
  std::string_view usage;    // text after the name, as in ZooKeeper's shell
  std::string_view summary;  // one line for `help`
  Outcome (*run)(Context& context, const Flags& flags) = nullptr;
  std::span<const Flag> flags = {};
  Grouping grouping = Grouping::kFree;
  std::size_t arguments_min = 0;
  std::size_t arguments_max = static_cast<std::size_t>(-1);
  // If set, a second argument is the old form of -w, and this message says so.
  std::string_view old_watch = {};
  bool ignores_words = false;
  bool is_ours = false;  // ZooKeeper's shell does not have it
};

std::span<const Command> all_commands();
const Command* find_command(std::string_view name);

// "get [-s] [-w] path"
std::string usage_of(const Command& command);
// The usage text of ZooKeeper's shell: its commands, sorted.
std::string usage_text();
// All commands with summaries.
std::string help_text();

// Parses the arguments and runs the command.
Outcome run_command(const Command& command, Context& context, std::vector<std::string> words);

// --- the functions of the table, one file for each family ---
// nodes.cc
Outcome create_node(Context& context, const Flags& flags);
Outcome delete_node(Context& context, const Flags& flags);
Outcome delete_all(Context& context, const Flags& flags);
Outcome set_data(Context& context, const Flags& flags);
Outcome get_data(Context& context, const Flags& flags);
Outcome stat_node(Context& context, const Flags& flags);
Outcome sync_path(Context& context, const Flags& flags);
// list.cc
Outcome list_children(Context& context, const Flags& flags);
Outcome get_ephemerals(Context& context, const Flags& flags);
Outcome count_all_children(Context& context, const Flags& flags);
// acl.cc
Outcome get_acl(Context& context, const Flags& flags);
Outcome set_acl(Context& context, const Flags& flags);
Outcome add_auth(Context& context, const Flags& flags);
Outcome who_am_i(Context& context, const Flags& flags);
// quota.cc
Outcome set_quota(Context& context, const Flags& flags);
Outcome list_quota(Context& context, const Flags& flags);
Outcome delete_quota(Context& context, const Flags& flags);
// watch.cc
Outcome add_watch(Context& context, const Flags& flags);
Outcome remove_watches(Context& context, const Flags& flags);
// ensemble.cc
Outcome show_config(Context& context, const Flags& flags);
Outcome reconfigure(Context& context, const Flags& flags);
Outcome show_version(Context& context, const Flags& flags);
// Ours: tree.cc, copy.cc, transfer.cc, follow.cc, edit.cc
Outcome find_in_tree(Context& context, const Flags& flags);
Outcome print_tree(Context& context, const std::string& root);
Outcome copy_nodes(Context& context, const Flags& flags);
Outcome move_nodes(Context& context, const Flags& flags);
Outcome export_tree(Context& context, const Flags& flags);
Outcome import_tree(Context& context, const Flags& flags);
Outcome follow_tree(Context& context, const Flags& flags);
Outcome edit_node(Context& context, const Flags& flags);

}  // namespace drover::cli

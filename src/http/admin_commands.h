// SPDX-License-Identifier: Apache-2.0
//
// The commands of ZooKeeper's AdminServer: their names, the facts they need, and the JSON they print.
//
// Only formatting, as for the four-letter words: other code collects the facts, and the caller executes the
// command (admin_routes.h). The text matches Java's, including blanks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "http/pretty_json.h"
#include "monitor/four_letter_words.h"

namespace drover::server {

struct CommandFacts {
  const Facts& facts;
  const ServerConfig& config;
  const Membership& members;  // in force
};

struct AdminCommand {
  std::string_view name;
  std::string_view aliases;  // separated by blanks
  // Java requires authorization for snapshot, restore and shed_connections. Here every command that changes
  // something requires it, even a counter: otherwise a web page in a user's browser could run it.
  bool changes_state = false;
  bool needs_server = true;  // false: works also without a leader
  bool is_post = false;
  Needs needs = {};
  // Prints its fields. Null: it has none, or other code makes the answer.
  void (*print)(const CommandFacts&, PrettyJson&) = nullptr;
};

// Sorted by name.
std::span<const AdminCommand> admin_commands();
// By name or alias.
const AdminCommand* find_admin_command(std::string_view name);

// Adds the end of every answer. `error` empty: none.
std::string finish_answer(PrettyJson json, std::string_view command, std::string_view error = {});
// An answer without fields of its own.
std::string bare_answer(std::string_view command, std::string_view error = {});
std::string answer_of(const AdminCommand& command, const CommandFacts& facts);

// The page at admin.commandURL: a link to each command.
std::string command_links(std::string_view command_url);

}  // namespace drover::server

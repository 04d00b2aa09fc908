// SPDX-License-Identifier: Apache-2.0
//
// The commands of ZooKeeper's AdminServer: their names, what they need to know, and the JSON they print.
//
// Pure text, as the four-letter words are: the facts are collected elsewhere, and doing what a command asks
// for is the caller's part (admin_routes.h). The text is Java's to the blank.
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
};

struct AdminCommand {
  std::string_view name;
  std::string_view aliases;  // separated by blanks
  // Java asks for proof before snapshot, restore and shed_connections. Here it is needed for whatever changes
  // something, a counter too: a page in somebody's browser could otherwise do it.
  bool changes_state = false;
  bool needs_server = true;  // false: answered also while there is no leader
  bool is_post = false;
  Needs needs = {};
  // Its fields; null: it has none, or its answer is made elsewhere.
  void (*print)(const CommandFacts&, PrettyJson&) = nullptr;
};

// In the order of their names.
std::span<const AdminCommand> admin_commands();
// By name or alias.
const AdminCommand* find_admin_command(std::string_view name);

// What every answer ends with. `error` empty: none.
std::string finish_answer(PrettyJson json, std::string_view command, std::string_view error = {});
// An answer without fields of its own.
std::string bare_answer(std::string_view command, std::string_view error = {});
std::string answer_of(const AdminCommand& command, const CommandFacts& facts);

// The page below admin.commandURL: a link to each.
std::string command_links(std::string_view command_url);

}  // namespace drover::server

// SPDX-License-Identifier: Apache-2.0
//
// The table of commands. Their output is in admin_render.cc.
#include "http/admin_commands.h"

#include <fmt/format.h>

#include <array>

#include "http/admin_render.h"

namespace drover::server {
namespace {

const std::array kCommands{
    AdminCommand{.name = "configuration", .aliases = "conf config", .print = print_configuration},
    AdminCommand{.name = "connection_stat_reset", .aliases = "crst", .changes_state = true},
    AdminCommand{
        .name = "connections", .aliases = "cons", .needs = {.connections = true}, .print = print_connections},
    AdminCommand{.name = "dirs", .aliases = "", .needs = {.directory_sizes = true}, .print = print_dirs},
    AdminCommand{
        .name = "dump", .aliases = "", .needs = {.sessions_and_ephemerals = true}, .print = print_dump},
    AdminCommand{.name = "environment",
                 .aliases = "env envi",
                 .needs_server = false,
                 .needs = {.environment = true},
                 .print = print_environment},
    AdminCommand{
        .name = "get_trace_mask", .aliases = "gtmk", .needs_server = false, .print = print_trace_mask},
    AdminCommand{.name = "hash", .aliases = "", .needs = {.digests = true}, .print = print_digests},
    AdminCommand{.name = "initial_configuration", .aliases = "icfg", .print = print_initial_configuration},
    AdminCommand{.name = "is_read_only", .aliases = "isro", .print = print_read_only},
    AdminCommand{.name = "last_snapshot", .aliases = "lsnp", .print = print_last_snapshot},
    AdminCommand{.name = "leader", .aliases = "lead", .print = print_leader},
    AdminCommand{.name = "monitor", .aliases = "mntr", .needs = {.metrics = true}, .print = print_monitor},
    AdminCommand{.name = "observer_connection_stat_reset", .aliases = "orst", .changes_state = true},
    AdminCommand{.name = "observers", .aliases = "obsr", .print = print_observers},
    AdminCommand{.name = "restore", .aliases = "rest", .changes_state = true, .is_post = true},
    AdminCommand{.name = "ruok", .aliases = ""},
    AdminCommand{.name = "server_stats",
                 .aliases = "srvr",
                 .needs = {.directory_sizes = true},
                 .print = print_server_stats},
    AdminCommand{.name = "set_trace_mask",
                 .aliases = "stmk",
                 .changes_state = true,
                 .needs_server = false,
                 .print = print_trace_mask},
    AdminCommand{.name = "shed_connections", .aliases = "shed", .changes_state = true, .is_post = true},
    AdminCommand{.name = "snapshot", .aliases = "snap", .changes_state = true},
    AdminCommand{.name = "stat_reset", .aliases = "srst", .changes_state = true},
    AdminCommand{.name = "stats",
                 .aliases = "stat",
                 .needs = {.directory_sizes = true, .connections = true},
                 .print = print_stats},
    AdminCommand{.name = "system_properties",
                 .aliases = "sysp",
                 .needs_server = false,
                 .needs = {.environment = true},
                 .print = print_system_properties},
    AdminCommand{.name = "voting_view", .aliases = "", .print = print_voting_view},
    AdminCommand{.name = "watch_summary",
                 .aliases = "wchs",
                 .needs = {.watch_counts = true},
                 .print = print_watch_summary},
    AdminCommand{.name = "watches", .aliases = "wchc", .needs = {.watches = true}, .print = print_watches},
    AdminCommand{.name = "watches_by_path",
                 .aliases = "wchp",
                 .needs = {.watches = true},
                 .print = print_watches_by_path},
    AdminCommand{.name = "zabstate", .aliases = "", .needs_server = false, .print = print_zab_state},
};

bool has_word(std::string_view words, std::string_view wanted) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == wanted) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

std::span<const AdminCommand> admin_commands() { return kCommands; }

const AdminCommand* find_admin_command(std::string_view name) {
  for (const AdminCommand& command : kCommands) {
    if (command.name == name || has_word(command.aliases, name)) return &command;
  }
  return nullptr;
}

std::string finish_answer(PrettyJson json, std::string_view command, std::string_view error) {
  json.field("command", command).key("error");
  if (error.empty()) {
    json.null();
  } else {
    json.value(error);
  }
  return json.end_object().take();
}

std::string bare_answer(std::string_view command, std::string_view error) {
  PrettyJson json;
  json.begin_object();
  return finish_answer(std::move(json), command, error);
}

std::string answer_of(const AdminCommand& command, const CommandFacts& facts) {
  // An exception in Java: here the error comes first.
  if (command.print == print_leader && !facts.facts.ensemble) {
    PrettyJson json;
    json.begin_object().field("error", "server is not initialized").field("command", command.name);
    return json.end_object().take();
  }
  PrettyJson json;
  json.begin_object();
  if (command.print) command.print(facts, json);
  return finish_answer(std::move(json), command.name);
}

std::string command_links(std::string_view command_url) {
  std::string page;
  for (const AdminCommand& command : kCommands)
    page += fmt::format("<a href=\"{}/{}\">{}</a>\n<br/>\n", command_url, command.name, command.name);
  return page;
}

}  // namespace drover::server

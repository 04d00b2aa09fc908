// SPDX-License-Identifier: Apache-2.0
#include "cli/reconfig/command.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/number.h"
#include "base/text.h"
#include "cli/common/confirmation.h"
#include "cli/common/human_text.h"
#include "cli/common/options.h"
#include "cli/reconfig/carry_out.h"
#include "cli/reconfig/look.h"
#include "cli/reconfig/plan.h"

namespace drover::cli::reconfig {
namespace {

namespace json = boost::json;
using observe::Arguments;
using observe::kFailedExit;
using observe::kUsageExit;

const std::map<std::string, Verb, std::less<>> kVerbs{{"add", Verb::kAdd},
                                                      {"remove", Verb::kRemove},
                                                      {"replace", Verb::kReplace},
                                                      {"promote", Verb::kPromote},
                                                      {"demote", Verb::kDemote}};

struct Command {
  bool show = false, dry_run = false, yes = false, force = false, json = false;
  Request request = {};
  std::chrono::milliseconds patience{};
};

void read_id(const std::string& word, Request& request, Arguments& arguments) {
  const auto id = parse_number<std::int64_t>(word);
  if (!id || *id < 0) return arguments.complain(fmt::format("'{}' is not a server id", word));
  request.ids.push_back(*id);
}

void read_line(const std::string& word, Request& request, Arguments& arguments) {
  auto member = parse_ensemble_member(word);
  if (!member) {
    return arguments.complain(
        fmt::format("'{}' is not a server line, such as 'server.4=zk4:2888:3888;2181'", word));
  }
  request.joining.push_back(*std::move(member));
}

Command read_command(Arguments& arguments) {
  Command command{.dry_run = arguments.has("--dry-run"),
                  .yes = arguments.has("--yes"),
                  .force = arguments.has("--force"),
                  .json = arguments.has("--json")};
  command.patience = std::chrono::milliseconds(arguments.integer("--wait", 120, {1, 86'400}) * 1000);
  const std::vector<std::string>& words = arguments.words();
  if (words.empty()) {
    arguments.complain("show, add, remove, replace, promote or demote?");
    return command;
  }
  command.show = words[0] == "show";
  const auto verb = kVerbs.find(words[0]);
  if (command.show) {
    if (words.size() > 1) arguments.complain("show takes no arguments");
    return command;
  }
  if (verb == kVerbs.end()) {
    arguments.complain(fmt::format("'{}' is none of show, add, remove, replace, promote, demote", words[0]));
    return command;
  }
  command.request.verb = verb->second;
  const bool replaces = verb->second == Verb::kReplace;
  if (words.size() < 2) arguments.complain(fmt::format("{} what?", words[0]));
  if (replaces && words.size() != 3) arguments.complain("replace takes an ID and a LINE");
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool line = verb->second == Verb::kAdd || (replaces && i == 2);
    (line ? read_line : read_id)(words[i], command.request, arguments);
  }
  return command;
}

void print_table(const Found& found) {
  fmt::print("configuration version {}; {}\n", hex_text(found.config.version), quorum_text(found.config));
  if (found.config.members.empty()) return;
  observe::Table table({"id", "role", "state", "zxid", "quorum and election", "clients"});
  for (const EnsembleMember& member : found.config.members) {
    const Health& health = found.servers.at(member.id);
    const PeerEndpoint& peer = member.peers[0];
    table.add({std::to_string(member.id), member.observer ? "observer" : "voter", state_text(health),
               health.zxid ? hex_text(*health.zxid) : "",
               fmt::format("{}:{}", Endpoint{peer.host, peer.quorum_port}.to_text(), peer.election_port),
               member.client ? member.client->to_text() : "not in the configuration"});
  }
  for (const std::string& line : table.lines()) fmt::print("{}\n", line);
}

void print_json(const Found& found) {
  json::array members;
  for (const EnsembleMember& member : found.config.members) {
    const Health& health = found.servers.at(member.id);
    members.push_back(json::object{
        {"id", member.id},
        {"role", member.observer ? "observer" : "voter"},
        {"state", state_text(health)},
        {"zxid", health.zxid ? json::value(hex_text(*health.zxid)) : json::value(nullptr)},
        {"line", fmt::format("server.{}={}", member.id, observe::safe_text(member.text))},
        {"client", member.client ? json::value(member.client->to_text()) : json::value(nullptr)}});
  }
  // Neither a standalone server nor groups have a number of voters that is a quorum.
  const bool counts = !found.config.members.empty() && !found.config.has_groups;
  const json::object all{
      {"version", hex_text(found.config.version)},
      {"voters", voters_in(found.config)},
      {"quorum", counts ? json::value(voters_in(found.config) / 2 + 1) : json::value(nullptr)},
      {"members", std::move(members)}};
  fmt::print("{}\n", json::serialize(all));
}

void print_plan(const Plan& plan) {
  for (const Check& check : plan.checks) {
    constexpr std::string_view kNames[] = {"ok     ", "warning", "problem"};
    fmt::print("{}  {}\n", kNames[static_cast<std::size_t>(check.kind)], check.text);
  }
  int number = 0;
  for (const Step& step : plan.steps) fmt::print("step {}   {}\n", ++number, step.text);
  if (!plan.steps.empty()) fmt::print("after    {}\n", quorum_text(plan.after));
  std::fflush(stdout);
}

void print_next(const Request& request) {
  const bool leaves = request.verb == Verb::kRemove ||
                      (request.verb == Verb::kReplace && request.joining[0].id != request.ids[0]);
  if (!leaves) return;
  fmt::print("Removed servers still run, and Java's still serve clients; they no longer vote. Stop them.\n");
}

int change(const Client& client, const Command& command, Found found) {
  found.joining_health = look_at(command.request.joining, true);
  const Plan plan = make_plan(found, command.request);
  print_plan(plan);
  if (plan.steps.empty() || (plan.has_problem() && !command.force)) {
    fmt::print(stderr, "Nothing was changed.{}\n",
               plan.steps.empty() ? "" : " --force goes on despite problems.");
    return kFailedExit;
  }
  if (command.dry_run) return 0;
  if (!command.yes && !observe::is_confirmed()) {
    fmt::print("Nothing was changed.\n");
    return kFailedExit;
  }
  if (!carry_out(client, found, plan, command.patience)) return kFailedExit;
  print_next(command.request);
  return 0;
}

int run(const std::vector<std::string>& words) {
  const std::vector<observe::Option> known =
      observe::with_server_options({{"--dry-run"}, {"--yes"}, {"--force"}, {"--json"}, {"--wait", true}});
  Arguments arguments(known, words);
  const Command command = read_command(arguments);
  Options options = observe::client_options(arguments);
  options.follow_ensemble = true;  // The server that we are connected to may be removed.
  if (!arguments.problem().empty()) {
    fmt::print(stderr, "drover reconfig: {}; --help tells more\n", arguments.problem());
    return kUsageExit;
  }
  const auto client = observe::connect(options);
  if (!client) {
    observe::print_error(client.error());
    return kFailedExit;
  }
  int status = kFailedExit;
  if (auto config = read_members(*client); !config) {
    observe::print_error(config.error());
  } else {
    Found found{.config = *std::move(config)};
    found.servers = look_at(found.config.members, false);
    status = 0;
    if (!command.show) {
      status = change(*client, command, std::move(found));
    } else {
      (command.json ? print_json : print_table)(found);
    }
  }
  sync_wait(client->close(Wait::within(std::chrono::seconds(2))));
  return status;
}

}  // namespace
}  // namespace drover::cli::reconfig

namespace drover::cli {

int run_reconfig(const std::vector<std::string>& arguments) { return reconfig::run(arguments); }

}  // namespace drover::cli

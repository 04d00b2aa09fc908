// SPDX-License-Identifier: Apache-2.0
#include "cli/recipes/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/common/confirmation.h"
#include "cli/common/human_text.h"
#include "cli/common/options.h"
#include "cli/ensemble/members.h"
#include "cli/recipes/break.h"
#include "cli/recipes/follow.h"
#include "cli/recipes/read.h"

namespace drover::cli::observe {
namespace {

struct Command {
  Purpose purpose;
  std::string verb = {};  // "", "release" or "revoke"
  std::string path = {};
  bool json = false, watch = false, recursive = false, yes = false;
  ReadLimits limits = {};
};

std::optional<std::string> problem_with(const Command& command, const std::vector<std::string>& words) {
  if (words.empty()) return "PATH is missing, for example: drover locks /locks/report";
  if (words.size() > 1 && command.verb.empty()) {
    return fmt::format("unknown action '{}': expected release or revoke, or one PATH", words[0]);
  }
  if (words.size() > 2) return "expected one PATH";
  if (!command.path.starts_with('/'))
    return fmt::format("'{}' is not a path; paths begin with /", command.path);
  if (!command.verb.empty() && (command.watch || command.recursive))
    return "release and revoke take one NODE";
  if (command.watch && command.recursive) return "--watch cannot be combined with -R";
  return std::nullopt;
}

Command read_command(Purpose purpose, Arguments& arguments) {
  Command command{.purpose = purpose,
                  .json = arguments.has("--json"),
                  .watch = arguments.has("--watch"),
                  .recursive = arguments.has("-R"),
                  .yes = arguments.has("--yes")};
  command.limits.claims = arguments.value("--claims", "");
  command.limits.items_max = static_cast<std::size_t>(arguments.integer("--items", 20, {0, 10'000}));
  command.limits.directories = static_cast<std::size_t>(arguments.integer("--limit", 10'000, {1, 1e9}));
  const std::vector<std::string>& words = arguments.words();
  if (words.size() > 1 && (words[0] == "release" || words[0] == "revoke")) command.verb = words[0];
  if (!words.empty()) command.path = words.back();
  while (command.path.size() > 1 && command.path.ends_with('/')) command.path.pop_back();
  if (const auto problem = problem_with(command, words)) arguments.complain(*problem);
  return command;
}

void print_view(const View& view, const Command& command) {
  if (command.json) {
    fmt::print("{}\n", boost::json::serialize(json_of(view)));
  } else if (command.recursive) {
    fmt::print("{}\n", summary_of(view, command.purpose, wall_clock_ms()));
  } else {
    for (const std::string& line : text_of(view, command.purpose, wall_clock_ms())) fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

std::string_view noun_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::kLocks: return "lock";
    case Purpose::kLeaders: return "election";
    case Purpose::kQueues: return "queue";
    case Purpose::kMembers: return "group";
  }
  return "";
}

// Says why nothing of the requested kind was found.
std::string what_else(const View& view, Purpose purpose) {
  if (view.kind == Kind::kNothing) {
    return fmt::format("{}: no {} is recognised here; -R looks below it", safe_text(view.path),
                       noun_of(purpose));
  }
  if (view.kind == Kind::kSeveral) {
    return fmt::format("{}: several recipes in one directory, whose clients do not see each other: {}",
                       safe_text(view.path), fmt::join(view.things, ", "));
  }
  return fmt::format("{}: a {}; `drover {} {}` shows it", safe_text(view.path), name_of(view.kind),
                     command_for(view.kind), safe_text(view.path));
}

int show(const Client& client, const Command& command, const std::vector<Address>& given) {
  auto view = read_view(client, command.path, command.limits);
  if (!view) {
    print_error(view.error());
    return kFailedExit;
  }
  const bool wanted = is_for(command.purpose, view->kind);
  if (wanted) {
    const SessionAddresses found = find_addresses(find_members(client, given));
    fill_addresses(*view, found.addresses);
    view->notes.insert(view->notes.end(), found.notes.begin(), found.notes.end());
  }
  if (wanted || command.json) print_view(*view, command);
  if (!wanted) fmt::print(stderr, "drover: {}\n", what_else(*view, command.purpose));
  return wanted ? 0 : kFailedExit;
}

int show_all(const Client& client, const Command& command) {
  std::size_t count = 0;
  const auto scanned = scan(client, command.path, command.limits, [&](const View& view) {
    const bool wanted = is_for(command.purpose, view.kind) || view.kind == Kind::kSeveral;
    if (wanted) print_view(view, command);
    count += wanted ? 1 : 0;
    return true;
  });
  if (!scanned) {
    print_error(scanned.error());
    return kFailedExit;
  }
  if (!scanned->complete) {
    fmt::print(stderr, "drover: stopped after {} directories; --limit N raises the limit\n",
               command.limits.directories);
  }
  if (count == 0) {
    fmt::print(stderr, "drover: no {} below {} ({} directories)\n", noun_of(command.purpose), command.path,
               scanned->directories);
  }
  return count == 0 ? kFailedExit : 0;
}

int break_it(const Client& client, const Command& command, const std::vector<Address>& given) {
  const Breaking breaking = command.verb == "release" ? Breaking::kRelease : Breaking::kRevoke;
  auto target = find_target(client, command.path, command.limits);
  if (!target) {
    print_error(target.error());
    return kFailedExit;
  }
  const SessionAddresses found = find_addresses(find_members(client, given));
  if (const auto at = found.addresses.find(raw(target->stand.stat.ephemeral_owner));
      at != found.addresses.end()) {
    target->stand.address = at->second;
  }
  fmt::print("{}", consequence_of(*target, breaking));
  if (!command.yes && !is_confirmed()) {
    fmt::print("Nothing was done.\n");
    return kFailedExit;
  }
  const Result<void> done = carry_out(client, *target, breaking);
  if (!done) {
    print_error(done.error());
    return kFailedExit;
  }
  fmt::print("{}\n", breaking == Breaking::kRelease ? "Released." : "Asked.");
  return 0;
}

int run(Purpose purpose, const std::vector<std::string>& words) {
  const std::vector<Option> known = with_server_options(
      {{"--json"}, {"--watch"}, {"-R"}, {"--yes"}, {"--claims", true}, {"--items", true}, {"--limit", true}});
  Arguments arguments(known, words);
  const Command command = read_command(purpose, arguments);
  const Options options = client_options(arguments);
  if (!arguments.problem().empty()) {
    fmt::print(stderr, "drover {}: {}; see --help\n", command_of(purpose), arguments.problem());
    return kUsageExit;
  }
  const auto client = connect(options);
  if (!client) {
    print_error(client.error());
    return kFailedExit;
  }
  const std::vector<Address> given = addresses_of(options.servers);
  int status = 0;
  if (!command.verb.empty()) {
    status = break_it(*client, command, given);
  } else if (command.recursive) {
    status = show_all(*client, command);
  } else if (command.watch) {
    status = follow({*client, command.purpose, command.path, command.limits, given, command.json});
  } else {
    status = show(*client, command, given);
  }
  sync_wait(client->close(Wait::within(std::chrono::seconds(2))));
  return status;
}

}  // namespace
}  // namespace drover::cli::observe

namespace drover::cli {

int run_locks(const std::vector<std::string>& arguments) {
  return observe::run(observe::Purpose::kLocks, arguments);
}
int run_leaders(const std::vector<std::string>& arguments) {
  return observe::run(observe::Purpose::kLeaders, arguments);
}
int run_queues(const std::vector<std::string>& arguments) {
  return observe::run(observe::Purpose::kQueues, arguments);
}
int run_members(const std::vector<std::string>& arguments) {
  return observe::run(observe::Purpose::kMembers, arguments);
}

}  // namespace drover::cli

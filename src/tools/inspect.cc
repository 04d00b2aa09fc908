// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/path.h"
#include "storage/posix_disk.h"
#include "tools/at_command.h"
#include "tools/diff_command.h"
#include "tools/history_command.h"
#include "tools/log_command.h"
#include "tools/members_command.h"
#include "tools/open_files.h"
#include "tools/repair_command.h"
#include "tools/snapshot_command.h"
#include "tools/text.h"
#include "tools/verify_command.h"
#include "zab/membership_text.h"

namespace drover::tools {
namespace {

using Run = std::function<Outcome(const Context&)>;

constexpr const char* kDirectory = "dataDir of a server, or its version-2 directory";
constexpr const char* kExitCodes =
    "Exit codes: 0 fine, 1 something is wrong with the data, 2 usage. docs/inspect.md has examples of each "
    "command.";

// Parses a number with parse_id(); anything else is a usage error.
std::int64_t number_of(const std::string& text) {
  const auto value = parse_id(text);
  if (!value) throw CLI::ValidationError("'" + text + "' is not a number such as 0x1f or 31");
  return *value;
}

// A CLI11 validator: why the word is not a valid path, or "".
std::string path_problem(const std::string& path) {
  return is_valid_path(path) ? std::string() : "'" + path + "' is not the path of a node";
}

bool confirmed() {
  fmt::print(stderr, "Do this? A copy of the files is made first. (yes/no) ");
  std::fflush(stderr);
  char answer[16] = {};
  return std::fgets(answer, sizeof answer, stdin) && std::string_view(answer) == "yes\n";
}

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::uint64_t random_history_id() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) | 1;
}

// The owner of a path if it is another user, else "". Root runs most tools, and servers have their own user.
std::string other_owner_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return {};
  const struct passwd* user = ::getpwuid(status.st_uid);
  return user ? user->pw_name : std::to_string(status.st_uid);
}

// "server.4=zk4:2888:3888;2181"
void add_server_line(zab::Membership& members, const std::string& line) {
  const std::size_t equals = std::min(line.find('='), line.size());
  const std::string key(trimmed(std::string_view(line).substr(0, equals)));
  if (!key.starts_with("server.") || equals == line.size())
    throw CLI::ValidationError("--force", "'" + line + "' is not server.N=HOST:PORT:PORT;CLIENTPORT");
  const auto added = zab::add_membership_key(members, key, trimmed(std::string_view(line).substr(equals + 1)),
                                             {.multi_address = true});
  if (!added) throw CLI::ValidationError("--force", "'" + line + "': " + added.error().sentence);
}

// The commands and their options. After parsing, `run` is the chosen command.
class CommandLine {
 public:
  CommandLine()
      : app_("drover inspect: look at the files of a server that is not running", "drover inspect") {
    app_.require_subcommand(1);
    app_.footer(kExitCodes);
    add_log();
    add_snapshot();
    add_diff();
    add_verify();
    add_history();
    add_at();
    add_repair();
    add_members();
  }

  // The exit code if there is nothing to run: help or a usage error.
  std::optional<int> parse(std::vector<std::string> words) {
    std::ranges::reverse(words);  // CLI11 takes them from the back
    try {
      app_.parse(words);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? kFine : kUsage;
    }
    return std::nullopt;
  }

  Run run;
  bool json = false;
  bool streams = false;  // it prints lines while it reads

 private:
  CLI::App* add(const char* name, const char* description) {
    CLI::App* command = app_.add_subcommand(name, description);
    command->add_flag("--json", json, "print one JSON object per line");
    command->footer(kExitCodes);
    return command;
  }
  static void add_directories(CLI::App* command, DirectoryArguments& directories) {
    command->add_option("DIR", directories.directory, kDirectory)->required();
    command->add_option("--log-dir", directories.log_directory, "dataLogDir, if it is separate");
  }
  template <class Id>
  static void add_number(CLI::App* command, const char* name, std::optional<Id>& value,
                         const char* description) {
    command->add_option_function<std::string>(
        name, [&value](const std::string& text) { value = Id{number_of(text)}; }, description);
  }

  void add_log();
  void add_snapshot();
  void add_diff();
  void add_verify();
  void add_history();
  void add_at();
  void add_repair();
  void add_members();

  CLI::App app_;
  LogCommand log_;
  SnapshotCommand snapshot_;
  DiffCommand diff_;
  VerifyCommand verify_;
  HistoryCommand history_;
  AtCommand at_;
  RepairCommand repair_;
  MembersCommand members_;
};

void CommandLine::add_log() {
  CLI::App* c = add("log", "print the transactions of a log file or of a directory");
  c->add_option("SOURCE", log_.source, "a log file, or a data directory")->required();
  add_number(c, "--from", log_.from, "first zxid (0x1f or 31)");
  add_number(c, "--to", log_.to, "last zxid");
  c->add_option("--path", log_.path, "only transactions that name a node of this subtree")
      ->check(path_problem);
  add_number(c, "--session", log_.session, "only of this session (0x1f or 31)");
  c->add_option_function<std::vector<std::string>>(
       "--type",
       [this](const std::vector<std::string>& names) {
         for (const std::string& name : names) {
           const auto op = op_of_name(name);
           if (!op)
             throw CLI::ValidationError(
                 "--type", "'" + name + "' is not a type: create, setData, delete, multi, closeSession, …");
           log_.types.insert(*op);
         }
       },
       "only of this type: create, setData, …; may be repeated")
      ->allow_extra_args(false);
  c->add_flag("--stats", log_.stats, "print sums instead of transactions");
  c->add_flag("--data", log_.data, "print the data of nodes, too");
  c->callback([this] {
    streams = !log_.stats;
    run = [this](const Context& context) { return run_log(context, log_); };
  });
}

void CommandLine::add_snapshot() {
  CLI::App* c = add("snapshot", "print the contents of a snapshot");
  c->add_option("SOURCE", snapshot_.source, "a snapshot (also .gz, .snappy), or a data directory: its newest")
      ->required();
  c->add_flag("--stats", snapshot_.stats, "kinds of nodes, bytes by top-level path, largest nodes");
  c->add_flag("--nodes", snapshot_.nodes, "every node");
  c->add_flag("--sessions", snapshot_.sessions, "every session");
  c->add_flag("--acls", snapshot_.acls, "every access control list");
  c->add_option("--path", snapshot_.path, "only nodes of this subtree")->check(path_problem);
  c->add_flag("--data", snapshot_.data, "print the data of nodes, too");
  c->callback([this] {
    if (!snapshot_.path.empty() || snapshot_.data) snapshot_.nodes = true;
    streams = snapshot_.nodes;
    run = [this](const Context& context) { return run_snapshot(context, snapshot_); };
  });
}

void CommandLine::add_diff() {
  CLI::App* c = add("diff", "compare two snapshots or data directories; exit code 1 if they differ");
  c->add_option("A", diff_.left, "a snapshot, or a data directory: the state it recovers to")->required();
  c->add_option("B", diff_.right, "the same")->required();
  c->add_option("--log-dir", diff_.log_directories,
                "dataLogDir of the data directory, if it is separate; for two directories A's, then B's")
      ->allow_extra_args(false);
  c->add_option("--path", diff_.path, "only nodes of this subtree")->check(path_problem);
  c->add_flag("--ignore-stat", diff_.ignore_stat,
              "compare data, ACLs and kinds, not versions, zxids and times");
  c->add_flag("--summary", diff_.summary, "print only counts");
  c->callback([this] {
    streams = !diff_.summary;
    run = [this](const Context& context) { return run_diff(context, diff_); };
  });
}

void CommandLine::add_verify() {
  CLI::App* c = add("verify", "check a data directory, and say what a server would do with it");
  add_directories(c, verify_.directories);
  c->callback([this] { run = [this](const Context& context) { return run_verify(context, verify_); }; });
}

void CommandLine::add_history() {
  CLI::App* c = add("history", "print every change of one node, with the data before and after");
  add_directories(c, history_.directories);
  c->add_option("PATH", history_.path, "the node")->required();
  c->add_flag("--whole-data", history_.whole_data, "do not shorten data");
  c->callback([this] {
    streams = true;
    run = [this](const Context& context) { return run_history(context, history_); };
  });
}

void CommandLine::add_at() {
  CLI::App* c = add("at", "print the tree as it was after a transaction");
  add_directories(c, at_.directories);
  c->add_option_function<std::string>(
       "ZXID", [this](const std::string& text) { at_.zxid = Zxid{number_of(text)}; }, "0x1f or 31")
      ->required();
  c->add_option("PATH", at_.path, "only this subtree");
  c->add_flag("--data", at_.data, "print the data of nodes, too");
  c->add_option("--write", at_.write, "write a snapshot to this file and print nothing");
  c->callback([this] { run = [this](const Context& context) { return run_at(context, at_); }; });
}

void CommandLine::add_repair() {
  CLI::App* c = add("repair", "repair a damaged data directory so that a server can start; keeps a copy");
  add_directories(c, repair_.directories);
  c->add_option("--backup", repair_.backup, "directory of the copy (default: DIR.before-repair-TIME)");
  c->add_flag("--yes", repair_.yes, "do not ask");
  c->add_flag("--accept-loss", repair_.accept_loss, "continue even if acknowledged transactions are lost");
  c->callback([this] {
    run = [this](const Context& context) {
      return run_repair(context, repair_, {now_ms(), confirmed, user_of_directory});
    };
  });
}

void CommandLine::add_members() {
  CLI::App* c = add("members", "print the members of the ensemble that this disk knows; force others");
  c->add_option("SOURCE", members_.source.path, "zoo.cfg of a server, or a data directory")->required();
  c->add_option("--log-dir", members_.source.log_directory,
                "dataLogDir of a data directory, if it is separate");
  c->add_option_function<std::vector<std::string>>(
       "--force",
       [this](const std::vector<std::string>& lines) {
         for (const std::string& line : lines) add_server_line(members_.forced, line);
       },
       "a quorum is lost for good: this server.N=... line becomes the only voter; may be repeated for "
       "observers")
      ->allow_extra_args(false);
  c->add_option("--backup", members_.force.backup,
                "directory of the copy (default: ZOO_CFG.before-force-TIME)");
  c->add_flag("--yes", members_.force.yes, "do not ask");
  c->callback([this] {
    run = [this](const Context& context) {
      return run_members(context, members_,
                         {now_ms(), random_history_id(), confirmed, user_of_directory, other_owner_of});
    };
  });
}

}  // namespace

int run_inspect(const std::vector<std::string>& arguments) {
  CommandLine line;
  if (const auto code = line.parse(arguments)) return *code;
  storage::PosixDisk disk;
  Output out(stdout);
  Output notes(stderr, /*flush_bytes=*/0);
  // No progress line among lines that scroll by.
  const bool scrolls = line.streams && isatty(STDOUT_FILENO) == 1;
  const Outcome outcome = line.run({disk, out, notes, line.json, isatty(STDERR_FILENO) == 1 && !scrolls});
  out.flush();
  if (outcome) return *outcome;
  notes.print("drover inspect: {}\n", outcome.error().what);
  return kWrong;
}

}  // namespace drover::tools

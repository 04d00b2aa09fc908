// SPDX-License-Identifier: Apache-2.0
//
// `drover`: one binary; the first argument is the command.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench/bench.h"
#include "cli/recipes/command.h"
#include "cli/reconfig/command.h"
#include "cli/shell/shell.h"
#include "cli/top/top.h"
#include "config/config.h"
#include "drover/version.h"
#include "log/log.h"
#include "server/audit.h"
#include "server/client_sasl.h"
#include "server/local_ensemble.h"
#include "server/server.h"
#include "server/service_manager.h"
#include "tools/inspect.h"

namespace {

using namespace drover;

constexpr int kUsageExit = 2;

constexpr std::string_view kServerHelp = R"(drover server: run a server in the foreground

usage: drover server                                    standalone on 127.0.0.1:2181, data in ./drover-data
       drover server zoo.cfg                            with ZooKeeper's configuration file
       drover server PORT DATADIR [TICKTIME [MAXCNXNS]] ZooKeeper's short form

  -Dkey=value            a ZooKeeper system property (with or without the zookeeper. prefix); wins over the file
  --jvm-flags=STRING     the -D items of a JVMFLAGS variable
  --help                 this text

HTTP, by default on 127.0.0.1:8080: the dashboard, ZooKeeper's admin commands below /commands, /metrics for
Prometheus, and the probes /live, /ready and /leader (docs/http.md).

Keys and defaults: docs/configuration.md. SIGTERM and SIGINT stop the server after it has answered requests in
flight. Exit codes: 0 stopped, 1 cannot start, 2 bad configuration, 3 the disk failed, 4 must not continue as a
member of its ensemble (docs/operating.md).
)";

std::atomic<server::Server*> running = nullptr;
std::atomic<bool> stop_asked = false;

void on_signal(int) {
  stop_asked = true;
  if (server::Server* server = running) server->stop();
}

// Every client needs a descriptor; the default soft limit of 1024 would be the first limit to be reached.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void handle_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

int serve(const std::vector<std::string>& arguments) {
  const auto loaded = server::load_config(arguments);
  if (!loaded) {
    std::fprintf(stderr, "drover: %s\n", loaded.error().message.c_str());
    return kUsageExit;
  }
  const server::ServerConfig& config = loaded->config;
  server::LogOptions log;
  log.level = server::parse_log_level(config.log.level).value_or(server::LogLevel::kInfo);
  log.file_bytes_max = config.log.file_bytes_max;
  log.files_max = config.log.files_max;
  if (!config.log.directory.empty()) log.file = config.log.directory + "/" + config.log.file;
  if (const auto opened = server::open_log(log); !opened) {
    std::fprintf(stderr, "drover: %s\n", opened.error().what.c_str());
    return 1;
  }
  if (const auto opened = server::open_audit(config.log); !opened) {
    std::fprintf(stderr, "drover: %s\n", opened.error().what.c_str());
    return 1;
  }
  for (const std::string& warning : loaded->warnings) server::log_warn("config", "{}", warning);
  if (const auto configured = server::configure_sasl(config.sasl); !configured) {
    server::log_error("config", "{}", configured.error().what);
    return kUsageExit;
  }
  raise_descriptor_limit();
  server::AdminLimits limits;
  bool first = true;
  for (bool again = true; again && !stop_asked;) {
    const auto started = server::Server::start(config, {.restarts = true, .limits = &limits});
    if (!started) {
      server::log_error("server", "cannot start: {}", started.error().what);
      server::audit_start(config, /*success=*/false);
      return 1;
    }
    if (first) server::audit_start(config, /*success=*/true);
    first = false;
    running = started->get();
    handle_signals();
    server::tell_service_manager("READY=1");
    if (!stop_asked) (*started)->run();
    running = nullptr;
    again = (*started)->wants_restart();
  }
  server::audit_stop(config);
  return 0;
}

int print_version(const std::vector<std::string>&) {
  std::printf("%s\n", std::string(kVersion).c_str());
  return 0;
}

int print_help(const std::vector<std::string>&);

struct Command {
  std::string_view name;
  std::string_view summary;
  // Takes the arguments after the name. If `help` is set, main handles --help.
  int (*run)(const std::vector<std::string>& arguments);
  std::string_view help = {};
};

const std::array kCommands{
    Command{"server", "run a server in the foreground", serve, kServerHelp},
    Command{"ensemble", "run an ensemble of servers on this machine", server::run_ensemble,
            server::kEnsembleHelp},
    Command{"cli", "ZooKeeper's shell: one command, or many", cli::run_shell},
    Command{"inspect", "read, verify and repair the files of a server: logs, snapshots, history, members",
            tools::run_inspect},
    Command{"locks", "show who holds a lock and who waits for it", cli::run_locks, cli::kRecipesHelp},
    Command{"leaders", "show who leads and who is next", cli::run_leaders, cli::kRecipesHelp},
    Command{"queues", "show the items of a queue and who works on them", cli::run_queues, cli::kRecipesHelp},
    Command{"members", "show the members of a group", cli::run_members, cli::kRecipesHelp},
    Command{"reconfig", "show and change the members of an ensemble", cli::run_reconfig, cli::kReconfigHelp},
    Command{"top", "live screen of an ensemble", cli::run_top, cli::kTopHelp},
    Command{"bench", "put load on a server and measure latencies", cli::run_bench, cli::kBenchHelp},
    Command{"version", "print the version", print_version},
    Command{"help", "print this text", print_help},
};

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int print_help(const std::vector<std::string>&) {
  print(
      "drover: a coordination service that speaks ZooKeeper's protocol\n\n"
      "usage: drover COMMAND [ARGUMENTS]      (drover COMMAND --help explains it)\n\n");
  for (const Command& command : kCommands) {
    std::printf("  %-10s %s\n", std::string(command.name).c_str(), std::string(command.summary).c_str());
  }
  print("\nDocumentation: README.md and docs/ of the source tree.\n");
  return 0;
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

std::string_view command_name(const std::vector<std::string>& words) {
  if (words.empty() || is_help(words[0])) return "help";
  return words[0] == "--version" ? std::string_view("version") : std::string_view(words[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string_view name = command_name(words);
  for (const Command& command : kCommands) {
    if (command.name != name) continue;
    const std::vector<std::string> arguments(words.begin() + (words.empty() ? 0 : 1), words.end());
    if (command.help.empty() || std::none_of(arguments.begin(), arguments.end(), is_help))
      return command.run(arguments);
    print(command.help);
    return 0;
  }
  std::fprintf(stderr, "drover: unknown command '%s'; `drover help` lists them\n", words[0].c_str());
  return kUsageExit;
}

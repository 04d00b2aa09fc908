// SPDX-License-Identifier: Apache-2.0
//
// `drover`: one binary, the first word says what it is today.
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "server/config.h"
#include "server/local_ensemble.h"
#include "server/log.h"
#include "server/server.h"
#include "server/version.h"

namespace {

using namespace drover;

constexpr int kUsageExit = 2;

constexpr std::string_view kHelp = R"(drover: a coordination service that speaks ZooKeeper's protocol

usage: drover COMMAND [ARGUMENTS]

  server     run a server in the foreground (drover server --help)
  ensemble   run an ensemble of servers on this machine (drover ensemble --help)
  version    print the version

Documentation: README.md and docs/ of the source tree.
)";

constexpr std::string_view kServerHelp = R"(drover server: run a server in the foreground

usage: drover server                                    standalone on 127.0.0.1:2181, data in ./drover-data
       drover server zoo.cfg                            as ZooKeeper reads it
       drover server PORT DATADIR [TICKTIME [MAXCNXNS]] ZooKeeper's short form

  -Dkey=value            a ZooKeeper system property (with or without the zookeeper. prefix); wins over the file
  --jvm-flags=STRING     the -D items of a JVMFLAGS variable
  --help                 this text

Keys, defaults and differences from ZooKeeper: docs/configuration.md. SIGTERM and SIGINT stop the server after
it has answered what is in flight. Exit codes: 0 stopped, 1 cannot start, 2 bad configuration, 3 the log could
not be made durable.
)";

server::Server* running = nullptr;

void on_signal(int) { running->stop(); }

// Every client is a descriptor; the default soft limit of 1024 would be reached first of all limits.
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
  for (const std::string& warning : loaded->warnings) server::log_warn("config", "{}", warning);
  raise_descriptor_limit();
  auto started = server::Server::start(config);
  if (!started) {
    server::log_error("server", "cannot start: {}", started.error().what);
    return 1;
  }
  running = started->get();
  handle_signals();
  running->run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string_view command = words.empty() ? "help" : std::string_view(words[0]);
  const auto has_help = [&] {
    for (const std::string& word : words) {
      if (word == "--help" || word == "-h") return true;
    }
    return false;
  };
  if (command == "version" || command == "--version") {
    std::printf("%s\n", std::string(server::kVersion).c_str());
    return 0;
  }
  if (command == "server") {
    if (has_help()) {
      std::fwrite(kServerHelp.data(), 1, kServerHelp.size(), stdout);
      return 0;
    }
    return serve({words.begin() + 1, words.end()});
  }
  if (command == "ensemble") {
    if (has_help()) {
      std::fputs(server::kEnsembleHelp, stdout);
      return 0;
    }
    return server::run_ensemble({words.begin() + 1, words.end()});
  }
  if (command == "help" || command == "--help" || command == "-h") {
    std::fwrite(kHelp.data(), 1, kHelp.size(), stdout);
    return 0;
  }
  std::fprintf(stderr, "drover: unknown command '%s'; `drover help` lists them\n", words[0].c_str());
  return kUsageExit;
}

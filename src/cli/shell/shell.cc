// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/shell.h"

#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

#include "cli/shell/session.h"
#include "cli/shell/start_options.h"
#include "cli/shell/terminal.h"

namespace drover::cli {
namespace {

constexpr std::string_view kHelp = R"(drover cli: ZooKeeper's shell, without a JVM

usage: drover cli [OPTIONS]                one command per line, from the terminal or a pipe
       drover cli [OPTIONS] COMMAND ...    one command, and its exit code

  -server HOST:PORT[,HOST:PORT...][/CHROOT]   servers (default: localhost:2181)
  -timeout MS                                 session timeout (default: 30000)
  -r                                          accept a read-only server
  -waitforconnection                          wait for the connection first
  -client-configuration FILE                  zookeeper.* properties, one per line
  -Dzookeeper.KEY=VALUE                       the same: client.secure, ssl.trustStore.location, ...
  --sasl-user NAME [--sasl-password-file FILE]  log in with a password, or be asked for it
  --kerberos                                  log in with your Kerberos ticket (kinit)
  --keytab FILE --principal NAME              log in with a keytab
  -Djava.security.auth.login.config=FILE      log in as section Client of this JAAS file says
  --json                                      print JSON, one object per line
  --quiet                                     print nothing about the connection
  --help                                      this text

Exit codes: 0 success, 1 failure, 127 unknown command.

commands:
)";

void print_help() {
  const std::string text = std::string(kHelp) + help_text() + "\nMore, with examples: docs/cli.md\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int run_lines(Session& session) {
  if (!session.is_quiet()) session.output().out_line("Welcome to ZooKeeper!");
  std::string line;
  while (!session.is_leaving() && std::getline(std::cin, line)) {
    if (line.ends_with('\r')) line.pop_back();
    session.execute_line(line);
  }
  return session.exit_code();
}

}  // namespace

int run_shell(const std::vector<std::string>& arguments) {
  auto options = parse_start_options(arguments);
  if (!options) {
    std::fprintf(stderr, "%s\n", options.error().c_str());
    return 1;
  }
  if (options->help) {
    print_help();
    return 0;
  }
  // The reader of our output may go away. Then writes fail, but the session must still be closed.
  std::signal(SIGPIPE, SIG_IGN);
  // Events may still arrive on other threads, so both objects live until the process ends.
  static Output& output = *new Output;
  for (const std::string& warning : options->warnings) output.err_line(warning);
  const std::vector<std::string> command = options->command;
  static Session& session = *new Session(*std::move(options), output);
  if (const Outcome connected = session.connect(); !connected) {
    session.report(connected.error(), session.is_json());
    return 1;
  }
  int code = 0;
  if (!command.empty()) {
    session.execute(command);
    code = session.exit_code();
  } else if (::isatty(STDIN_FILENO) == 1 && output.is_terminal() && !session.is_json()) {
    run_at_terminal(session);
    code = session.exit_code();
  } else {
    code = run_lines(session);
  }
  session.leave();
  output.flush();
  return code;
}

}  // namespace drover::cli

// SPDX-License-Identifier: Apache-2.0
//
// One run of the shell: connection, history, and executing lines.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/common/output.h"
#include "cli/connection/connection.h"
#include "cli/connection/watches.h"
#include "cli/shell/start_options.h"

namespace drover::cli {

class Session {
 public:
  Session(StartOptions options, Output& output);

  // Prints the servers and starts connecting.
  Outcome connect();
  // Executes a line as typed; empty lines do nothing.
  void execute_line(const std::string& line);
  void execute(std::vector<std::string> words);

  int exit_code() const { return exit_code_; }
  bool is_leaving() const { return leaving_; }  // after `quit`
  std::string prompt() const;
  Connection& connection() { return *connection_; }
  Output& output() { return output_; }
  bool is_json() const { return options_.json; }
  // Prints only results.
  bool is_quiet() const { return options_.json || options_.quiet; }
  // Closes the session without a message.
  void leave() { connection_->close({.tell = false}); }
  void report(const Failure& failure, bool json);

 private:
  Outcome dispatch(std::vector<std::string> words);
  Outcome run_own(const Command& command, const std::vector<std::string>& words, bool json);
  Outcome connect_to(std::string servers);
  Outcome redo(const std::vector<std::string>& words);
  void show_history(bool json);
  Outcome show_help(const std::vector<std::string>& words);
  void print_watches(const std::vector<std::string>& words, bool json);
  Outcome unknown_command(const std::string& name);

  StartOptions options_;
  Output& output_;
  Watches watches_;
  std::unique_ptr<Connection> connection_;
  std::map<int, std::string> history_;
  int count_ = 0;  // number of lines so far
  int exit_code_ = 0;
  bool leaving_ = false;
};

}  // namespace drover::cli
